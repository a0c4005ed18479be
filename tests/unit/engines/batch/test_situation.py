"""What becomes of tasks whose Batch job was disabled, terminated or deleted, and what they have of a node."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from shared.core.engine import Observation
from shared.core.errors import NotFound
from shared.core.facts import Allotted
from shared.core.job import JobState, Reason
from shared.engines.node.claim import Claim
from shared.engines.node.store import Directory
from shared.engines.proofs import Proofs
from tests.unit.engines.batch.account import error
from tests.unit.engines.batch.service import Service, engine, order

NAME = "digits-abc-1"
_ENDED = {"category": "usererror", "code": "TaskEnded", "message": "Task Was Ended by User Request"}


async def observed(service: Service, task: str = "active", **options: Any) -> Observation:
    """What a pass says of the one task, which is in that state by then."""
    async with engine(service, **options) as batch:
        await batch.submit(order())
        if task == "ended":
            service.end(NAME, failureInfo=_ENDED, result="failure")
        else:
            service.task(NAME)["state"] = task
        return (await batch.status("gpu", [order().target]))[NAME]


@pytest.mark.parametrize("state", ["disabled", "disabling"])
async def test_a_task_of_a_batch_job_that_was_disabled_says_so(state: str) -> None:
    end = await observed(Service(states={"gpu-normal": state}))

    assert end.state is JobState.QUEUED
    assert end.why is not None
    assert end.why.word == "BatchJobDisabled"
    assert "`az batch job enable --job-id gpu-normal`" in end.why.text


@pytest.mark.parametrize("state", ["terminating", "completed", "deleting"])
async def test_a_task_that_waits_in_a_batch_job_that_was_terminated_gives_way_to_another_attempt(
    state: str,
) -> None:
    end = await observed(Service(states={"gpu-normal": state}))

    assert (end.state, end.reason, end.unstarted) == (JobState.FAILED, Reason.INFRASTRUCTURE, True)
    assert "terminated" in end.message


@pytest.mark.parametrize(
    ("state", "expected"), [("completed", JobState.FAILED), ("active", JobState.CANCELLED)]
)
async def test_a_task_that_ended_with_its_batch_job_was_not_cancelled(state: str, expected: JobState) -> None:
    end = await observed(Service(states={"gpu-normal": state}), "ended")

    assert end.state is expected
    assert (end.reason is Reason.INFRASTRUCTURE) is (expected is JobState.FAILED)


async def test_a_task_that_runs_in_a_batch_job_that_is_being_terminated_runs_until_it_ends() -> None:
    assert (
        await observed(Service(states={"gpu-normal": "terminating"}), "running")
    ).state is JobState.RUNNING


async def test_states_of_batch_jobs_that_cannot_be_read_decide_nothing() -> None:
    service = Service(states={"gpu-normal": "completed"}, fail={"GET /jobs": (403, error("Forbidden"))})

    assert (await observed(service)).state is JobState.QUEUED


# A task that someone deleted

_END = {"state": "ended", "final": True, "reason": "user", "message": "Job failed", "exitCode": 3}


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (_END, (JobState.FAILED, Reason.USER, 3)),
        ({**_END, "reason": "", "message": "", "exitCode": 0}, (JobState.SUCCEEDED, None, 0)),
        ({**_END, "reason": "terminated", "final": False}, (JobState.FAILED, Reason.INFRASTRUCTURE, 3)),
        ({"state": "running", "final": False}, None),
        (None, None),
    ],
)
async def test_the_record_says_how_a_run_ended_whose_task_someone_deleted(
    tmp_path: Path, record: dict[str, Any] | None, expected: tuple[JobState, Reason | None, int] | None
) -> None:
    service, proofs, target = Service(), Proofs(("the deployment's",)), order().target
    options: dict[str, Any] = {"shared": "/shared/slipway", "reads": {"/shared": str(tmp_path)}}
    if record is not None:
        store = Directory(tmp_path / "slipway/attempts/exp" / NAME, proofs.proof_of(target.token))
        store.prepare()
        claim = Claim(store, target.token, "s1")
        claim.take(["7", "0"])
        claim.record(record)
    async with engine(service, proofs=proofs, **options) as batch:
        await batch.submit(order())
        del service.jobs["gpu-normal"]
        end = (await batch.status("gpu", [target])).get(NAME)
        if expected is None:
            assert end is None
            with pytest.raises(NotFound):
                await batch.see(target)
            return
        read = await batch.see(target)

    assert end is not None
    assert [(one.state, one.reason, one.exit_code) for one in (end, read)] == [expected] * 2


# What a task has of a node that others share


@pytest.mark.parametrize(
    ("slots", "expected"), [(1, None), (4, Allotted(1, 0.25)), (3, Allotted(2, round(1 / 3, 9)))]
)
async def test_a_task_has_its_slot_of_the_node_also_if_that_was_not_known_when_it_came(
    slots: int, expected: Allotted | None
) -> None:
    service = Service(fail={"GET /pools/t4": (500, error("InternalError"))})
    service.pool |= {"taskSlotsPerNode": slots}
    now = [0.0]
    async with engine(service, now, gpus=4) as batch:
        assert (await batch.facts("gpu", {})).allotted == Allotted(None, None)
        await batch.submit(order())
        service.fail.clear()
        now[0] += 60.0
        seen_as = (await batch.status("gpu", [order().target]))[NAME].allotted

    assert seen_as == (expected and seen_as and expected._replace(part=seen_as.part))
    assert seen_as is None or expected is None or seen_as.part == pytest.approx(expected.part)
