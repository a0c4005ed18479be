"""Rows that are damaged, or that a newer version wrote: left alone, named, and without harm to other jobs."""

from __future__ import annotations

import base64
import json
import logging
import zlib
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import azure.functions as func
import pytest

from functions.openapi.operation import bordered
from shared.adapters.storage import rows
from shared.adapters.storage.table import joined, split
from shared.admission.pauses import pause, paused, resume
from shared.core.engine import Observation
from shared.core.errors import Unavailable
from shared.core.job import Job, JobState
from shared.core.ledger.entries import Reported, packed, unpacked
from shared.core.notify.events import Notice
from shared.core.trouble import Troubles
from shared.intake.dead_letter import bury_poison
from shared.intake.drops.inventory import inventory
from shared.lifecycle.archive import archive
from shared.lifecycle.lookup import job as read_job
from shared.lifecycle.push import jobs_ended
from shared.lifecycle.sweeper import make_pass
from shared.operate.audit import audit
from shared.operate.listing import jobs as list_jobs
from shared.operate.ready import ready
from shared.operate.redrive import listed
from tests.doubles.memory import MemoryLedger
from tests.unit.world import Engines, World, job_json

HOOK = {"url": "https://hooks.example.com/slipway"}
CANARY = "canary-77"
DAY = 86_400.0


async def submitted(world: World, message: str = "m1") -> Job:
    return (await world.message({"spec": job_json(), "notify": [HOOK]}, message)).job


async def ended_job(world: World, message: str = "m1") -> Job:
    job = await submitted(world, message)
    world.engine.set_state(world.engine.started[-1], JobState.SUCCEEDED)
    await world.make_pass()
    await world.wake()
    return await world.job(job.id)


def key_of(world: World, start: str) -> tuple[str, str]:
    (only,) = [key for key in world.ledger.held if key[1].startswith(start)]
    return only


def spoil(world: World, start: str, **columns: Any) -> str:
    """Write into the columns of one row, or take them away (None); its name."""
    key = key_of(world, start)
    held = world.ledger.held[key]
    row = {**held.row, **columns}
    world.ledger.held[key] = replace(held, row={c: v for c, v in row.items() if v is not None})
    return "/".join(key)


async def named(world: World) -> dict[str, str]:
    """The rows that the audit names, and why."""
    return {one.what: one.message for one in (await audit(world.ports)).differences if one.kind == "row"}


def of_record(change: Callable[[dict[str, Any]], None]) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """The columns of an index row whose record was changed."""

    def columns(row: dict[str, Any]) -> dict[str, Any]:
        job = json.loads(unpacked(joined("Packed", row)).model_dump_json(exclude_defaults=True))
        change(job)
        return {"Packed0": base64.b64encode(zlib.compress(json.dumps(job).encode())).decode()}

    return columns


def cut(row: dict[str, Any]) -> dict[str, Any]:
    return {"Packed0": row["Packed0"][: len(row["Packed0"]) // 8 * 4]}


DAMAGE: dict[str, tuple[Callable[[dict[str, Any]], dict[str, Any]], str]] = {
    "garbage in a column": (lambda row: {"Due": CANARY}, "Due"),
    "a column that is gone": (lambda row: {"Target": None}, "Target"),
    "a state of a newer version": (lambda row: {"State": "hibernated"}, "State"),
    "garbage for a record": (lambda row: {"Packed0": CANARY}, "Packed"),
    "half of a record": (cut, "Packed"),
    "no record": (lambda row: {"Packed0": None, "Packed1": None}, "Packed"),
    "a reason of a newer version": (of_record(lambda job: job.update(reason="quota")), "Packed: reason"),
}


@pytest.mark.parametrize(("damage", "column"), DAMAGE.values(), ids=DAMAGE)
async def test_one_bad_index_row_keeps_no_other_job_from_its_end_and_is_named_and_left_alone(
    world: World, damage: Callable[[dict[str, Any]], dict[str, Any]], column: str, caplog: Any
) -> None:
    caplog.set_level(logging.INFO)
    bad = await submitted(world, "bad")
    good = await submitted(world, "good")
    name = spoil(world, f"n|{bad.id}", **damage(world.ledger.held[key_of(world, f"n|{bad.id}")].row))
    before = world.ledger.held[key_of(world, f"n|{bad.id}")]
    for attempt in world.engine.started:
        world.engine.set_state(attempt, JobState.SUCCEEDED)
    for _ in range(3):
        await world.make_pass()

    assert (await world.job(good.id)).state is JobState.SUCCEEDED
    assert world.ledger.held[key_of(world, f"n|{bad.id}")] == before
    assert [job.id for job in (await list_jobs(world.ports, {"state": "active"})).jobs] == []
    every = await list_jobs(world.ports, {})
    assert good.id in [job.id for job in every.jobs]
    why = (await named(world))[name]
    assert why.startswith(f"cannot be read: {column}")
    assert (await ready(world.ports)).unreadable == 1
    assert (await ready(world.ports)).ready
    assert sum(name in line and "ERROR" in line for line in caplog.text.splitlines()) == 1
    assert CANARY not in caplog.text + why
    assert "Traceback" not in caplog.text


async def test_a_job_that_waits_in_a_bad_row_is_named_and_keeps_no_other_from_the_engine(
    world: World, caplog: Any
) -> None:
    await pause(world.ports, "ann", "")
    bad, good = await submitted(world, "bad"), await submitted(world, "good")
    name = spoil(world, f"n|{bad.id}", Packed0=CANARY)
    await resume(world.ports, "ann")
    for _ in range(2):
        await world.make_pass()

    assert (await world.job(good.id)).state is JobState.QUEUED
    assert len(world.engine.started) == 1
    assert name in caplog.text


@pytest.mark.parametrize(("state", "cancel"), [("submitting", False), ("queued", True)])
async def test_a_record_that_lacks_its_target_is_named_and_keeps_no_other_job_from_its_end(
    world: World, state: str, cancel: bool, caplog: Any
) -> None:
    bad, good = await submitted(world, "bad"), await submitted(world, "good")
    lacking = of_record(lambda job: job.update(state=state, cancel=cancel, target=None))
    row = world.ledger.held[key_of(world, f"n|{bad.id}")].row
    spoil(
        world,
        f"n|{bad.id}",
        **lacking(row),
        Target="",
        State=state,
        Cancel=cancel,
        Due=rows.text_of(world.now),
    )
    world.engine.set_state(world.engine.started[1], JobState.SUCCEEDED)
    await world.make_pass()

    assert (await world.job(good.id)).state is JobState.SUCCEEDED
    assert (await world.job(bad.id)).state == state
    assert f"the attempt of {bad.id} lacks a target" in caplog.text


async def test_a_notice_of_many_ends_is_followed_for_all_but_the_one_that_cannot_be_read(
    world: World,
) -> None:
    bad, good = await submitted(world, "bad"), await submitted(world, "good")
    spoil(world, f"n|{bad.id}", Packed0="x")
    for attempt in world.engine.started:
        world.engine.set_state(attempt, JobState.SUCCEEDED)
    other = replace(world.ports, ledger=MemoryLedger(world.clock, table=world.ledger.table))
    await jobs_ended(other, [bad.id, good.id])
    assert (await world.job(good.id)).state is JobState.SUCCEEDED


async def test_a_record_that_is_mended_goes_on(world: World) -> None:
    job = await submitted(world)
    whole = world.ledger.held[key_of(world, "n|")]
    spoil(world, "n|", Packed0="x")
    world.engine.set_state(world.engine.started[0], JobState.SUCCEEDED)
    await world.make_pass()
    world.ledger.held[key_of(world, "n|")] = whole
    await world.make_pass()
    assert (await world.job(job.id)).state is JobState.SUCCEEDED
    assert await named(world) == {}


@pytest.mark.parametrize("columns", [{"Record0": CANARY}, {"Record0": None}, {"Record0": '{"id": "j_1"}'}])
async def test_an_ended_record_that_is_truncated_is_seen_by_the_audit_and_answers_with_words(
    world: World, columns: dict[str, Any]
) -> None:
    job = await ended_job(world)
    name = spoil(world, f"j|{job.id}", **columns)
    assert list(await named(world)) == [name]

    @bordered
    async def handler(req: func.HttpRequest) -> func.HttpResponse:
        await read_job(world.ports, job.id)
        raise AssertionError

    answer = await handler(func.HttpRequest(method="GET", url="/api/jobs/x", headers={}, body=b""))
    body = json.loads(answer.get_body())
    assert answer.status_code == 500
    assert name in body["detail"]
    assert "audit" in body["remedy"]
    assert CANARY not in str(body)


async def test_a_record_without_its_index_row_keeps_no_other_from_the_listing(world: World) -> None:
    job, other = await submitted(world, "m1"), await submitted(world, "m2")
    del world.ledger.held[key_of(world, f"n|{job.id}")]
    page = await list_jobs(world.ports, {})
    assert {one.id: one.state for one in page.jobs} == {job.id: job.state, other.id: other.state}


async def test_one_bad_event_is_named_and_all_others_are_delivered(world: World) -> None:
    world.policy(deliver_deadline=0)
    for message in ("m1", "m2"):
        await submitted(world, message)
    for attempt in world.engine.started:
        world.engine.set_state(attempt, JobState.SUCCEEDED)
    await world.make_pass()
    world.queues.messages.clear()
    first = sorted(key for key in world.ledger.held if key[1].startswith("o|"))[0][1]
    name = spoil(world, first, Notice0='{"job_id": 5')
    world.policy(deliver_deadline=20)
    world.pass_time(60)
    await world.make_pass()

    assert len(world.webhooks.posts) == 1
    assert list(await named(world)) == [name]
    assert await world.outbox.events(first.split("|")[1]) == []
    assert await world.outbox.find("evt_unknown") is None


async def test_one_bad_row_of_the_drops_stops_no_inventory_and_runs_nothing_twice(world: World) -> None:
    for folder in ("a", "b"):
        world.drops.upload(f"{folder}/run/job.json", json.dumps(job_json()).encode())
    world.pass_time(60)
    assert (await inventory(world.ports)).accepted == 2
    bad = next(key for key in world.ledger.held if key[0].startswith("d0"))
    held = world.ledger.held[bad]
    world.ledger.held[bad] = replace(held, row={**held.row, "Generation": "many"})
    assert list(await named(world)) == ["/".join(bad)]

    world.drops.upload("c/run/job.json", json.dumps(job_json()).encode())
    world.pass_time(60)
    counted = await inventory(world.ports)

    assert (counted.looked, counted.accepted) == (2, 1)
    assert len(world.engine.started) == 3
    assert await named(world) == {}  # a cache: what was dropped is read again, and remembered anew


async def test_bad_rows_of_dead_messages_and_receivers_hide_no_other(world: World) -> None:
    for message in ("m1", "m2"):
        await bury_poison(world.ports, "jobs", message, b"{}")
    bad = next(key for key in world.ledger.held if key[0] == "dead")
    world.ledger.held[bad] = replace(world.ledger.held[bad], row={"PartitionKey": bad[0], "RowKey": bad[1]})
    world.ledger.held["receivers", "r"] = replace(
        world.ledger.held[bad], row={"PartitionKey": "receivers", "RowKey": "r", "Since": "yesterday"}
    )

    assert len(await listed(world.ports)) == 1
    assert await world.outbox.disabled() == []
    assert set(await named(world)) == {"/".join(bad), "receivers/r"}


async def test_a_switch_that_cannot_be_read_stops_submissions_until_it_is_turned(world: World) -> None:
    await pause(world.ports, "ann", "")
    spoil(world, "paused", Since="soon")
    world.ports.memo.forget("paused")
    result = await paused(world.ports)
    assert result is not None
    assert "meta/paused" in result.reason
    job = await submitted(world)
    assert job.state is JobState.ACCEPTED


async def test_garbage_in_the_listing_keeps_no_job_out(world: World) -> None:
    job = await submitted(world)
    held = world.ledger.held[key_of(world, "l|")]
    for key in ("l|garbage", "t|0|x"):
        bad = {**held.row, "PartitionKey": "s001", "RowKey": key}
        world.ledger.held["s001", key] = replace(held, row=bad)
    page = await list_jobs(world.ports, {})
    assert [one.id for one in page.jobs] == [job.id]
    assert list(await world.ledger.recent("queue", world.now - timedelta(hours=1), world.now)) == [job.id]


async def test_records_that_cannot_be_read_hold_up_no_archive_and_are_named(world: World) -> None:
    bad = [(await ended_job(world, f"bad{n}")).id for n in range(5)]
    for job_id in bad:
        spoil(world, f"j|{job_id}", Record0="{")
    world.pass_time(60)
    good = [(await ended_job(world, f"good{n}")).id for n in range(5)]
    world.policy(archive_batch=1)
    world.pass_time(33 * DAY)

    assert (await archive(world.ports)).jobs == len(good)
    assert len([key for key in world.ledger.held if key[1].startswith("g|d|")]) == len(bad)
    assert {name.rpartition("|")[2] for name in await named(world)} == set(bad)


async def test_a_document_that_cannot_be_read_parks_its_job(world: World) -> None:
    world.policy(paused=True)
    job = await submitted(world)
    world.policy(paused=False)
    spoil(world, f"s|{job.id}", Spec0="{")
    await world.make_pass()
    held = await world.job(job.id)
    assert held.state is JobState.SUBMITTING
    assert held.message.startswith("waits for the deployment to be mended")
    assert f"s|{job.id}" in held.message


# What a newer version wrote, and this one only carries


async def test_what_a_newer_version_wrote_into_a_record_survives_every_transition_of_ours(
    world: World,
) -> None:
    job = await submitted(world)
    record = json.loads((await world.job(job.id)).model_dump_json())
    record["hibernation"] = {"until": "2031"}
    record["target"]["region"] = "west"
    record["history"][-1]["mood"] = "calm"
    future = packed(Job.model_validate_json(json.dumps(record)))
    spoil(world, "n|", Colour="blue", Packed0=future, Target=json.dumps(record["target"]))

    world.engine.set_state(world.engine.started[0], JobState.RUNNING)
    await world.make_pass()
    assert world.ledger.held[key_of(world, "n|")].row["Colour"] == "blue"
    running = await world.job(job.id)
    assert (running.state, running.model_extra) == (JobState.RUNNING, {"hibernation": {"until": "2031"}})

    world.engine.set_state(world.engine.started[0], JobState.SUCCEEDED)
    await world.make_pass()
    ended = await world.job(job.id)
    assert ended.state is JobState.SUCCEEDED
    assert ended.model_extra == {"hibernation": {"until": "2031"}}
    assert ended.target is not None
    assert ended.target.model_extra == {"region": "west"}
    assert [entry.model_extra for entry in ended.history].count({"mood": "calm"}) == 1

    world.pass_time(31 * DAY)
    await world.wake()
    await world.make_pass()
    assert (await archive(world.ports)).jobs == 1
    assert b'"hibernation"' in next(iter(world.archive.blobs.values()))


async def test_what_a_newer_version_wrote_into_an_event_survives_a_try(world: World) -> None:
    world.webhooks.answers = [replace(world.webhooks.answers[0], outcome="retry", status=500)]
    await submitted(world)
    world.engine.set_state(world.engine.started[0], JobState.SUCCEEDED)
    world.policy(deliver_deadline=0)
    await world.make_pass()
    world.queues.messages.clear()
    text = world.ledger.held[key_of(world, "o|")].row["Notice0"]
    targets = [{**one, "mood": "calm"} for one in json.loads(text)["targets"]]
    spoil(world, "o|", Notice0=json.dumps({**json.loads(text), "lane": 7, "targets": targets}), Colour="blue")
    world.policy(deliver_deadline=20)
    world.pass_time(60)
    await world.make_pass()

    row = world.ledger.held[key_of(world, "o|")].row
    notice: Notice = rows.notice_of_row(row)
    assert row["Colour"] == "blue"
    assert notice.model_extra == {"lane": 7}
    assert "deliveries" not in json.loads(row["Notice0"]), "every version reads and writes `targets`"
    assert {str(one.model_extra) for one in notice.deliveries} == {"{'mood': 'calm'}"}
    assert max(one.try_count for one in notice.deliveries) == 1


async def test_what_a_newer_version_remembers_of_a_drop_survives_another_look(world: World) -> None:
    world.drops.upload("a/run/job.json", json.dumps(job_json()).encode())
    world.pass_time(60)
    await inventory(world.ports)
    (key,) = [key for key in world.ledger.held if key[0].startswith("d0")]
    spoil(world, key[1], Colour="blue", Content="")
    await inventory(world.ports)
    assert world.ledger.held[key].row["Colour"] == "blue"
    assert world.ledger.held[key].row["Content"] != ""


async def test_a_text_that_becomes_shorter_leaves_nothing_of_the_longer_one(world: World) -> None:
    row = {"PartitionKey": "d000", "RowKey": "x"}
    for text in ("x" * 50_000, "short"):
        await world.ledger.store.upsert({**row, **split("Text", text)})
    assert joined("Text", world.ledger.held["d000", "x"].row) == "short"


# A pass that fails


async def test_health_says_that_passes_fail_in_another_process_and_that_they_do_no_more(world: World) -> None:
    class Failing(MemoryLedger):
        """A ledger whose shards cannot be read, for a defect of ours."""

        async def unfinished(self, *_: Any) -> Any:
            raise ValueError("a defect")

    other = Troubles(world.clock)
    failing = Failing(world.clock, table=world.ledger.table)
    with pytest.raises(ValueError, match="a defect"):
        await make_pass(replace(world.ports, troubles=other, ledger=failing))
    readiness = await ready(world.ports)
    assert (readiness.sweeper_fails, readiness.ready) == (True, False)

    await make_pass(replace(world.ports, troubles=other))
    world.ports.memo.forget("ready")
    assert (await ready(world.ports)).ready


async def test_one_pass_that_failed_in_an_outage_is_forgotten_when_the_next_ones_are_anothers(
    world: World,
) -> None:
    class SilentLedger(MemoryLedger):
        async def unfinished(self, *_: Any) -> Any:
            raise Unavailable("storage answered 503")

    with pytest.raises(Unavailable):
        await make_pass(replace(world.ports, ledger=SilentLedger(world.clock, table=world.ledger.table)))
    assert not (await ready(world.ports)).ready
    for _ in range(3):
        world.pass_time(61)
        await make_pass(replace(world.ports, troubles=Troubles(world.clock)))
    assert (await ready(world.ports)).ready


async def test_an_adapter_with_a_defect_is_named_by_the_audit_and_hides_nothing_else(world: World) -> None:
    class Defective(type(world.engine)):  # type: ignore[misc]
        async def status(self, *_: Any) -> dict[str, Observation]:
            raise ValueError("a defect")

        async def at_work(self, *_: Any) -> dict[str, str]:
            raise ValueError("a defect")

    await submitted(world)
    world.use(engines=Engines(Defective()))
    report = await audit(world.ports)
    assert report.unknown == ["cluster dev cannot be queried"]
    assert report.counted["dead"] == 0


# A moment without a zone compares with none

_NAIVE = "2026-01-01T00:00:00"


@pytest.mark.parametrize("column", ["Due", "Since", "Packed0"])
async def test_a_moment_without_a_zone_in_one_index_row_stops_no_sweep(world: World, column: str) -> None:
    world.drops.upload("a/run/job.json", json.dumps(job_json()).encode())
    world.pass_time(60)
    await inventory(world.ports)
    row = world.ledger.held[key_of(world, "n|")].row
    record = of_record(lambda job: job.update(due=_NAIVE))(row)["Packed0"]
    name = spoil(world, "n|", **{column: record if column == "Packed0" else _NAIVE})
    world.policy(paused=True)
    good = await submitted(world, "good")
    world.policy(paused=False)
    await world.make_pass()
    assert (await world.job(good.id)).state is JobState.QUEUED
    assert list(await named(world)) == [name]


async def test_moments_without_a_zone_in_the_other_rows_stop_no_sweep(world: World) -> None:
    for message in ("m1", "m2"):
        await bury_poison(world.ports, "jobs", message, b"{}")
    await world.ledger.report(Reported(world.now, {"row": 1}))
    dead = next(key for key in world.ledger.held if key[0] == "dead")[1]
    names = {spoil(world, dead, At=_NAIVE), spoil(world, "trouble", At=_NAIVE)}

    assert len(await listed(world.ports)) == 1
    assert (await ready(world.ports)).ready
    assert set(await named(world)) == names
    await world.make_pass()
    assert set(await named(world)) == names - {"meta/trouble"}  # it was written anew


async def test_an_event_due_without_a_zone_keeps_no_other_from_its_receiver(world: World) -> None:
    world.policy(deliver_deadline=0)
    for message in ("m1", "m2"):
        await submitted(world, message)
    for attempt in world.engine.started:
        world.engine.set_state(attempt, JobState.SUCCEEDED)
    await world.make_pass()
    first = sorted(key for key in world.ledger.held if key[1].startswith("o|"))[0][1]
    text = world.ledger.held[key_of(world, first)].row["Notice0"]
    name = spoil(world, first, Notice0=json.dumps({**json.loads(text), "due": _NAIVE}))
    world.policy(deliver_deadline=20)
    await world.make_pass()
    assert len(world.webhooks.posts) == 1
    assert list(await named(world)) == [name]


async def test_a_column_of_another_type_than_ours_stops_neither_the_sweeper_nor_the_listing(
    world: World,
) -> None:
    world.policy(paused=True)
    bad, good = await submitted(world, "bad"), await submitted(world, "good")
    world.policy(paused=False)
    spoil(world, f"n|{bad.id}", Listed=5)
    await list_jobs(world.ports, {"state": "active"})
    await world.make_pass()
    assert (await world.job(good.id)).state is JobState.QUEUED
