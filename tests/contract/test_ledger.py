"""One suite for the ports of the ledger's table, over the service (Azurite) and memory."""

from __future__ import annotations

import itertools
import uuid
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from local.azurite import Azurite
from shared.adapters.storage.dead import TableDeadMessages
from shared.adapters.storage.ledger import TableLedger
from shared.adapters.storage.lists.listed import shown_of
from shared.adapters.storage.outbox import TableOutbox
from shared.adapters.storage.sharded_table import ShardedTable
from shared.adapters.storage.wire.connection import Account, Connection
from shared.adapters.storage.wire.resttable import RestTable
from shared.core.cost.usage import Rate, Usage
from shared.core.errors import Exists, Misconfigured, Misuse
from shared.core.identity import job_id
from shared.core.job import Entry, Job, JobState, Receiver, Target, Waiting
from shared.core.ledger.dead import DeadMessage, DeadMessages
from shared.core.ledger.entries import Active, Change, DropMemo, Pause
from shared.core.ledger.ledger import Ledger, Outbox
from shared.core.ledger.listing import Query, brief
from shared.core.notify.events import Delivery, Notice, notice_of
from shared.core.notify.receivers import Disabled
from tests.doubles.memory import MemoryLedger

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
LONGEST = timedelta(hours=30)
TOKENS = (f"t{n}" for n in itertools.count())


@pytest.fixture(params=["memory", "table"])
async def store(request: pytest.FixtureRequest, storage: Azurite) -> AsyncIterator[ShardedTable]:
    if request.param == "memory":
        yield MemoryLedger(lambda: datetime.now(UTC)).store
        return
    account = Account(Connection(storage.connection_string))
    yield ShardedTable(RestTable(account, f"t{uuid.uuid4().hex[:20]}"), 4)
    await account.close()


@pytest.fixture
def ledger(store: ShardedTable) -> Ledger:
    return TableLedger(store)


@pytest.fixture
def outbox(store: ShardedTable) -> Outbox:
    return TableOutbox(store)


@pytest.fixture
def dead(store: ShardedTable) -> DeadMessages:
    return TableDeadMessages(store)


#: Someone who wants to know everything.
ANY = Receiver(url="https://h.example.com/x", secret="default", events=tuple(JobState))


def make(key: str = "k", **fields: Any) -> Job:
    values: dict[str, Any] = {
        "id": job_id(key, 1),
        "key": key,
        "payload": "p",
        "door": "queue",
        "name": "n",
        "experiment": "e",
        "cluster": "dev",
        "state": JobState.ACCEPTED,
        "created": NOW,
        "due": NOW,
        "notify": (Receiver(url="https://h.example.com/x", secret="default"),),
        "target": Target(engine="batchai", cluster="dev", experiment="e", name="n-1", token="x.1"),
        "history": (Entry(sequence=1, state=JobState.ACCEPTED, at=NOW, token=next(TOKENS)),),
    }
    return Job(**{**values, **fields})


def moved(stored: Any, to: JobState, **changes: Any) -> Change:
    transition = stored.job.move(to, now=NOW, token=next(TOKENS), **changes)
    after = transition.after
    notice = notice_of(
        after, stored.job.state, entry=after.history[-1], source="urn:test", due=NOW, pull=False, receipt=True
    )
    return Change(stored, transition, notice)


async def actives(ledger: Ledger) -> dict[str, JobState]:
    return {row.job_id: row.state for n in range(ledger.shards) for row in await ledger.active(n)}


async def undelivered(outbox: Outbox, at: datetime = NOW) -> list[Notice]:
    return [notice for n in range(outbox.shards) for notice in await outbox.undelivered(n, at, LONGEST)]


def _all(notice: Notice, state: str) -> tuple[Delivery, ...]:
    return tuple(delivery.model_copy(update={"state": state}) for delivery in notice.deliveries)


async def test_what_has_ended_is_counted_by_its_columns_the_newest_of_each_shard(ledger: Ledger) -> None:
    rate = Rate(per_hour=2.0, currency="USD")
    for number in range(6):
        job = make(f"k{number}", team="vision", source="http:ann", name=f"n{number}", nodes=1, rate=rate)
        stored = await ledger.create(job, None, None)
        started = NOW - timedelta(minutes=30)
        failed = {"last_error": "ValueError: \u2028 'ü' 💥", "started": started, "ended": NOW}
        later = stored.job.move(
            JobState.FAILED, now=NOW + timedelta(seconds=number), token=next(TOKENS), **failed
        )
        assert await ledger.commit([Change(stored, later)]) != [None]

    whole = await ledger.ended(NOW, 100)
    some = await ledger.ended(NOW + timedelta(seconds=2), 100)
    few = await ledger.ended(NOW, 1)

    assert {one.name for one in whole.jobs} == {f"n{number}" for number in range(6)}
    assert {one.name for one in some.jobs} == {f"n{number}" for number in range(2, 6)}
    assert (whole.since, some.since) == (NOW, NOW + timedelta(seconds=2))
    assert few.since > NOW
    assert [one for one in whole.jobs if one.at >= few.since] == list(few.jobs)
    one = whole.jobs[0]
    assert (one.state, one.source, one.team, one.experiment) == (JobState.FAILED, "http:ann", "vision", "e")
    assert one.error == "ValueError: \u2028 'ü' 💥"
    assert one.usage == Usage(1, 0.5, 0.0, 1.0)


async def test_what_was_created_is_read_back_whole(ledger: Ledger) -> None:
    job = make(labels={"team": "vision ü 💥"}, message="x" * 40_000)
    spec = {"properties": {"text": "ü💥" * 40_000}}
    await ledger.create(job, spec, None)

    stored = await ledger.get(job.id)

    assert stored is not None
    assert stored.job == job
    assert stored.stored is not None
    assert await ledger.spec(job.id) == spec
    assert await actives(ledger) == {job.id: JobState.ACCEPTED}


async def test_a_second_record_with_the_same_id_is_refused(ledger: Ledger) -> None:
    await ledger.create(make(), {}, None)
    with pytest.raises(Exists):
        await ledger.create(make(), {}, None)


async def test_a_terminal_record_is_created_without_index_row(ledger: Ledger) -> None:
    await ledger.create(make(state=JobState.REJECTED), None, None)
    assert await actives(ledger) == {}


async def test_a_missing_record_is_none(ledger: Ledger, outbox: Outbox) -> None:
    assert await ledger.get("j_missing") is None
    assert await ledger.spec("j_missing") is None
    assert await outbox.notice("j_missing", 1) is None


async def test_a_transition_changes_record_index_and_outbox_together(ledger: Ledger, outbox: Outbox) -> None:
    stored = await ledger.create(make(), {}, None)
    (queued,) = await ledger.commit([moved(stored, JobState.SUBMITTING)])
    assert queued is not None
    assert await actives(ledger) == {queued.job.id: JobState.SUBMITTING}

    (failed,) = await ledger.commit([moved(queued, JobState.FAILED, message="why")])

    assert failed is not None
    assert await actives(ledger) == {}
    (notice,) = await undelivered(outbox)
    assert notice.type == "io.slipway.job.failed.v1"
    assert await outbox.notice(notice.job_id, notice.sequence) == notice


async def test_a_change_to_an_older_version_is_refused_and_changes_nothing(
    ledger: Ledger, outbox: Outbox
) -> None:
    stored = await ledger.create(make(), {}, None)
    await ledger.commit([moved(stored, JobState.SUBMITTING)])

    (late,) = await ledger.commit([moved(stored, JobState.FAILED)])

    assert late is None
    assert await actives(ledger) == {stored.job.id: JobState.SUBMITTING}
    assert await undelivered(outbox) == []


async def unfinished(ledger: Ledger, at: datetime = NOW) -> tuple[list[Active], list[Notice]]:
    shards = [await ledger.unfinished(n, at, LONGEST) for n in range(ledger.shards)]
    return [row for one in shards for row in one.jobs], [event for one in shards for event in one.events]


async def test_what_is_not_finished_comes_with_records_that_can_be_changed_at_once(ledger: Ledger) -> None:
    for key in ("a", "b", "c"):
        await ledger.create(make(key, labels={"team": "ü 💥"}), {}, None)
    rows, events = await unfinished(ledger)
    assert (sorted(row.stored.job.key for row in rows), events) == (["a", "b", "c"], [])

    row = rows[0]
    (changed,) = await ledger.commit([moved(row.stored, JobState.SUBMITTING)])
    assert changed is not None
    assert await ledger.commit([moved(row.stored, JobState.FAILED)]) == [None]
    assert (await actives(ledger))[row.job_id] is JobState.SUBMITTING
    await ledger.commit([moved(changed, JobState.FAILED)])

    assert len((await unfinished(ledger))[0]) == 2
    assert [event.job_id for event in (await unfinished(ledger))[1]] == [row.job_id]
    assert (await unfinished(ledger, NOW - timedelta(seconds=1)))[1] == []


#: What ends a line, a message or a document for something that reads transactions.
ODD_TEXTS = (
    *("a\u2028b", "a\u2029b", "a\x85b", "a\r\n\r\nb", "a\x1eb", "{{", "}}", '"}', "\\u2028", "\\\\"),
    *("\r\n--changeset_x--\r\n", "HTTP/1.1 404 Not Found\r\n", "PUT http://x/y HTTP/1.1", "\U0001f9ea\u200d"),
)


async def test_any_text_in_a_record_is_read_as_it_was_written_and_keeps_no_other_out(ledger: Ledger) -> None:
    for n, text in enumerate(ODD_TEXTS):
        job = make(f"odd{n}", labels={"text": text})
        await ledger.create(job, {"command": text}, None)
        stored = await ledger.get(job.id)
        assert stored is not None
        assert stored.job == job
        assert await ledger.spec(job.id) == {"command": text}
    await ledger.create(make("after"), {}, None)


async def test_our_own_write_whose_answer_was_lost_is_recognised(ledger: Ledger) -> None:
    stored = await ledger.create(make(), {}, None)
    change = moved(stored, JobState.SUBMITTING)
    (first,) = await ledger.commit([change])
    # Someone else goes on before we ask again: our token stands in the history only.
    assert first is not None
    await ledger.commit([moved(first, JobState.QUEUED)])

    (again,) = await ledger.commit([change])

    assert again is not None
    assert again.job.state is JobState.QUEUED


async def test_our_own_creation_whose_answer_was_lost_is_recognised(ledger: Ledger) -> None:
    job = make()
    await ledger.create(job, {}, None)
    again = await ledger.create(job, {}, None)
    assert again.job == job


async def test_many_changes_commit_in_bulk_and_one_conflict_spoils_no_other(
    ledger: Ledger, outbox: Outbox
) -> None:
    stored = [await ledger.create(make(f"k{n}"), {}, None) for n in range(12)]
    await ledger.commit([moved(stored[3], JobState.SUBMITTING)])

    results = await ledger.commit([moved(one, JobState.FAILED) for one in stored])

    assert [result is None for result in results] == [n == 3 for n in range(12)]
    assert list(await actives(ledger)) == [stored[3].job.id]
    assert len(await undelivered(outbox)) == 11


async def test_a_settled_event_leaves_the_outbox_and_a_dead_one_is_kept(
    ledger: Ledger, outbox: Outbox
) -> None:
    stored = await ledger.create(make(), {}, None)
    await ledger.commit([moved(stored, JobState.FAILED)])
    (notice,) = await undelivered(outbox)
    receipt, hook = notice.deliveries

    later = notice.model_copy(update={"due": NOW + timedelta(hours=20)})
    await outbox.settle(later)
    assert await undelivered(outbox) == []
    assert await outbox.notice(notice.job_id, notice.sequence) == later

    done = (receipt.model_copy(update={"state": "delivered"}), hook.model_copy(update={"state": "dead"}))
    settled = notice.model_copy(update={"deliveries": done})
    await outbox.settle(settled)
    await outbox.settle(settled)
    assert await outbox.notice(notice.job_id, notice.sequence) is None
    assert await outbox.dead() == [settled]


async def test_jobs_are_listed_newest_first_in_pages(ledger: Ledger) -> None:
    jobs = [make(f"k{n}", created=NOW + timedelta(seconds=n)) for n in range(7)]
    for job in jobs:
        await ledger.create(job, {}, None)
    newest = [job.id for job in reversed(jobs)]

    first = await ledger.find(Query(), limit=4, after=None)
    second = await ledger.find(Query(), limit=4, after=first.next)

    assert [job.id for job in first.jobs] == newest[:4]
    assert [job.id for job in second.jobs] == newest[4:]
    assert second.next is None


async def test_the_list_of_all_shows_a_job_as_each_change_left_it(
    ledger: Ledger, store: ShardedTable
) -> None:
    stored = await ledger.create(make(labels={"team": "ü 💥"}), {}, None)
    shown = await _listed(ledger, store)
    assert shown == brief(stored.job)
    for to in (JobState.SUBMITTING, JobState.QUEUED, JobState.RUNNING, JobState.QUEUED, JobState.FAILED):
        (changed,) = await ledger.commit([moved(stored, to, message=f"is {to} " + "x" * 20_000)])
        assert changed is not None
        assert await _listed(ledger, store) == brief(changed.job)
        stored = changed


async def test_a_note_shows_in_the_list_of_all_and_a_change_that_was_refused_does_not(
    ledger: Ledger, store: ShardedTable
) -> None:
    stored = await ledger.create(make(), {}, None)
    waiting = Waiting(word="Resources", text="It waits for nodes.", since=NOW)
    note = Change(stored, stored.job.note(now=NOW, token=next(TOKENS), waiting=waiting))
    (noted,) = await ledger.commit([note])
    assert noted is not None
    assert await ledger.commit([moved(stored, JobState.SUBMITTING)]) == [None]
    assert await _listed(ledger, store) == brief(noted.job)
    assert noted.job.waiting == waiting


async def _listed(ledger: Ledger, store: ShardedTable) -> Job:
    """The only job, as its row of the list shows it: without its index row."""
    page = await ledger.find(Query(), limit=5, after=None)
    (row,) = [row for n in range(store.shards) for row in await store.range(n, "l")]
    (shown,) = page.jobs
    assert shown == shown_of(row)
    return shown


async def test_jobs_are_found_by_state(ledger: Ledger) -> None:
    await ledger.create(make("a", state=JobState.REJECTED), None, None)
    await ledger.create(make("b"), {}, None)

    page = await ledger.find(Query(states=frozenset({JobState.REJECTED})), limit=5, after=None)

    assert [job.id for job in page.jobs] == [job_id("a", 1)]


async def test_dropped_paths_are_remembered(ledger: Ledger) -> None:
    memo = DropMemo("scripts/a'b/ü|", {"x": "0x1"}, "j_1", 2, waiting=True)
    await ledger.remember(memo)
    assert await ledger.drop_memo(memo.path) == memo
    assert await ledger.drop_memo("other|") is None
    assert await ledger.drop_memos() == {memo.path: memo}
    ordered = DropMemo(
        "d/|look",
        {},
        "",
        1,
        folder="d/",
        ticket="l",
        until=datetime(2026, 1, 1, 12, tzinfo=UTC),
        newest=datetime(2026, 1, 1, 11, tzinfo=UTC),
    )
    await ledger.remember(ordered)
    assert await ledger.drop_memo("d/|look") == ordered


async def test_another_shard_count_is_refused(storage: Azurite) -> None:
    account = Account(Connection(storage.connection_string))
    name = f"t{uuid.uuid4().hex[:20]}"
    await TableLedger(ShardedTable(RestTable(account, name), 4)).active(0)

    with pytest.raises(Misconfigured, match="4 shards"):
        await TableLedger(ShardedTable(RestTable(account, name), 8)).active(0)
    await account.close()


async def test_a_cursor_that_is_none_is_refused(ledger: Ledger) -> None:
    for after in ("9' or RowKey ge '", "", "x"):
        with pytest.raises(Misuse):
            await ledger.find(Query(), limit=1, after=after)


async def test_recent_finds_the_jobs_of_a_source_since_a_moment(ledger: Ledger) -> None:
    products = [("http:o'brien", 10), ("http:o'brien", 50), ("queue", 10), ("http:o'brien", 90)]
    for n, (source, age) in enumerate(products):
        created = NOW - timedelta(minutes=age)
        await ledger.create(make(f"k{n}", source=source, created=created), None, None)

    result = await ledger.recent("http:o'brien", NOW - timedelta(hours=1), NOW + timedelta(hours=1))

    assert sorted(result.values()) == [NOW - timedelta(minutes=50), NOW - timedelta(minutes=10)]
    assert await ledger.recent("nobody", NOW - timedelta(hours=1), NOW + timedelta(hours=1)) == {}


async def test_recent_counts_a_job_that_had_to_wait_by_its_turn(ledger: Ledger) -> None:
    created = {"over": (400, -61), "ran": (300, -10), "waits": (5, 200)}
    for key, (age, ahead) in created.items():
        job = make(key, source="queue", created=NOW - timedelta(minutes=age))
        await ledger.create(job.model_copy(update={"slot": NOW + timedelta(minutes=ahead)}), None, None)

    result = await ledger.recent("queue", NOW - timedelta(hours=1), NOW + timedelta(hours=1))

    assert sorted(result.values()) == [NOW - timedelta(minutes=10), NOW + timedelta(minutes=200)]


async def test_recent_leaves_out_what_a_clock_that_was_ahead_created(ledger: Ledger) -> None:
    for days in (0, 1):
        created = NOW + timedelta(days=days)
        await ledger.create(make(f"k{days}", source="queue", created=created), None, None)

    result = await ledger.recent("queue", NOW - timedelta(hours=1), NOW + timedelta(hours=1))

    assert [*result.values()] == [NOW]


async def test_the_switch_is_off_then_on_then_off(ledger: Ledger) -> None:
    assert await ledger.paused() is None
    for reason in ("first", "second"):
        await ledger.pause(Pause(NOW, "ann", reason))
        assert await ledger.paused() == Pause(NOW, "ann", reason)
    for _ in range(2):
        await ledger.pause(None)
        assert await ledger.paused() is None


async def test_an_event_that_a_wrong_clock_put_far_ahead_is_due(ledger: Ledger, outbox: Outbox) -> None:
    stored = await ledger.create(make(), {}, None)
    await ledger.commit([moved(stored, JobState.FAILED)])
    (notice,) = await undelivered(outbox)

    await outbox.settle(notice.model_copy(update={"due": NOW + timedelta(days=3650)}))
    assert len(await undelivered(outbox)) == 1
    await outbox.settle(notice.model_copy(update={"due": NOW + LONGEST}))
    assert await undelivered(outbox) == []


async def test_receivers_are_disabled_and_enabled_again(outbox: Outbox) -> None:
    one = Disabled("0123abcd", "https://hooks.example.com/…", NOW, "410")
    for _ in range(2):
        await outbox.disable(one)
    assert await outbox.disabled() == [one]
    for _ in range(2):
        await outbox.enable(one.id)
    assert await outbox.disabled() == []


async def test_events_outlive_their_delivery_and_are_found_by_job_and_by_id(
    ledger: Ledger, outbox: Outbox
) -> None:
    stored = await ledger.create(make(notify=(ANY,)), {}, None)
    (queued,) = await ledger.commit([moved(stored, JobState.SUBMITTING)])
    assert queued is not None
    (queued,) = await ledger.commit([moved(queued, JobState.QUEUED)])
    assert queued is not None
    await ledger.commit([moved(queued, JobState.FAILED)])
    first, last = sorted(await undelivered(outbox), key=lambda notice: notice.sequence)
    settled = first.model_copy(update={"deliveries": _all(first, "delivered")})

    await outbox.settle(settled)

    assert await outbox.events(stored.job.id) == [settled, last]
    assert await outbox.events("j_other") == []
    assert [await outbox.find(one.event_id) for one in (first, last)] == [settled, last]
    assert [await outbox.find(text) for text in ("evt_none", "' or 'a' eq 'a", "")] == [None, None, None]


async def test_a_dead_letter_that_is_revived_is_undelivered_and_dead_no_more(
    ledger: Ledger, outbox: Outbox
) -> None:
    stored = await ledger.create(make(), {}, None)
    await ledger.commit([moved(stored, JobState.FAILED)])
    (notice,) = await undelivered(outbox)
    await outbox.settle(notice.model_copy(update={"deliveries": _all(notice, "dead")}))
    assert len(await outbox.dead()) == 1

    for _ in range(2):
        await outbox.revive(notice)

    assert await outbox.dead() == []
    assert await undelivered(outbox) == [notice]
    assert await outbox.events(notice.job_id) == [notice]
    assert await outbox.find(notice.event_id) == notice
    await outbox.settle(notice.model_copy(update={"deliveries": _all(notice, "delivered")}))
    assert await undelivered(outbox) == []


async def test_dead_messages_are_kept_whole_and_forgotten(dead: DeadMessages) -> None:
    def one(identity: str, minute: int) -> DeadMessage:
        at = NOW + timedelta(minutes=minute)
        return DeadMessage(identity, "jobs", "m ü|'1", "b" * 90_000, True, at, "why 💥", "d1")

    for message in (one("d_b", 1), one("d_a", 2), one("d_b", 1)):
        await dead.keep(message)

    assert await dead.all() == [one("d_b", 1), one("d_a", 2)]
    assert await dead.get("d_a") == one("d_a", 2)
    for _ in range(2):
        await dead.forget("d_a")
    assert await dead.get("d_a") is None
    assert [message.id for message in await dead.all()] == ["d_b"]
