"""Archives whose bytes do not have their digest: a node refuses them, and the app deletes them."""

from __future__ import annotations

import pytest

from shared.core.job import Job, JobState, Reason
from tests.doubles.archives import FOLDER, digest, packed
from tests.unit.lifecycle.test_outages import JOB
from tests.unit.world import World

_TRUE = packed(*FOLDER)


async def _refused(world: World, content: bytes) -> Job:
    """The job after the report of its node that storage has other bytes; storage has `content`."""
    blob = f"all/{digest(_TRUE)}"
    await world.snapshots.put(blob, content)
    await world.message({**JOB, "code": {"sha256": digest(_TRUE)}})
    (attempt,) = world.engine.started
    how = {"reason": Reason.INFRASTRUCTURE, "is_other_code": True, "message": "not the code"}
    world.engine.set_state(attempt, JobState.FAILED, **how)
    await world.make_pass()
    return world.ledger.jobs[0]


async def test_other_bytes_are_deleted_and_the_job_says_to_send_it_again(world: World) -> None:
    job = await _refused(world, b"other bytes")

    assert (job.state, job.reason) == (JobState.FAILED, Reason.PREPARATION)
    assert "has been deleted: send the job again" in job.message
    assert f"all/{digest(_TRUE)}" not in world.snapshots.data


async def test_what_grew_meanwhile_is_deleted_without_being_read(world: World) -> None:
    blob = f"all/{digest(_TRUE)}"
    await world.snapshots.put(blob, _TRUE)
    await world.message({**JOB, "code": {"sha256": digest(_TRUE)}})
    assert await world.snapshots.delete(blob, world.snapshots.shown[blob].etag)
    await world.snapshots.put(blob, _TRUE + b"x" * 1_000_000)
    (attempt,) = world.engine.started
    world.engine.set_state(attempt, JobState.FAILED, reason=Reason.INFRASTRUCTURE, is_other_code=True)
    await world.make_pass()

    assert blob not in world.snapshots.data
    assert "read" not in [what for what, _ in world.snapshots.requests]


async def test_the_word_of_a_node_deletes_nothing(world: World) -> None:
    job = await _refused(world, _TRUE)

    assert job.state is JobState.ACCEPTED, "another attempt"
    assert world.snapshots.data[f"all/{digest(_TRUE)}"] == _TRUE


@pytest.mark.parametrize("state", [JobState.RUNNING, JobState.SUCCEEDED])
async def test_nothing_is_read_for_other_jobs(world: World, state: JobState) -> None:
    await world.message(JOB)
    world.engine.set_state(world.engine.started[-1], state)
    await world.make_pass()

    assert [what for what, _ in world.snapshots.requests if what in ("listed", "read")] == []
