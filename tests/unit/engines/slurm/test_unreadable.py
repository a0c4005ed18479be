"""Jobs that slurmrestd lists in a form that cannot be read: they hide no other, and decide nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from shared.core.errors import Busy, EngineError, NotFound
from shared.core.job import JobState
from tests.breadth import size
from tests.crash.slurm.slurmctld import Job, shown
from tests.crash.slurm.slurmrestd import OLD
from tests.unit.engines.slurm.test_engine import BOTH, Rig, order, slurm_rig, write_record

#: The most telling first.
_VALUES: tuple[Any, ...] = (["x", 5], ["x"], 10**18, {"x": 1}, "word", None, 10**400, [], -1, [["x"]])
#: What says whose a job is: texts in these make it another one.
_OWN = ("comment", "name", "user_name")
_PLACES = sorted(shown(Job(1, "n", "", {}, 0.0), old=True))
BAD, GOOD = order("bad"), order("good")


async def _start(rig: Rig) -> None:
    """Have two jobs that run, with the numbers 1 and 2."""
    for one in (BAD, GOOD):
        await rig.engine.submit(one)
    for number in (1, 2):
        rig.model.release(number)
    rig.model.advance(lambda name: False)
    assert [job.state for job in rig.model.jobs.values()] == ["RUNNING", "RUNNING"]


def _rows(rig: Rig) -> Iterator[Any]:
    """The row of the bad job with other values, and other things in its place."""
    row = shown(rig.model.jobs[1], old=rig.server.version == OLD)
    for value in _VALUES[: size(len(_VALUES), 5)]:
        places = [place for place in _PLACES if place not in _OWN or isinstance(value, list)]
        yield from ({**row, place: value} for place in places)
        yield value


@pytest.mark.long
@BOTH
async def test_a_job_that_cannot_be_read_hides_no_other_and_has_not_ended(version: str) -> None:
    async with slurm_rig(version) as rig:
        await _start(rig)
        for row in [*_rows(rig)]:
            rig.server.damaged = {1: row}
            rig.later(100)  # beyond the time for which states alone are enough

            states = await rig.status(BAD, GOOD)

            assert states["good"] is JobState.RUNNING, row
            assert not states.get("bad", JobState.RUNNING).terminal, row
            assert (await rig.engine.at_work("gpu"))["good"] == GOOD.target.token, row
            assert (await rig.engine.see(GOOD.target)).state is JobState.RUNNING, row
            try:
                assert not (await rig.engine.see(BAD.target)).state.terminal, row
            except NotFound as error:
                pytest.fail(f"{row}: {error}")
            except EngineError:
                continue


@pytest.mark.parametrize(
    "row", [{"name": "bad", "user_name": "u", "job_id": None}, {"name": ["x"], "user_name": "u"}, 5, None]
)
async def test_a_job_that_cannot_be_read_is_neither_submitted_again_nor_done_with(row: Any) -> None:
    async with slurm_rig() as rig:
        await _start(rig)
        rig.server.damaged = {1: row}

        for act in (rig.engine.submit(BAD), rig.engine.see(BAD.target), rig.engine.cancel(BAD.target)):
            with pytest.raises(Busy, match="cannot be read"):
                await act
        assert list(rig.model.jobs) == [1, 2]

        rig.server.damaged = {}
        await rig.engine.submit(BAD)
        await rig.engine.cancel(BAD.target)
        assert [job.state for job in rig.model.jobs.values()] == ["CANCELLED", "RUNNING"]


@pytest.mark.parametrize("row", [{"name": ["x"], "user_name": "u"}, None])
@BOTH
async def test_no_copy_is_released_or_cancelled_while_another_may_run_without_a_name(
    version: str, row: Any
) -> None:
    async with slurm_rig(version) as rig:
        await _start(rig)
        twin = rig.model.jobs[1]
        number = rig.model.submit(twin.name, twin.comment, twin.environment, held=True)
        rig.server.damaged = {1: row}
        rig.later()

        assert await rig.status(BAD, GOOD) == {"bad": JobState.QUEUED, "good": JobState.RUNNING}
        with pytest.raises(Busy, match="cannot be read"):
            await rig.engine.cancel(BAD.target)
        assert rig.model.jobs[number].held

        rig.server.damaged = {}
        rig.later(100)
        assert await rig.status(BAD, GOOD) == {"bad": JobState.RUNNING, "good": JobState.RUNNING}
        assert [job.state for job in rig.model.jobs.values()] == ["RUNNING", "RUNNING", "CANCELLED"]


async def test_the_log_says_once_what_follows_from_jobs_that_cannot_be_read(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with slurm_rig() as rig:
        await _start(rig)

        async def lines(damaged: dict[int, Any]) -> list[str]:
            caplog.clear()
            rig.server.damaged = damaged
            for _ in range(2):
                await rig.status(GOOD)
            return [one.getMessage() for one in caplog.records if one.name == "shared.engines.slurm.jobs"]

        assert await lines({}) == []
        (nameless,) = await lines({1: None})
        (named,) = await lines({1: {"name": "bad\n", "user_name": "u"}})
        (over,) = await lines({})

    assert "no held job there is released" in nameless
    assert "Slurm's list of gpu has jobs that cannot be read: ['bad" in named
    assert "\n" not in named
    assert over == "Slurm's list of gpu can be read again"


async def test_a_job_of_another_user_that_cannot_be_read_says_nothing_of_ours() -> None:
    async with slurm_rig() as rig:
        await _start(rig)
        rig.server.damaged = {1: {"user_name": "eve", "name": ["x"]}}

        with pytest.raises(NotFound):
            await rig.engine.see(order("another").target)
        await rig.engine.cancel(order("another").target)


async def test_a_recorded_end_counts_beside_a_job_whose_name_cannot_be_read(tmp_path: Path) -> None:
    async with slurm_rig(options={"reads": {"/shared": str(tmp_path)}}) as rig:
        await _start(rig)
        done = order("done")
        write_record(tmp_path, done, '{"state": "ended", "final": true, "reason": null, "exitCode": 0}')
        rig.server.damaged = {1: None}

        assert await rig.status(BAD, GOOD, done) == {"good": JobState.RUNNING, "done": JobState.SUCCEEDED}


@BOTH
async def test_a_job_in_an_unknown_state_is_at_work_and_can_be_cancelled(version: str) -> None:
    async with slurm_rig(version) as rig:
        await _start(rig)
        rig.model.jobs[1].state = "DREAMING"

        assert (await rig.engine.at_work("gpu")).keys() == {"bad", "good"}
        await rig.engine.cancel(BAD.target)

        assert rig.model.jobs[1].state == "CANCELLED"
