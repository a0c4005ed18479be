"""Each part of the protocol with Azure Batch is needed: without it, some schedule breaks an invariant."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

import shared.engines.batch.attempts
import shared.engines.batch.pool
import shared.lifecycle.dispatch
from shared.core.engine import Observation
from shared.core.errors import Conflict
from shared.core.job import JobState, Reason, Target
from shared.engines.batch.attempts import Attempts
from shared.engines.batch.job.request import queue_submission
from shared.engines.batch.pool import Pool
from shared.engines.batch.scaling import Demand, formula
from shared.engines.batch.tasks import Listed, Tasks
from shared.engines.batch.translation import observation
from shared.engines.batch.wire.client import Answer
from tests.breadth import every_few, size
from tests.crash.batch.nodes import Cut
from tests.crash.batch.run import play
from tests.crash.batch.test_batch import ABSENCES, GANG
from tests.crash.batch.wire import Wire
from tests.crash.common_mutants import earlier_attempts_left_alone, no_claim_on_the_nodes
from tests.crash.stories import ARCHIVED, CANCELLED, STORIES

#: They show what the other tests of this folder notice, and change with those.
pytestmark = pytest.mark.thorough

Patch = pytest.MonkeyPatch
_ATTEMPTS = shared.engines.batch.attempts


def a_taken_name_is_an_error(patch: Patch) -> None:
    original = Tasks.add

    async def mutant(self: Tasks, submission: Any) -> bool:
        if not await original(self, submission):
            raise Conflict("it is there")
        return True

    patch.setattr(Tasks, "add", mutant)


def a_name_of_its_own_each_time(patch: Patch) -> None:
    original, names = Tasks.add, iter(range(1_000_000))

    async def mutant(self: Tasks, submission: Any) -> bool:
        body = {**submission.body, "id": f"{submission.body['id']}x{next(names)}"}
        return await original(self, replace(submission, body=body))

    patch.setattr(Tasks, "add", mutant)


def any_answer_is_acceptance(patch: Patch) -> None:
    async def mutant(self: Tasks, submission: Any) -> bool:
        accepted = ("TaskExists", "JobNotFound")
        answer = await self._client.call("POST", submission.path, submission.body, accept=accepted)
        if answer.code == "JobNotFound":
            queue = queue_submission(self._cluster, submission.path.split("/")[2])
            await self._client.call("POST", queue.path, queue.body, accept=("JobExists",))
            answer = await self._client.call("POST", submission.path, submission.body, accept=accepted)
        return answer.code != "TaskExists"

    patch.setattr(Tasks, "add", mutant)


def any_page_is_a_task(patch: Patch) -> None:
    patch.setattr(Answer, "document", Answer.body)


def no_batch_job_is_made(patch: Patch) -> None:
    async def mutant(self: Tasks, submission: Any) -> bool:
        answer = await self._client.call("POST", submission.path, submission.body, accept=("TaskExists",))
        return not answer.code

    patch.setattr(Tasks, "add", mutant)


def a_batch_job_that_exists_is_an_error(patch: Patch) -> None:
    async def mutant(self: Tasks, submission: Any) -> bool:
        queue = queue_submission(self._cluster, submission.path.split("/")[2])
        await self._client.call("POST", queue.path, queue.body)
        answer = await self._client.call("POST", submission.path, submission.body, accept=("TaskExists",))
        return not answer.code

    patch.setattr(Tasks, "add", mutant)


def what_lists_miss_is_unknown(patch: Patch) -> None:
    async def listed(self: Tasks, since: datetime | None = None) -> AsyncIterator[Listed]:
        original = _LISTED(self, since + timedelta(days=1) if since else None)
        async for one in original:
            yield one

    async def find(self: Tasks, target: Target) -> Listed | None:
        return None

    patch.setattr(Tasks, "listed", listed)
    patch.setattr(Tasks, "find", find)


def a_task_that_waits_again_has_failed(patch: Patch) -> None:
    def mutant(task: Any, record: Any = None) -> Observation:
        if (task.get("executionInfo") or {}).get("requeueCount"):
            return Observation(JobState.FAILED, reason=Reason.PREEMPTED)
        return observation(task, record)

    patch.setattr(_ATTEMPTS, "observation", mutant)


def cancelled_without_the_service(patch: Patch) -> None:
    async def mutant(self: Tasks, task: Listed) -> None:
        return None

    patch.setattr(Tasks, "terminate", mutant)


def the_pool_is_never_scaled(patch: Patch) -> None:
    async def mutant(self: Pool, demand: Demand) -> None:
        return None

    patch.setattr(Pool, "scale", mutant)


def a_formula_is_written_once(patch: Patch) -> None:
    original = Pool.scale

    async def mutant(self: Pool, demand: Demand) -> None:
        if self._written == float("-inf"):
            await original(self, demand)

    patch.setattr(Pool, "scale", mutant)


def nodes_of_gangs_are_not_counted(patch: Patch) -> None:
    def mutant(cluster: Any, needed: Demand) -> str:
        return formula(cluster, Demand(single_nodes=needed.total))

    patch.setattr(shared.engines.batch.pool, "formula", mutant)


def tasks_of_archived_jobs_stay(patch: Patch) -> None:
    async def mutant(self: Tasks, task: Listed) -> None:
        return None

    patch.setattr(Tasks, "delete", mutant)


def records_of_archived_jobs_stay(patch: Patch) -> None:
    async def mutant(self: Attempts, targets: Any) -> bool:
        return True

    patch.setattr(Attempts, "_clear", mutant)


#: The request that adds the first task, after its Batch job; the requests with faults.
_ACCEPTED, _CALLS = 5, 9
#: The faults that reveal most of the mutants come first.
_TELLING = (Wire.LOST, Wire.GARBAGE)
_LISTED = Tasks.listed
MUTANTS: tuple[Callable[[Patch], None], ...] = (
    a_taken_name_is_an_error,
    a_name_of_its_own_each_time,
    any_answer_is_acceptance,
    any_page_is_a_task,
    no_batch_job_is_made,
    a_batch_job_that_exists_is_an_error,
    what_lists_miss_is_unknown,
    a_task_that_waits_again_has_failed,
    cancelled_without_the_service,
    the_pool_is_never_scaled,
    a_formula_is_written_once,
    nodes_of_gangs_are_not_counted,
    tasks_of_archived_jobs_stay,
    records_of_archived_jobs_stay,
    earlier_attempts_left_alone,
    no_claim_on_the_nodes,
)


async def test_without_a_mutant_nothing_is_caught() -> None:
    assert await _caught(fenced=True, calls=size(_CALLS, 1)) == ""


@pytest.mark.parametrize("mutant", every_few(MUTANTS, 0), ids=lambda mutant: mutant.__name__)
async def test_the_harness_catches(mutant: Callable[[Patch], None], monkeypatch: Patch) -> None:
    mutant(monkeypatch)
    assert await _caught(fenced=mutant is not no_claim_on_the_nodes), "no schedule shows this mutant"


async def _caught(*, fenced: bool, calls: int = _CALLS) -> str:
    """The violations of the first schedule that has some."""
    one = STORIES[0]
    for story in (one, GANG, CANCELLED, ARCHIVED):
        if result := (await play(story, fenced=fenced)).deviations():
            return f"{story.name}: {result}"
    for cut in Cut:
        for lives in (1, 40):
            if result := (await play(one, cut=cut, lives=lives, fenced=fenced)).violations:
                return f"{cut} for {lives}: {result}"
    for absence in ABSENCES:
        if result := (await play(one, absence=absence, fenced=fenced)).deviations():
            return f"pool deleted in {absence}: {result}"
    for wire in (*_TELLING, *(one for one in Wire if one not in _TELLING)):
        for n in range(1, calls + 1):
            for faults in ({n: wire}, {_ACCEPTED: Wire.LOST, n: wire}):
                if result := (await play(one, wire=faults, fenced=fenced)).violations:
                    return f"{faults}: {result}"
    return ""
