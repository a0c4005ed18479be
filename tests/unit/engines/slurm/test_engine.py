"""The engine at the wire: what it believes of slurmrestd's answers, and how often it asks."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from shared.core.engine import Order
from shared.core.errors import Conflict, Misconfigured, NotFound, Transient
from shared.core.facts import Allotted
from shared.core.job import JobState, Reason, Target
from shared.engines.shared_records import Records
from shared.engines.slurm.cluster import SlurmCluster
from shared.engines.slurm.engine import SlurmEngine
from shared.engines.slurm.wire.dialect import comment
from shared.engines.slurm.wire.key import SigningKey
from tests.crash.slurm.slurmctld import Slurmctld
from tests.crash.slurm.slurmrestd import NEW, OLD, Slurmrestd, Wire

BOTH = pytest.mark.parametrize("version", [OLD, NEW])


@dataclass
class Rig:
    """A model of Slurm, a server over it, and an engine that talks to it."""

    server: Slurmrestd
    engine: SlurmEngine
    time: list[float] = field(default_factory=lambda: [1000.0])

    @property
    def model(self) -> Slurmctld:
        return self.server.model

    def later(self, seconds: float = 10.0) -> None:
        self.time[0] += seconds

    async def status(self, *orders: Order) -> dict[str, JobState]:
        observation = await self.engine.status("gpu", [order.target for order in orders])
        return {name: one.state for name, one in observation.items()}


@asynccontextmanager
async def slurm_rig(
    version: str = OLD, wire: dict[int, Wire] | None = None, options: dict[str, Any] | None = None
) -> AsyncIterator[Rig]:
    time = [1000.0]
    server = Slurmrestd(Slurmctld(lambda: time[0]), wire, version=version)
    async with server.running() as url:
        cluster = SlurmCluster("gpu", **{"url": url, "user": "u", "shared": "/shared", **(options or {})})
        engine = SlurmEngine({"gpu": cluster}, {"gpu": SigningKey(b"k" * 32)}, clock=lambda: time[0])
        try:
            yield Rig(server, engine, time)
        finally:
            await engine.close()


def order(name: str = "n", token: str = "t.1", **properties: Any) -> Order:
    target = Target(engine="slurm", cluster="gpu", experiment="e", name=name, token=token)
    command = {"customToolkitSettings": {"commandLine": "true"}}
    return Order(
        target, {"properties": {"nodeCount": 1, "stdOutErrPathPrefix": "/logs", **command, **properties}}
    )


@BOTH
async def test_a_job_is_held_until_the_controller_cannot_forget_it(version: str) -> None:
    async with slurm_rig(version, options={"gpus": 2}) as rig:
        job_order = order()
        await rig.engine.submit(job_order)
        assert await rig.status(job_order) == {"n": JobState.QUEUED}
        assert [job.held for job in rig.model.jobs.values()] == [True]

        rig.later()
        await rig.status(job_order)

        assert [job.held for job in rig.model.jobs.values()] == [False]


async def test_a_job_is_not_held_for_as_long_as_the_clock_of_slurm_is_ahead() -> None:
    async with slurm_rig(NEW) as rig:
        job_order = order()
        await rig.engine.submit(job_order)
        rig.later(-86_400.0)
        await rig.status(job_order)
        assert [job.held for job in rig.model.jobs.values()] == [True], "it may still be forgotten"

        rig.later()
        await rig.status(job_order)

        assert [job.held for job in rig.model.jobs.values()] == [False]


@BOTH
async def test_only_fields_that_the_dialect_knows_are_sent(version: str) -> None:
    options = {
        "gpus": 2,
        "partition": "p",
        "account": "a",
        "preemptible": True,
        "priorities": {"low": "spot"},
    }
    async with slurm_rig(version, options=options) as rig:
        await rig.engine.submit(order(schedulingPriority="low"))
        assert len(rig.model.jobs) == 1


async def test_a_warning_other_than_held_is_a_broken_contract() -> None:
    async with slurm_rig(NEW) as rig:
        rig.server.warns = ["gres: ignoring unknown key"]
        with pytest.raises(Misconfigured, match="ignoring unknown key"):
            await rig.engine.submit(order())
        assert [job.state for job in rig.model.jobs.values()] == ["CANCELLED"]


@BOTH
async def test_a_pass_asks_once_however_many_jobs_there_are(version: str) -> None:
    async with slurm_rig(version) as rig:
        orders = [order(f"n{number}") for number in range(40)]
        for job_order in orders:
            await rig.engine.submit(job_order)
        rig.later()
        await rig.status(*orders)
        await rig.status(*orders)
        before = len(rig.server.calls)

        assert len(await rig.status(*orders)) == 40

        paths = ["jobs/"] if version == OLD else ["jobs/state/"]
        assert rig.server.calls[before:] == [f"GET /slurm/{version}/{path}" for path in paths]


async def test_states_alone_are_enough_until_a_job_ends() -> None:
    async with slurm_rig(NEW) as rig:
        job_order = order()
        await rig.engine.submit(job_order)
        rig.later()
        await rig.status(job_order)
        await rig.status(job_order)
        rig.model.advance(lambda name: False)
        assert await rig.status(job_order) == {"n": JobState.RUNNING}
        rig.model.advance(lambda name: False)
        assert await rig.status(job_order) == {"n": JobState.SUCCEEDED}


async def test_a_job_that_is_suspended_says_so_in_the_next_pass_and_then_that_it_goes_on() -> None:
    async with slurm_rig(NEW) as rig:
        job_order = order()
        await rig.engine.submit(job_order)
        rig.later()
        await rig.status(job_order)
        rig.model.advance(lambda name: False)
        assert await rig.status(job_order) == {"n": JobState.RUNNING}
        (job,) = rig.model.jobs.values()
        for state, word in (("SUSPENDED", "Suspended"), ("RUNNING", "")):
            job.state = state
            assert await rig.status(job_order) == {"n": JobState.RUNNING}
            assert await _waits(rig, job_order) == word


async def test_what_a_job_waits_for_is_looked_up_once_a_minute() -> None:
    async with slurm_rig(NEW) as rig:
        job_order = order()
        await rig.engine.submit(job_order)
        rig.later()
        await rig.status(job_order)
        await rig.status(job_order)
        (job,) = rig.model.jobs.values()
        job.reason = "PartitionDown"

        before = len(rig.server.calls)
        assert await _waits(rig, job_order) == ""
        assert rig.server.calls[before:] == [f"GET /slurm/{NEW}/jobs/state/"]

        rig.later(61)
        assert await _waits(rig, job_order) == "PartitionDown"
        before = len(rig.server.calls)
        assert await _waits(rig, job_order) == "PartitionDown"
        assert rig.server.calls[before:] == [f"GET /slurm/{NEW}/jobs/state/"]


async def _waits(rig: Rig, job_order: Order) -> str:
    observation = (await rig.engine.status("gpu", [job_order.target]))[job_order.target.name]
    return observation.why.word if observation.why else ""


@BOTH
async def test_a_job_has_the_number_and_the_times_that_slurm_gave_it(version: str) -> None:
    async with slurm_rig(version) as rig:
        job_order = order()
        reports = await rig.engine.submit(job_order)
        assert reports is not None
        assert (reports.state, reports.handle) == (JobState.QUEUED, "1")
        rig.later()
        await rig.status(job_order)
        await rig.status(job_order)
        rig.model.advance(lambda name: False)
        began = rig.time[0]
        rig.later(20)  # the sweeper comes late

        for _ in range(2):
            (observation,) = (await rig.engine.status("gpu", [job_order.target])).values()
            assert (observation.state, observation.handle) == (JobState.RUNNING, "1")
            assert observation.started is not None
            assert observation.started.timestamp() == began


async def test_calls_that_come_together_share_a_list() -> None:
    async with slurm_rig() as rig:
        orders = [order(f"n{number}") for number in range(20)]
        await rig.engine.submit(orders[0])
        before = len(rig.server.calls)

        await asyncio.gather(*(rig.engine.see(orders[0].target) for _ in range(20)))

        assert len(rig.server.calls) - before <= 2


@pytest.mark.parametrize("fault", [Wire.LOST, Wire.TIMEOUT, Wire.GARBAGE], ids=lambda fault: fault.name)
async def test_a_lost_answer_is_transient_and_the_repetition_finds_the_job(fault: Wire) -> None:
    async with slurm_rig(wire={1: fault}) as rig:
        with pytest.raises(Transient):
            await rig.engine.submit(order())
        await rig.engine.submit(order())
        assert len(rig.model.jobs) == 1


async def test_copies_are_cancelled_and_their_end_says_nothing() -> None:
    async with slurm_rig() as rig:
        job_order = order()
        await rig.engine.submit(job_order)
        job = rig.model.jobs[1]
        rig.model.submit("n", job.comment, job.environment, held=True)
        rig.later()
        await rig.status(job_order)
        assert [(one.held, one.state) for one in rig.model.jobs.values()] == [
            (False, "PENDING"),
            (False, "CANCELLED"),
        ]

        del rig.model.jobs[1]

        assert await rig.status(job_order) == {}, "the copy that was cancelled is not the job"


async def test_a_copy_that_no_one_asks_for_goes_after_an_hour() -> None:
    async with slurm_rig() as rig:
        await rig.engine.submit(order("old"))
        job_order = order("new")
        await rig.engine.submit(job_order)
        await rig.status(job_order)
        assert [job.state for job in rig.model.jobs.values()] == ["PENDING", "PENDING"]
        rig.later(3700)
        await rig.status(job_order)
        assert [job.state for job in rig.model.jobs.values()] == ["CANCELLED", "PENDING"]


async def test_a_job_of_someone_else_with_our_name_is_left_alone() -> None:
    async with slurm_rig() as rig:
        rig.model.submit("n", "theirs", {}, held=True)
        job_order = order()
        await rig.engine.submit(job_order)
        rig.later()
        await rig.status(job_order)
        assert rig.model.jobs[1].held
        assert not rig.model.jobs[2].held
        await rig.engine.submit(job_order)
        assert len(rig.model.jobs) == 2


def imitate(rig: Rig, *, held: bool = False) -> int:
    """A job of another user with the name and the comment of our last one, which everyone sees."""
    ours = rig.model.jobs[rig.model.last]
    return rig.model.submit(ours.name, ours.comment, {}, held=held, user="eve")


@BOTH
async def test_a_job_of_another_user_with_our_name_and_mark_is_not_taken_for_ours(
    version: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with slurm_rig(version) as rig:
        job_order = order()
        await rig.engine.submit(job_order)
        theirs = imitate(rig)
        for _ in range(3):
            rig.model.advance(lambda name: False)
        assert rig.model.jobs[theirs].state == "COMPLETED"

        assert await rig.status(job_order) == {"n": JobState.QUEUED}
        rig.later()
        await rig.status(job_order)

        assert [(job.held, job.state) for job in rig.model.jobs.values()] == [
            (False, "PENDING"),
            (False, "COMPLETED"),
        ]
        assert caplog.text.count("belongs to the user 'eve'") == 1, "it is warned of once"


@BOTH
async def test_a_job_of_another_user_is_neither_found_again_nor_released_nor_cancelled(version: str) -> None:
    async with slurm_rig(version, wire={1: Wire.LOST}) as rig:
        job_order = order()
        with pytest.raises(Transient):
            await rig.engine.submit(job_order)
        theirs = [imitate(rig, held=True), imitate(rig)]
        del rig.model.jobs[1]

        await rig.engine.submit(job_order)
        rig.later(3700)
        await rig.engine.cancel(job_order.target)
        with pytest.raises(Conflict):
            await rig.engine.submit(order(token="other.1"))
        await rig.status(order("another"))

        assert [rig.model.jobs[number].state for number in theirs] == ["PENDING", "PENDING"]
        assert [rig.model.jobs[number].held for number in theirs] == [True, False]
        assert rig.model.jobs[4].state == "CANCELLED"
        assert await rig.engine.at_work("gpu") == {}


@BOTH
async def test_a_job_that_slurm_holds_again_is_released_again_and_reported(
    version: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Its launch failed, and it was requeued; a list of states alone does not say that it is held."""
    async with slurm_rig(version) as rig:
        job_order = order()
        await rig.engine.submit(job_order)
        for _ in range(2):
            rig.later()
            await rig.status(job_order)
        job = rig.model.jobs[1]
        job.held, job.description = True, "launch failed requeued held"

        rig.later(600)
        observation = (await rig.engine.status("gpu", [job_order.target]))["n"]

        assert observation.why is not None
        assert (observation.state, observation.why.word) == (JobState.QUEUED, "JobHeldUser")
        assert "launch failed requeued held" in observation.why.text
        assert not job.held
        assert "is released again: launch failed requeued held" in caplog.text


@BOTH
async def test_a_number_that_belongs_to_another_after_a_loss_of_state_says_nothing(version: str) -> None:
    """The controller comes back without any job, and gives the number to someone else."""
    async with slurm_rig(version) as rig:
        job_order = order()
        await rig.engine.submit(job_order)
        for _ in range(2):
            rig.later()
            await rig.status(job_order)
        rig.model.advance(lambda name: False)
        assert await rig.status(job_order) == {"n": JobState.RUNNING}
        rig.model.forget_everything()
        rig.model.submit("theirs", "", {}, held=False, user="eve")
        rig.model.advance(lambda name: False)
        assert rig.model.jobs[1].state == "RUNNING"

        assert await rig.status(job_order) == {}
        with pytest.raises(NotFound):
            await rig.engine.see(job_order.target)


@pytest.mark.parametrize("change", ["user", "name", "comment", "submitted"])
async def test_an_end_counts_if_user_name_mark_and_time_of_submission_are_the_jobs_own(change: str) -> None:
    """The controller was restarted between the list of states and the question about the one job."""
    async with slurm_rig(NEW) as rig:
        job_order = order()
        await rig.engine.submit(job_order)
        for _ in range(2):
            rig.later()
            await rig.status(job_order)
        for _ in range(2):
            rig.model.advance(lambda name: False)
        job = rig.model.jobs[1]
        other = {"user": "eve", "name": "m", "comment": "", "submitted": job.submitted + 60}
        setattr(job, change, other[change])

        observation = await rig.status(job_order)

        assert observation == ({"n": JobState.SUCCEEDED} if change == "submitted" else {})


async def test_a_name_of_another_job_of_ours_is_a_conflict() -> None:
    async with slurm_rig() as rig:
        await rig.engine.submit(order())
        with pytest.raises(Conflict):
            await rig.engine.submit(order(token="other.1"))


async def test_what_slurm_does_not_know_is_not_found_and_cancelled_in_silence() -> None:
    async with slurm_rig() as rig:
        with pytest.raises(NotFound):
            await rig.engine.see(order().target)
        await rig.engine.cancel(order().target)


@BOTH
async def test_how_a_forgotten_job_ended_is_looked_up_in_accounting(version: str) -> None:
    """As slurmdbd lists it; its v0.0.38 says 0 of a job that failed, so that number is not told."""
    async with slurm_rig(version, options={"accounting": True}) as rig:
        job_order = order()
        code: Any = 0 if version == OLD else {"set": True, "infinite": False, "number": 3}
        states: Any = "FAILED" if version == OLD else ["FAILED"]
        theirs = {"user": "eve", "job_id": 3, "state": {"current": "COMPLETED"}}
        ours = {"user": "u", "job_id": 7, "state": {"current": states, "reason": "NonZeroExitCode"}}
        rig.server.accounted = [
            {
                "name": "n",
                "comment": {"job": comment("t.1", None), "administrator": "", "system": ""},
                "time": {"submission": 900, "start": 910, "end": 920},
                "exit_code": {"status": "ERROR", "return_code": code},
                **owned,
            }
            for owned in (theirs, ours)
        ]
        assert await rig.status(job_order) == {"n": JobState.FAILED}
        observation = await rig.engine.see(job_order.target)
        assert (observation.reason, observation.exit_code) == (Reason.USER, None if version == OLD else 3)
        with pytest.raises(NotFound):
            await rig.engine.see(order(token="other.1").target)


ACCOUNTED = {
    "user": "u",
    "job_id": 7,
    "name": "n",
    "state": {"current": ["COMPLETED"], "reason": "None"},
    "comment": {"job": comment("t.1", None), "administrator": "", "system": ""},
    "time": {"submission": 900, "start": 910, "end": 920},
    "exit_code": {"status": "SUCCESS", "return_code": {"set": True, "infinite": False, "number": 0}},
}


async def test_a_forgotten_job_that_wrote_its_own_record_ran_as_long_as_accounting_says(
    tmp_path: Path,
) -> None:
    options = {"accounting": True, "shared": str(tmp_path), "reads": {str(tmp_path): str(tmp_path)}}
    async with slurm_rig(options=options) as rig:
        target = order().target
        forged = {"state": "ended", "final": True, "started": "2026-01-01", "ended": "2026-01-01"}
        write_record(tmp_path, order(), json.dumps(forged))
        rig.server.accounted = [ACCOUNTED]

        end = await rig.engine.see(target)
        rig.server.accounted = [{"job_id": 7, "name": "n"}]  # it cannot be read
        unaccounted = await rig.engine.see(target)

    assert (end.state, unaccounted.state) == (JobState.SUCCEEDED, JobState.SUCCEEDED)
    assert (end.started, end.ended) == (datetime.fromtimestamp(910, UTC), datetime.fromtimestamp(920, UTC))
    assert unaccounted.ended == datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("amounts", "allotted"),
    [
        (
            [
                {"type": "cpu", "name": "", "count": 16},
                {"type": "mem", "name": "", "count": 1024},
                {"type": "node", "name": "", "count": 1},
                {"type": "gres", "name": "gpu", "count": 2},
                {"type": "gres", "name": "gpu:a100", "count": 2},
            ],
            Allotted(2, None),
        ),
        ([{"type": "cpu", "name": "", "count": 4}, {"type": "node", "count": 2}], Allotted(None, None)),
        ([], None),
        (None, None),
        (["cpu=1"], None),
    ],
)
async def test_what_a_forgotten_job_had_of_its_nodes_is_what_accounting_says(
    amounts: Any, allotted: Allotted | None
) -> None:
    async with slurm_rig(NEW, options={"accounting": True}) as rig:
        rig.server.accounted = [{**ACCOUNTED, "tres": {"allocated": amounts}}]

        assert (await rig.engine.see(order().target)).allotted == allotted


async def test_an_answer_of_accounting_that_cannot_be_read_is_no_defect() -> None:
    async with slurm_rig(options={"accounting": True}) as rig:
        rig.server.accounted = [{"job_id": 7, "user": "u", "name": "n", "time": {"submission": 10**400}}]

        with pytest.raises(Transient, match="unreadable answer"):
            await rig.engine.see(order().target)


def write_record(shared: Path, job_order: Order, text: str) -> None:
    """What a job that may write everywhere in the shared directory leaves there."""
    attempt = shared / "attempts/e" / job_order.target.name
    (attempt / "own").mkdir(parents=True)
    (attempt / "turns").mkdir()
    (attempt / "turns/1").write_text(json.dumps({"token": job_order.target.token, "run": "own"}))
    (attempt / "own/result.json").write_text(text)


@pytest.mark.parametrize(
    ("text", "reports"),
    [
        ('{"state": "ended", "final": true, "reason": "bogus"}', {"bad": JobState.SUCCEEDED}),
        ('{"state": "ended", "final": true, "ended": "yesterday"}', {"bad": JobState.SUCCEEDED}),
        ('{"state": ', {}),
        ("[" * 200_000, {}),
    ],
    ids=["reason", "time", "broken", "deep"],
)
@BOTH
async def test_a_record_of_one_job_hides_no_other(
    tmp_path: Path, version: str, text: str, reports: dict[str, JobState]
) -> None:
    async with slurm_rig(version, options={"reads": {"/shared": str(tmp_path)}}) as rig:
        bad, good = order("bad"), order("good")
        for job_order in (bad, good):
            await rig.engine.submit(job_order)
        rig.later()
        for _ in range(2):
            await rig.status(bad, good)  # released, and known by their numbers
        for _ in range(2):
            rig.model.advance(lambda name: False)
        write_record(tmp_path, bad, text)

        assert await rig.status(bad, good) == {"good": JobState.SUCCEEDED, **reports}


@BOTH
async def test_a_defect_met_by_one_job_hides_no_other(version: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async def owner(records: Records, target: Target) -> None:
        if target.name == "bad":
            raise LookupError("a defect")

    monkeypatch.setattr(Records, "find", owner)
    async with slurm_rig(version) as rig:
        bad, good = order("bad"), order("good")
        for job_order in (bad, good):
            await rig.engine.submit(job_order)
        rig.later()
        for _ in range(2):
            await rig.status(bad, good)
        for _ in range(2):
            rig.model.advance(lambda name: False)

        assert await rig.status(bad, good) == {"good": JobState.SUCCEEDED}


@BOTH
async def test_a_job_that_accounting_does_not_know_either_is_submitted_again(version: str) -> None:
    async with slurm_rig(version, options={"accounting": True}) as rig:
        job_order = order()
        assert await rig.status(job_order) == {}
        await rig.engine.submit(job_order)
        rig.model.jobs.clear()
        await rig.engine.submit(job_order)
        assert len(rig.model.jobs) == 1


async def test_a_word_that_no_one_knows_decides_nothing() -> None:
    async with slurm_rig() as rig:
        await rig.engine.submit(order())
        rig.model.jobs[1].state, rig.model.jobs[1].held = "DREAMING", False
        with pytest.raises(Transient, match="DREAMING"):
            await rig.engine.see(order().target)


async def test_a_server_of_an_unknown_dialect_is_ours_to_mend() -> None:
    async with slurm_rig("v0.0.99") as rig:
        with pytest.raises(Misconfigured, match=r"v0\.0\.38 to v0\.0\.45"):
            await rig.engine.nodes("gpu")


async def test_a_cluster_without_a_key_is_ours_to_mend() -> None:
    cluster = SlurmCluster("gpu", url="http://127.0.0.1:9", user="u", shared="/shared")
    with pytest.raises(Misconfigured, match="SLIPWAY_SLURM_KEYS"):
        await SlurmEngine({"gpu": cluster}, {}).submit(order())
