"""The harness proves itself: it must catch each deliberately broken variant of the protocol."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import pytest

import shared.core.notify.events
import shared.delivery.deliver
import shared.delivery.try_delivery
import shared.intake.accept
import shared.intake.candidate
import shared.lifecycle.archive
import shared.lifecycle.carry_out
import shared.lifecycle.cluster_pass
import shared.lifecycle.dispatch
import shared.lifecycle.observe
import shared.lifecycle.sweeper
import shared.lifecycle.transition
import shared.lifecycle.waiting.dependents
from shared.adapters.storage import rows
from shared.adapters.storage.group import GroupCommit
from shared.adapters.storage.sharded_table import ShardedTable
from shared.adapters.storage.table import Operation, Refused
from shared.core.engine import Order, Why
from shared.core.errors import Conflict
from shared.core.job import Job, JobState, Reason, Stored, Transition, Waiting
from shared.core.ledger.entries import Change
from shared.core.notify.events import RECEIPT, Notice
from shared.core.ports import Ports
from shared.lifecycle.waiting.dependents import Fates
from tests.breadth import every_few
from tests.crash.chaos import Fault
from tests.crash.harness import Run
from tests.crash.stories import (
    ARCHIVED,
    BROKEN,
    CANCELLED,
    DEPENDENT,
    FAILED,
    REQUEUED,
    STORIES,
    TWICE,
    WAITING,
    Story,
    play,
)
from tests.doubles.memory import MemoryLedger
from tests.doubles.memory_engine import MemoryEngine

#: They show what the other tests of this folder notice, and change with those.
pytestmark = pytest.mark.thorough

Patch = pytest.MonkeyPatch
_COUNT = itertools.count()


def acknowledge_first(patch: Patch) -> None:
    def started(run: Run, *args: Any, **named: Any) -> None:
        original(run, *args, **named)
        run.acknowledges_first = True

    original = Run.__init__
    patch.setattr(Run, "__init__", started)


def another_engine_name_each_time(patch: Patch) -> None:
    def order(target: Any, *more: Any) -> Order:
        return Order(target.model_copy(update={"name": f"{target.name}-{next(_COUNT)}"}), *more)

    patch.setattr(shared.lifecycle.dispatch, "Order", order)


def a_new_job_for_every_arrival(patch: Patch) -> None:
    patch.setattr(shared.intake.candidate, "job_id", lambda key, generation: f"j_{next(_COUNT):024d}")


def delivered_before_the_post(patch: Patch) -> None:
    original = shared.delivery.deliver._deliver

    async def mutant(ports: Ports, notice: Notice) -> Notice:
        done = tuple(delivery.model_copy(update={"state": "delivered"}) for delivery in notice.deliveries)
        await ports.outbox.settle(notice.model_copy(update={"deliveries": done}))
        return await original(ports, notice)

    patch.setattr(shared.delivery.deliver, "_deliver", mutant)


def event_outside_the_record(patch: Patch) -> None:
    original = MemoryLedger._commit

    async def mutant(ledger: MemoryLedger, change: Change) -> Stored | None:
        return await original(ledger, replace(change, notice=None))

    patch.setattr(MemoryLedger, "_commit", mutant)


def a_new_event_id_for_every_try(patch: Patch) -> None:
    original = shared.delivery.try_delivery._webhook

    async def mutant(ports: Ports, notice: Notice, target: Any, now: Any) -> Any:
        renamed = notice.model_copy(update={"event_id": f"evt_{next(_COUNT)}"})
        return await original(ports, renamed, target, now)

    patch.setattr(shared.delivery.try_delivery, "_webhook", mutant)


def a_new_body_for_every_try(patch: Patch) -> None:
    original = shared.delivery.try_delivery._webhook

    async def mutant(ports: Ports, notice: Notice, target: Any, now: Any) -> Any:
        body = notice.body.replace("{", f'{{"try":{next(_COUNT)},', 1)
        return await original(ports, notice.model_copy(update={"body": body}), target, now)

    patch.setattr(shared.delivery.try_delivery, "_webhook", mutant)


def writes_without_looking_at_the_version(patch: Patch) -> None:
    original = ShardedTable.write

    async def mutant(store: ShardedTable, job_id: str, *operations: Operation) -> list[str]:
        blind = [
            replace(one, verb="upsert") if one.verb in ("replace", "merge") else one for one in operations
        ]
        return await original(store, job_id, *blind)

    patch.setattr(ShardedTable, "write", mutant)


def stalled_submissions_are_left_alone(patch: Patch) -> None:
    async def mutant(ports: Ports, job_id: str) -> None:
        return None

    patch.setattr(shared.lifecycle.cluster_pass, "repeat", mutant)


def no_safety_net_of_delivery(patch: Patch) -> None:
    async def mutant(ports: Ports, events: Any) -> int:
        return 0

    patch.setattr(shared.lifecycle.sweeper, "deliver_due", mutant)


def receipt_outside_the_outbox(patch: Patch) -> None:
    original = shared.core.notify.events.notice_of

    def mutant(job: Job, *args: Any, **named: Any) -> Notice | None:
        notice = original(job, *args, **named)
        if notice is None:
            return None
        others = tuple(one for one in notice.deliveries if one.url != RECEIPT)
        return notice.model_copy(update={"deliveries": others})

    patch.setattr(shared.lifecycle.transition, "notice_of", mutant)
    patch.setattr(shared.intake.accept, "notice_of", mutant)


def cancel_ends_a_job_that_is_being_submitted(patch: Patch) -> None:
    original = shared.lifecycle.transition.note

    def mutant(ports: Ports, stored: Stored, **changes: Any) -> Change:
        if stored.job.state is JobState.SUBMITTING:
            return shared.lifecycle.transition.move(
                ports, stored, JobState.CANCELLED, cancel=True, reason=Reason.TERMINATED
            )
        return original(ports, stored, **changes)

    patch.setattr(shared.lifecycle.carry_out, "note", mutant)


def a_lost_answer_of_the_cluster_is_a_conflict(patch: Patch) -> None:
    original = MemoryEngine.submit

    async def mutant(engine: MemoryEngine, order: Order) -> None:
        if order.target.name in engine.tokens:
            raise Conflict(f"the name {order.target.name} is taken")
        await original(engine, order)

    patch.setattr(MemoryEngine, "submit", mutant)


def a_refused_group_counts_as_written(patch: Patch) -> None:
    original = GroupCommit._transact

    async def mutant(group: GroupCommit, writes: Any) -> Any:
        outcomes = await original(group, writes)
        return [["0"] * 9 if isinstance(one, Refused) else one for one in outcomes]

    patch.setattr(GroupCommit, "_transact", mutant)


def removed_before_it_is_archived(patch: Patch) -> None:
    original = shared.lifecycle.archive._batch

    async def mutant(ports: Ports, shard: int, due: list[str]) -> int:
        late: list[Any] = []

        class Later:
            async def put(self, *lines: Any) -> None:
                late.append(lines)

        moved = await original(replace(ports, archive=Later()), shard, due)  # type: ignore[arg-type]
        for lines in late:
            await ports.archive.put(*lines)
        return moved

    patch.setattr(shared.lifecycle.archive, "_batch", mutant)


def no_tombstone(patch: Patch) -> None:
    original = rows.tombstone_row

    def mutant(job: Job, *args: Any) -> Any:
        return {**original(job, *args), "RowKey": f"t|{job.id}"}

    async def write(store: ShardedTable, job_id: str, *operations: Operation) -> list[str]:
        grave = operations[0].row["RowKey"]
        if grave.startswith("t|"):
            removed = Operation("delete", {**operations[0].row, "RowKey": f"j|{job_id}"}, operations[0].etag)
            operations = (removed, *operations[1:])
        return await written(store, job_id, *operations)

    written = ShardedTable.write
    patch.setattr(rows, "tombstone_row", mutant)
    patch.setattr(ShardedTable, "write", write)


def archived_although_the_cluster_kept_it(patch: Patch) -> None:
    async def mutant(ports: Ports, result: Any) -> Any:
        await forgotten(ports, result)
        return result

    forgotten = shared.lifecycle.archive.forget
    patch.setattr(shared.lifecycle.archive, "forget", mutant)


def a_wait_outlives_its_job(patch: Patch) -> None:
    original = Job.move

    def mutant(job: Job, to: JobState, **changes: Any) -> Any:
        return original(job, to, **{**changes, "waiting": changes.get("waiting") or job.waiting})

    patch.setattr(Job, "move", mutant)


def a_wait_is_written_by_every_pass(patch: Patch) -> None:
    def mutant(ports: Ports, job: Job, why: Why | None) -> Waiting | None:
        return Waiting(word=why.word, text=why.text, since=ports.clock()) if why else None

    patch.setattr(shared.lifecycle.observe, "waiting", mutant)
    patch.setattr(shared.lifecycle.cluster_pass, "waits_anew", lambda *args: True)


def a_wait_that_a_crash_left_unsaid_is_not_looked_for(patch: Patch) -> None:
    """The line in STATUS keeps the number of the state, so a new line counts as an old one."""
    patch.setattr(Job, "line", Job.stage)


def a_job_that_runs_is_not_looked_at_again(patch: Patch) -> None:
    patch.setattr(shared.lifecycle.cluster_pass, "starts_later", lambda *args: False)


def another_start_is_the_same_run(patch: Patch) -> None:
    patch.setattr(shared.lifecycle.observe, "_began_again", lambda *args: False)


def why_a_job_failed_is_read_after_its_end_was_told(patch: Patch) -> None:
    original = shared.lifecycle.transition._notice

    def mutant(ports: Ports, transition: Transition) -> Notice | None:
        return original(ports, replace(transition, after=_without_last_error(transition.after)))

    patch.setattr(shared.lifecycle.transition, "_notice", mutant)


def _without_last_error(job: Job) -> Job:
    return job.model_copy(update={"last_error": ""})


def a_job_that_waits_is_submitted_like_any_other(patch: Patch) -> None:
    patch.setattr(Job, "unmet", property(lambda job: ()))


def any_end_counts_as_success(patch: Patch) -> None:
    original = shared.lifecycle.waiting.dependents._fates_of

    async def mutant(ports: Ports, job_ids: Any) -> Any:
        fates = await original(ports, job_ids)
        return fates._replace(ends=dict.fromkeys(fates.ends, JobState.SUCCEEDED))

    patch.setattr(shared.lifecycle.waiting.dependents, "_fates_of", mutant)


def what_this_pass_does_not_hold_has_ended(patch: Patch) -> None:
    async def mutant(ports: Ports, job_ids: Any) -> Any:
        records = [await ports.ledger.get(one) for one in job_ids]
        return Fates({one.job.id: one.job.state for one in records if one is not None})

    patch.setattr(shared.lifecycle.waiting.dependents, "_fates_of", mutant)


def what_has_not_ended_counts_as_absent(patch: Patch) -> None:
    original = shared.lifecycle.waiting.dependents._fates_of

    async def mutant(ports: Ports, job_ids: Any) -> Any:
        fates = await original(ports, job_ids)
        return fates._replace(absent=frozenset(job_ids) - fates.ends.keys())

    patch.setattr(shared.lifecycle.waiting.dependents, "_fates_of", mutant)


def any_call(name: str) -> bool:
    """By default, faults are tried at every call."""
    return True


def archiving(name: str) -> bool:
    """Whether the call removes a job from the cluster or the table."""
    return name in ("engine.forget", "archive.put")


MUTANTS: tuple[Callable[[Patch], None], ...] = (
    acknowledge_first,
    another_engine_name_each_time,
    a_new_job_for_every_arrival,
    delivered_before_the_post,
    event_outside_the_record,
    a_new_event_id_for_every_try,
    a_new_body_for_every_try,
    writes_without_looking_at_the_version,
    stalled_submissions_are_left_alone,
    no_safety_net_of_delivery,
    receipt_outside_the_outbox,
    a_lost_answer_of_the_cluster_is_a_conflict,
    a_refused_group_counts_as_written,
)
#: mutants that one story catches
OF_ONE_STORY = (
    (cancel_ends_a_job_that_is_being_submitted, CANCELLED, any_call),
    (why_a_job_failed_is_read_after_its_end_was_told, FAILED, any_call),
    (a_job_that_runs_is_not_looked_at_again, REQUEUED, any_call),
    (another_start_is_the_same_run, REQUEUED, any_call),
    (a_wait_outlives_its_job, WAITING, any_call),
    (a_wait_is_written_by_every_pass, WAITING, any_call),
    (a_wait_that_a_crash_left_unsaid_is_not_looked_for, WAITING, any_call),
    (a_job_that_waits_is_submitted_like_any_other, DEPENDENT, any_call),
    (any_end_counts_as_success, BROKEN, any_call),
    (what_this_pass_does_not_hold_has_ended, TWICE, any_call),
    (what_has_not_ended_counts_as_absent, TWICE, any_call),
    (removed_before_it_is_archived, ARCHIVED, archiving),
    (no_tombstone, ARCHIVED, archiving),
    (archived_although_the_cluster_kept_it, ARCHIVED, archiving),
)


@pytest.mark.parametrize("mutant", every_few(MUTANTS, 0), ids=lambda mutant: mutant.__name__)
async def test_the_harness_catches(mutant: Callable[[Patch], None], monkeypatch: Patch) -> None:
    mutant(monkeypatch)
    assert await _caught(STORIES, any_call), "no single fault in any story shows this mutant"


@pytest.mark.parametrize(
    ("mutant", "story", "where"), OF_ONE_STORY, ids=[mutant.__name__ for mutant, _, _ in OF_ONE_STORY]
)
async def test_the_harness_catches_in_the_story(
    mutant: Callable[[Patch], None], story: Story, where: Callable[[str], bool], monkeypatch: Patch
) -> None:
    mutant(monkeypatch)
    assert await _caught([story], where), f"no single fault in {story.name} shows this mutant"


async def _caught(stories: Iterable[Story], where: Callable[[str], bool]) -> bool:
    """Whether some single fault breaks an invariant; a crash of the harness does not count."""
    for story in stories:
        whole = await play(story, {})
        if whole.violations:
            return True
        calls = [n for n, name in enumerate(whole.chaos.calls, 1) if where(name)]
        for fault, n in itertools.product(Fault, calls):
            if (await play(story, {n: fault})).violations:
                return True
    return False
