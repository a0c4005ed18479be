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
from shared.core.errors import Misconfigured, Rejected, Transient
from shared.core.job import JobState, Reason
from shared.core.ports import Observation
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
    async with engine(cluster) as on:
        asked = order(block, nodeCount=2, jobPreparation={"commandLine": "echo ready"})
        await on.submit(asked)
        assert (await ended(on, asked.target)).state is JobState.SUCCEEDED

        said = [(await text(on, asked.target, f"stdout-{rank}.txt")).split() for rank in range(4)]
        hosts = said[0][4].split(",")
        assert [words[2] for words in said] == [hosts[0], hosts[0], hosts[1], hosts[1]]
        for host in hosts:
            assert await text(on, asked.target, f"stdout-job_prep-{host}.txt") == "ready\n"


async def test_each_node_says_how_busy_it_is_while_the_job_runs(cluster: Slurm) -> None:
    waits = "until grep -q 'rank.: 0,.*memory' $FILE && grep -q 'rank.: 1,.*memory' $FILE; do sleep 0.1; done"
    file = [{"name": "FILE", "value": "$AZ_BATCHAI_STDOUTERR_DIR/usage.jsonl"}]
    async with engine(cluster) as on:
        asked = order(f'timeout 60 bash -c "{waits}"', nodeCount=2, environmentVariables=file)
        await on.submit(asked)
        assert (await ended(on, asked.target)).state is JobState.SUCCEEDED

        samples = map(json.loads, (await text(on, asked.target, "usage.jsonl")).splitlines())
        assert {sample["rank"] for sample in samples} == {0, 1}


@_NO_MPI
async def test_mpi_finds_the_nodes_and_the_environment(cluster: Slurm) -> None:
    body = "echo $OMPI_COMM_WORLD_RANK on $SLURMD_NODENAME $WHERE $SECRET"
    block = {"horovodSettings": {**script(cluster, body), "processCount": 4}}
    variables = [{"name": "WHERE", "value": "$AZ_BATCHAI_MOUNT_ROOT/x"}]
    async with engine(cluster) as on:
        secret = [{"name": "SECRET", "value": "$HOME"}]
        asked = order(block, nodeCount=2, environmentVariables=variables, secrets=secret)
        await on.submit(asked)
        assert (await ended(on, asked.target)).state is JobState.SUCCEEDED

        lines = sorted((await text(on, asked.target, "stdout.txt")).splitlines())
        assert [line.split()[0] for line in lines] == ["0", "1", "2", "3"]
        assert len({line.split()[2] for line in lines}) == 2
        assert all(line.endswith(f"{cluster.shared}/mounts/x $HOME") for line in lines)


@_NO_MPI
async def test_a_command_of_a_job_may_start_mpi_over_its_nodes(cluster: Slurm) -> None:
    async with engine(cluster) as on:
        asked = order("mpirun -n 2 --map-by node bash -c 'echo $SLURMD_NODENAME'", nodeCount=2)
        await on.submit(asked)
        assert (await ended(on, asked.target)).state is JobState.SUCCEEDED
        assert len(set((await text(on, asked.target, "stdout.txt")).split())) == 2


async def test_tensorflow_has_servers_and_workers_that_know_each_other(cluster: Slurm) -> None:
    body = 'echo "$TF_CONFIG"; case $TF_CONFIG in *\'"ps", "index"\'*) sleep 600;; esac'
    async with engine(cluster) as on:
        asked = order({"tensorFlowSettings": {**script(cluster, body), "workerCount": 2}}, nodeCount=2)
        await on.submit(asked)
        assert (await ended(on, asked.target)).state is JobState.SUCCEEDED
        config = json.loads(await text(on, asked.target, "stdout-wk-1.txt"))
        assert config["task"] == {"type": "worker", "index": 0}
        assert len(config["cluster"]["ps"]) == 1


async def test_a_job_has_the_gpus_of_its_nodes_in_whatever_dialect_it_asked(
    cluster: Slurm,
) -> None:
    async with engine(cluster, gpus=1) as on:
        asked = order('echo "$CUDA_VISIBLE_DEVICES" $AZ_BATCHAI_NUM_GPUS')
        await on.submit(asked)
        await ended(on, asked.target)
        assert await text(on, asked.target, "stdout.txt") == "0 1\n"


async def test_what_was_submitted_twice_and_released_runs_once(cluster: Slurm) -> None:
    """The second process knows nothing of the first, whose answer was lost."""
    ran = cluster.shared / "ran"
    ran.unlink(missing_ok=True)
    asked = order(f"echo x >> {ran}; sleep 1")
    async with engine(cluster) as one, engine(cluster) as other:
        await one.submit(asked)
        await other.submit(asked)
        seen = await ended(one, asked.target)

        assert (seen.state, (await other.see(asked.target)).state) == (JobState.SUCCEEDED, JobState.SUCCEEDED)
        assert ran.read_text() == "x\n"
        queue = await cluster.command("squeue", "--noheader", f"--name={asked.target.name}")
        assert queue == "", "the copy is gone"


async def test_explicit_priorities_order_the_queue(tmp_path: Path) -> None:
    async with slurm(
        Options(data=tmp_path, partitions=(Partition(name="warm", nodes=1, elastic=False),))
    ) as one:
        began = one.shared / "began"
        async with engine(one, priorities={"low": 1000, "normal": 2000, "high": 3000}) as on:
            first = order(f"until [ -e {one.shared}/go ]; do sleep 0.1; done")
            await on.submit(first)
            await until(on, first.target, lambda seen: seen is not None and seen.state is JobState.RUNNING)
            orders = [
                order(f"echo {word} >> {began}", schedulingPriority=word)
                for word in ("low", "normal", "high")
            ]
            for asked in orders:
                await submitted(on, asked)
            (one.shared / "go").touch()
            for asked in orders:
                await ended(on, asked.target)
        assert began.read_text().split() == ["high", "normal", "low"]


async def test_a_job_that_waits_says_why_and_one_that_is_cancelled_in_the_queue_never_started(
    tmp_path: Path,
) -> None:
    partitions = (Partition(name="warm", nodes=1, elastic=False),)
    async with slurm(Options(data=tmp_path, partitions=partitions)) as one, engine(one) as on:
        await one.command("scontrol", "update", "partitionname=warm", "state=down")
        asked = order("true")
        taken = await on.submit(asked)
        await submitted(on, asked)

        def waits(seen: Observation | None) -> bool:
            return seen is not None and seen.why is not None and seen.why.word == "PartitionDown"

        # What the list of states does not say is looked up by a question of its own.
        async with asyncio.timeout(PATIENCE):
            while not waits(seen := await on.see(asked.target)):  # noqa: ASYNC110
                await asyncio.sleep(0.1)
        assert taken is not None
        assert seen.handle == taken.handle == (await one.command("squeue", "--noheader", "-o%i")).strip()

        await on.cancel(asked.target)
        over = await ended(on, asked.target)
        assert (over.state, over.started) == (JobState.CANCELLED, None)


async def test_a_job_that_runs_and_one_that_has_run_have_the_times_of_slurm(cluster: Slurm) -> None:
    async with engine(cluster) as on:
        asked = order("sleep 2")
        await on.submit(asked)
        runs = await until(on, asked.target, lambda seen: seen is not None and seen.state is JobState.RUNNING)
        over = await ended(on, asked.target)

        assert runs.started is not None
        assert over.started is not None
        assert over.ended is not None
        assert abs(runs.started - over.started) < timedelta(seconds=5)
        assert over.started < over.ended


async def test_a_job_that_no_cluster_could_run_is_rejected(cluster: Slurm) -> None:
    async with engine(cluster) as on:
        with pytest.raises(Rejected, match="Slurm"):
            await on.submit(order("true", nodeCount=99))


async def test_what_is_ours_to_mend_is_said_so(cluster: Slurm) -> None:
    async with engine(cluster, partition="nowhere") as on:
        with pytest.raises(Misconfigured, match="partition"):
            await on.submit(order("true"))
    known = SlurmCluster(NAME, url=cluster.url, user=cluster.user, shared=str(cluster.shared))
    stranger = SlurmEngine({NAME: known}, {NAME: SigningKey(b"another key of some bytes")})
    with pytest.raises(Misconfigured, match="token"):
        await stranger.nodes(NAME)
    await stranger.close()
    nobody = SlurmEngine({NAME: replace(known, url="http://127.0.0.1:9")}, {NAME: SigningKey(b"k" * 32)})
    with pytest.raises(Transient):
        await nobody.nodes(NAME)
    await nobody.close()


async def test_the_newest_dialect_of_both_is_spoken(cluster: Slurm) -> None:
    known = SlurmCluster(NAME, url=cluster.url, user=cluster.user, shared=str(cluster.shared))
    client = SlurmClient(known, SigningKey(cluster.jwt_key.read_bytes()))
    spoken = (await client.agree()).version
    await client.close()

    version = (await cluster.command("scontrol", "--version")).split()[1]
    assert spoken == {"22": "v0.0.38", "24": "v0.0.42", "26": "v0.0.45"}[version.partition(".")[0]]


async def test_a_preparation_that_fails_is_told_by_slurm_alone(cluster: Slurm) -> None:
    """The app does not see the file system of the nodes, and has the exit code of the program only."""
    async with engine(cluster, reads={}) as on:
        asked = order("true", jobPreparation={"commandLine": "exit 9"})
        await on.submit(asked)
        seen = await ended(on, asked.target)
    assert (seen.state, seen.reason, seen.exit_code) == (JobState.FAILED, Reason.PREPARATION, 1)
