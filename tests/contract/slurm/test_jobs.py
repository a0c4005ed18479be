"""Jobs of the engine on a real Slurm: every way of starting processes, priorities, GPUs, what it refuses."""

from __future__ import annotations

import asyncio
import json
import shutil
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from local.slurm import Options, Partition, Slurm, slurm
from shared.core.engine import Observation
from shared.core.errors import Misconfigured, Rejected, Transient
from shared.core.job import JobState, Reason
from shared.engines.slurm.cluster import SlurmCluster
from shared.engines.slurm.engine import SlurmEngine
from shared.engines.slurm.wire.client import SlurmClient
from shared.engines.slurm.wire.key import SigningKey
from tests.contract.slurm.on_slurm import NAME, PATIENCE, ended, engine, order, submitted, text, until

pytestmark = pytest.mark.asyncio(loop_scope="session")

_NO_MPI = pytest.mark.skipif(not shutil.which("mpirun"), reason="Open MPI is not installed")


def script(cluster: Slurm, body: str) -> dict[str, str]:
    """A script on the file system of the nodes, run by bash."""
    path = cluster.shared / f"{abs(hash(body))}.sh"
    path.write_text(body)
    return {"pythonScriptFilePath": str(path), "pythonInterpreterPath": "bash"}


async def test_ranks_are_spread_over_the_nodes_after_the_preparation_of_each(cluster: Slurm) -> None:
    body = "echo $AZ_BATCHAI_TASK_INDEX on $SLURMD_NODENAME of $AZ_BATCH_HOST_LIST"
    block = {"pyTorchSettings": {**script(cluster, body), "processCount": 4}}
    async with engine(cluster) as slurm:
        job_order = order(block, nodeCount=2, jobPreparation={"commandLine": "echo ready"})
        await slurm.submit(job_order)
        assert (await ended(slurm, job_order.target)).state is JobState.SUCCEEDED

        output = [(await text(slurm, job_order.target, f"stdout-{rank}.txt")).split() for rank in range(4)]
        hosts = output[0][4].split(",")
        assert [words[2] for words in output] == [hosts[0], hosts[0], hosts[1], hosts[1]]
        for host in hosts:
            assert await text(slurm, job_order.target, f"stdout-job_prep-{host}.txt") == "ready\n"


async def test_each_node_says_how_busy_it_is_while_the_job_runs(cluster: Slurm) -> None:
    waits = "until grep -q 'rank.: 0,.*memory' $FILE && grep -q 'rank.: 1,.*memory' $FILE; do sleep 0.1; done"
    file = [{"name": "FILE", "value": "$AZ_BATCHAI_STDOUTERR_DIR/usage.jsonl"}]
    async with engine(cluster) as slurm:
        job_order = order(f'timeout 60 bash -c "{waits}"', nodeCount=2, environmentVariables=file)
        await slurm.submit(job_order)
        assert (await ended(slurm, job_order.target)).state is JobState.SUCCEEDED

        samples = map(json.loads, (await text(slurm, job_order.target, "usage.jsonl")).splitlines())
        assert {sample["rank"] for sample in samples} == {0, 1}


@_NO_MPI
async def test_mpi_finds_the_nodes_and_the_environment(cluster: Slurm) -> None:
    body = "echo $OMPI_COMM_WORLD_RANK on $SLURMD_NODENAME $WHERE $SECRET"
    block = {"horovodSettings": {**script(cluster, body), "processCount": 4}}
    variables = [{"name": "WHERE", "value": "$AZ_BATCHAI_MOUNT_ROOT/x"}]
    async with engine(cluster) as slurm:
        secret = [{"name": "SECRET", "value": "$HOME"}]
        job_order = order(block, nodeCount=2, environmentVariables=variables, secrets=secret)
        await slurm.submit(job_order)
        assert (await ended(slurm, job_order.target)).state is JobState.SUCCEEDED

        lines = sorted((await text(slurm, job_order.target, "stdout.txt")).splitlines())
        assert [line.split()[0] for line in lines] == ["0", "1", "2", "3"]
        assert len({line.split()[2] for line in lines}) == 2
        assert all(line.endswith(f"{cluster.shared}/mounts/x $HOME") for line in lines)


@_NO_MPI
async def test_a_command_of_a_job_may_start_mpi_over_its_nodes(cluster: Slurm) -> None:
    async with engine(cluster) as slurm:
        job_order = order("mpirun -n 2 --map-by node bash -c 'echo $SLURMD_NODENAME'", nodeCount=2)
        await slurm.submit(job_order)
        assert (await ended(slurm, job_order.target)).state is JobState.SUCCEEDED
        assert len(set((await text(slurm, job_order.target, "stdout.txt")).split())) == 2


async def test_tensorflow_has_servers_and_workers_that_know_each_other(cluster: Slurm) -> None:
    body = 'echo "$TF_CONFIG"; case $TF_CONFIG in *\'"ps", "index"\'*) sleep 600;; esac'
    async with engine(cluster) as slurm:
        job_order = order({"tensorFlowSettings": {**script(cluster, body), "workerCount": 2}}, nodeCount=2)
        await slurm.submit(job_order)
        assert (await ended(slurm, job_order.target)).state is JobState.SUCCEEDED
        config = json.loads(await text(slurm, job_order.target, "stdout-wk-1.txt"))
        assert config["task"] == {"type": "worker", "index": 0}
        assert len(config["cluster"]["ps"]) == 1


async def test_a_job_has_the_gpus_of_its_nodes_in_each_dialect(
    cluster: Slurm,
) -> None:
    async with engine(cluster, gpus=1) as slurm:
        job_order = order('echo "$CUDA_VISIBLE_DEVICES" $AZ_BATCHAI_NUM_GPUS')
        await slurm.submit(job_order)
        await ended(slurm, job_order.target)
        assert await text(slurm, job_order.target, "stdout.txt") == "0 1\n"


async def test_what_was_submitted_twice_and_released_runs_once(cluster: Slurm) -> None:
    """The second process knows nothing of the first, whose answer was lost."""
    ran = cluster.shared / "ran"
    ran.unlink(missing_ok=True)
    job_order = order(f"echo x >> {ran}; sleep 1")
    async with engine(cluster) as one, engine(cluster) as other:
        await one.submit(job_order)
        await other.submit(job_order)
        observation = await ended(one, job_order.target)

        assert (observation.state, (await other.see(job_order.target)).state) == (
            JobState.SUCCEEDED,
            JobState.SUCCEEDED,
        )
        assert ran.read_text() == "x\n"
        queue = await cluster.command("squeue", "--noheader", f"--name={job_order.target.name}")
        assert queue == "", "the copy is gone"


async def test_explicit_priorities_order_the_queue(tmp_path: Path) -> None:
    async with slurm(
        Options(data=tmp_path, partitions=(Partition(name="warm", nodes=1, elastic=False),))
    ) as one:
        began = one.shared / "began"
        async with engine(one, priorities={"low": 1000, "normal": 2000, "high": 3000}) as slurm_engine:
            first = order(f"until [ -e {one.shared}/go ]; do sleep 0.1; done")
            await slurm_engine.submit(first)
            await until(
                slurm_engine,
                first.target,
                lambda observation: observation is not None and observation.state is JobState.RUNNING,
            )
            orders = [
                order(f"echo {word} >> {began}", schedulingPriority=word)
                for word in ("low", "normal", "high")
            ]
            for job_order in orders:
                await submitted(slurm_engine, job_order)
            (one.shared / "go").touch()
            for job_order in orders:
                await ended(slurm_engine, job_order.target)
        assert began.read_text().split() == ["high", "normal", "low"]


async def test_a_job_that_waits_says_why_and_one_that_is_cancelled_in_the_queue_never_started(
    tmp_path: Path,
) -> None:
    partitions = (Partition(name="warm", nodes=1, elastic=False),)
    async with slurm(Options(data=tmp_path, partitions=partitions)) as one, engine(one) as slurm_engine:
        await one.command("scontrol", "update", "partitionname=warm", "state=down")
        job_order = order("true")
        times = await slurm_engine.submit(job_order)
        await submitted(slurm_engine, job_order)

        def waits(observation: Observation | None) -> bool:
            return (
                observation is not None
                and observation.why is not None
                and observation.why.word == "PartitionDown"
            )

        # What the list of states does not say is looked up by a question of its own.
        async with asyncio.timeout(PATIENCE):
            while not waits(observation := await slurm_engine.see(job_order.target)):  # noqa: ASYNC110
                await asyncio.sleep(0.1)
        assert times is not None
        assert (
            observation.handle == times.handle == (await one.command("squeue", "--noheader", "-o%i")).strip()
        )

        await slurm_engine.cancel(job_order.target)
        over = await ended(slurm_engine, job_order.target)
        assert (over.state, over.started) == (JobState.CANCELLED, None)


async def test_a_job_that_runs_and_one_that_has_run_have_the_times_of_slurm(cluster: Slurm) -> None:
    async with engine(cluster) as slurm:
        job_order = order("sleep 2")
        await slurm.submit(job_order)
        runs = await until(
            slurm,
            job_order.target,
            lambda observation: observation is not None and observation.state is JobState.RUNNING,
        )
        over = await ended(slurm, job_order.target)

        assert runs.started is not None
        assert over.started is not None
        assert over.ended is not None
        assert abs(runs.started - over.started) < timedelta(seconds=5)
        assert over.started < over.ended


async def test_a_job_that_no_cluster_could_run_is_rejected(cluster: Slurm) -> None:
    async with engine(cluster) as slurm:
        with pytest.raises(Rejected, match="Slurm"):
            await slurm.submit(order("true", nodeCount=99))


async def test_what_is_ours_to_mend_is_said_so(cluster: Slurm) -> None:
    async with engine(cluster, partition="nowhere") as slurm:
        with pytest.raises(Misconfigured, match="partition"):
            await slurm.submit(order("true"))
    cluster_known = SlurmCluster(NAME, url=cluster.url, user=cluster.user, shared=str(cluster.shared))
    stranger = SlurmEngine({NAME: cluster_known}, {NAME: SigningKey(b"another key of some bytes")})
    with pytest.raises(Misconfigured, match="token"):
        await stranger.nodes(NAME)
    await stranger.close()
    stranger = SlurmEngine(
        {NAME: replace(cluster_known, url="http://127.0.0.1:9")}, {NAME: SigningKey(b"k" * 32)}
    )
    with pytest.raises(Transient):
        await stranger.nodes(NAME)
    await stranger.close()


async def test_the_newest_dialect_of_both_is_spoken(cluster: Slurm) -> None:
    cluster_known = SlurmCluster(NAME, url=cluster.url, user=cluster.user, shared=str(cluster.shared))
    client = SlurmClient(cluster_known, SigningKey(cluster.jwt_key.read_bytes()))
    spoken = (await client.agree()).version
    await client.close()

    version = (await cluster.command("scontrol", "--version")).split()[1]
    assert spoken == {"22": "v0.0.38", "24": "v0.0.42", "26": "v0.0.45"}[version.partition(".")[0]]


async def test_a_preparation_that_fails_is_reported_by_slurm_alone(cluster: Slurm) -> None:
    """The app does not see the file system of the nodes, and has the exit code of the program only."""
    async with engine(cluster, reads={}) as slurm:
        job_order = order("true", jobPreparation={"commandLine": "exit 9"})
        await slurm.submit(job_order)
        observation = await ended(slurm, job_order.target)
    assert (observation.state, observation.reason, observation.exit_code) == (
        JobState.FAILED,
        Reason.PREPARATION,
        1,
    )
