"""The engine while parts of a real Slurm are killed: nothing is lost, and nothing runs twice."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
import pytest_asyncio

from local.patience import Patience
from local.slurm import Options, Partition, Slurm, slurm
from shared.core.engine import Cluster, Earlier, Engine
from shared.core.errors import NotFound
from shared.core.job import JobState, Reason
from shared.engines.slurm.engine import SlurmEngine
from shared.lifecycle.sweeper import make_pass
from tests.contract.slurm.on_slurm import NAME, PATIENCE, ended, engine, order, submitted, text
from tests.contract.slurm.test_holds import failing, until_held
from tests.unit.world import CLUSTER, World, job_json

pytestmark = pytest.mark.asyncio(loop_scope="session")

#: As many nodes as let a burst be over soon.
_PARTITIONS = (Partition(name="warm", nodes=6, elastic=False),)
_BURST = 200
_ID = CLUSTER.id.replace("/dev", f"/{NAME}")


@pytest_asyncio.fixture(loop_scope="session")
async def own(tmp_path: Path) -> AsyncIterator[Slurm]:
    """A cluster that may be broken."""
    async with slurm(Options(data=tmp_path, partitions=_PARTITIONS)) as running:
        yield running


@dataclass
class Engines:
    engine: SlurmEngine

    @property
    def clusters(self) -> dict[str, Cluster]:
        return {NAME: Cluster(NAME, "slurm", _ID)}

    def get(self, name: str) -> Engine:
        return self.engine


async def test_a_controller_killed_in_a_burst_costs_no_job_and_doubles_none(own: Slurm) -> None:
    """Slurm acknowledged all of them and forgets most: the sweeper submits again what is missing."""
    async with engine(own, settle_seconds=6.0) as slurm:
        world = World()
        world.use(engines=Engines(slurm), clock=lambda: datetime.now(UTC))
        defaults = replace(world.ports.policy.completion, cluster_id=_ID, clusters={NAME: _ID})
        world.policy(completion=defaults, lost_after=5.0, dispatch_deadline=60.0)
        runs = own.shared / "runs"
        runs.mkdir()
        command = f"echo x >> {runs}/$SLIPWAY_JOB_ID"
        document = job_json(customToolkitSettings={"commandLine": command})
        accepted = await asyncio.gather(*(world.message({"spec": document}, f"m{n}") for n in range(_BURST)))
        await own.kill_controller()
        await own.start_controller()
        queue = await own.command("squeue", "--noheader")
        forgotten = _BURST - len(queue.splitlines())

        patience = Patience(PATIENCE)
        while active := (await make_pass(world.ports)).active:
            assert not patience.is_over(active)
            await asyncio.sleep(1)

    jobs = [await world.job(one.job.id) for one in accepted]
    assert Counter(job.state for job in jobs) == {JobState.SUCCEEDED: _BURST}
    assert {path.name: path.read_text() for path in runs.iterdir()} == {job.id: "x\n" for job in jobs}
    assert forgotten > 0, "the controller had saved all of them; the test has tried nothing"


async def test_a_job_whose_slurmd_died_is_requeued_and_never_runs_twice_at_once(own: Slurm) -> None:
    """The processes of the first run live on, cut off from Slurm; they end when the second has the claim."""
    async with engine(own, preemptible=True) as slurm:
        ran = own.shared / "ran"
        command = f"echo $SLIPWAY_RUN $$ >> {ran}; until [ -e {own.shared}/go ]; do sleep 0.1; done"
        job_order = order(command)
        await submitted(slurm, job_order)
        await _lines(ran, 1)
        node = (await own.command("squeue", "--noheader", "--format=%N")).strip()

        await own.kill_node(node, only_slurmd=True)

        await _lines(ran, 2)
        (first, pid), (second, _) = (line.split() for line in ran.read_text().splitlines())
        with pytest.raises(ProcessLookupError):
            os.kill(int(pid), 0)
        (own.shared / "go").touch()
        observation = await ended(slurm, job_order.target)
    assert (observation.state, observation.exit_code) == (JobState.SUCCEEDED, 0)
    assert (first.partition("-")[2], second.partition("-")[2]) == ("0", "1")
    assert first.partition("-")[0] == second.partition("-")[0]


async def test_a_job_that_loses_the_node_that_it_keeps_has_its_own_end(own: Slurm) -> None:
    async with engine(own) as slurm:
        job_order = failing()
        await submitted(slurm, job_order)
        await until_held(slurm, job_order)
        await own.kill_node((await own.command("squeue", "--noheader", "--format=%N")).strip())
        observation = await ended(slurm, job_order.target)

    assert (observation.state, observation.reason) == (JobState.FAILED, Reason.USER)
    assert observation.exit_code == 3


async def test_an_attempt_whose_slurmd_died_is_over_before_the_next_one_runs(own: Slurm) -> None:
    """NODE_FAIL is the end of the first one, whose processes live on; they end when the second one comes."""
    async with engine(own) as slurm:
        ran = own.shared / "ran"
        command = f"echo $$ >> {ran}; until [ -e {own.shared}/go ]; do sleep 0.1; done"
        first = order(command, name="n-1")
        await submitted(slurm, first)
        await _lines(ran, 1)
        await own.kill_node(
            (await own.command("squeue", "--noheader", "--format=%N")).strip(), only_slurmd=True
        )
        assert (await ended(slurm, first.target)).reason is Reason.INFRASTRUCTURE
        pid = int(ran.read_text())
        os.kill(pid, 0)

        second = order(
            f"kill -0 {pid} && exit 9; {command}; exit 3",
            name="n-2",
            token="t.2",
            earlier=(Earlier(first.target, "infrastructure"),),
        )
        await submitted(slurm, second)
        await _lines(ran, 2)
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
        (own.shared / "go").touch()
        observation = await ended(slurm, second.target)
    assert (observation.state, observation.exit_code) == (JobState.FAILED, 3)


async def test_an_attempt_that_came_to_its_end_without_slurm_answers_for_the_next_one(own: Slurm) -> None:
    async with engine(own) as slurm:
        ran = own.shared / "ran"
        command = f"echo x >> {ran}; until [ -e {own.shared}/go ]; do sleep 0.1; done; exit 5"
        first = order(command, name="n-1")
        await submitted(slurm, first)
        await _lines(ran, 1)
        await own.kill_node(
            (await own.command("squeue", "--noheader", "--format=%N")).strip(), only_slurmd=True
        )
        assert (await ended(slurm, first.target)).reason is Reason.INFRASTRUCTURE
        (own.shared / "go").touch()
        await _file(own.shared / "attempts/exp/n-1/turns/2")

        second = order(command, name="n-2", token="t.2", earlier=(Earlier(first.target, "infrastructure"),))
        await submitted(slurm, second)
        observation = await ended(slurm, second.target)
        log = await text(slurm, second.target, "execution.log")
    assert (observation.state, observation.reason, observation.exit_code) == (JobState.FAILED, Reason.USER, 5)
    assert ran.read_text() == "x\n"
    assert "Job failed" in log


async def test_a_job_whose_node_died_may_fail_and_be_followed_by_the_next_attempt(own: Slurm) -> None:
    async with engine(own) as slurm:
        job_order = order(f"echo x >> {own.shared}/began; sleep 600")
        await submitted(slurm, job_order)
        await _lines(own.shared / "began", 1)
        await own.kill_node((await own.command("squeue", "--noheader", "--format=%N")).strip())
        observation = await ended(slurm, job_order.target)
    assert (observation.state, observation.reason, observation.exit_code) == (
        JobState.FAILED,
        Reason.INFRASTRUCTURE,
        None,
    )


async def test_a_job_lives_on_while_the_controller_is_away(own: Slurm) -> None:
    async with engine(own) as slurm:
        waits = f"until [ -e {own.shared}/go ]; do sleep 0.1; done"
        job_order = order(f"echo x >> {own.shared}/began; {waits}")
        await submitted(slurm, job_order)
        await _lines(own.shared / "began", 1)
        await asyncio.sleep(6)  # until the controller has saved that it runs
        await own.kill_controller()
        await own.start_controller()
        (own.shared / "go").touch()
        assert (await ended(slurm, job_order.target)).state is JobState.SUCCEEDED


async def test_what_slurm_forgot_is_reported_by_the_record_of_its_run(own: Slurm) -> None:
    async with engine(own) as slurm:
        job_order = order("exit 5")
        await slurm.submit(job_order)
        await ended(slurm, job_order.target)
        await _forget_everything(own)

        observation = await slurm.see(job_order.target)
    assert (observation.state, observation.reason, observation.exit_code) == (JobState.FAILED, Reason.USER, 5)


async def test_where_no_record_can_be_seen_the_controllers_own_notes_tell_the_end(own: Slurm) -> None:
    async with engine(own, reads={}, completions=str(own.completions)) as slurm:
        failed, fine = order("exit 5"), order("true")
        for job_order in (failed, fine):
            await slurm.submit(job_order)
            await ended(slurm, job_order.target)
        await _forget_everything(own)

        observation = await slurm.status(NAME, [failed.target, fine.target])
        with pytest.raises(NotFound):
            await slurm.see(order("true").target)
    reports = {name: (one.state, one.reason, one.exit_code) for name, one in observation.items()}
    assert reports == {
        failed.target.name: (JobState.FAILED, Reason.USER, 5),
        fine.target.name: (JobState.SUCCEEDED, None, 0),
    }


async def test_where_no_record_can_be_seen_the_nodes_answer_for_the_job(own: Slurm) -> None:
    ran = own.shared / "ran"
    job_order = order(f"echo x >> {ran}; exit 5")
    async with engine(own, reads={}) as slurm:
        await slurm.submit(job_order)
        await ended(slurm, job_order.target)
        await _forget_everything(own)
        with pytest.raises(NotFound):
            await slurm.see(job_order.target)

        await slurm.submit(job_order)
        observation = await ended(slurm, job_order.target)
    assert (observation.state, observation.exit_code) == (JobState.FAILED, 5)
    assert ran.read_text() == "x\n"


async def _forget_everything(running: Slurm) -> None:
    await running.kill_controller()
    shutil.rmtree(running.home / "state")
    (running.home / "state").mkdir()
    await running.start_controller()


async def _lines(path: Path, count: int) -> None:
    """Until the nodes have written so many lines."""
    patience = Patience(PATIENCE)
    while (written := _text(path).count("\n")) < count:
        assert not patience.is_over(written)
        await asyncio.sleep(0.05)


async def _file(path: Path) -> None:
    async with asyncio.timeout(PATIENCE):
        while not _text(path):  # noqa: ASYNC110 - another process
            await asyncio.sleep(0.05)


def _text(path: Path) -> str:
    return path.read_text() if path.exists() else ""
