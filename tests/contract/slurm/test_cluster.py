"""The mini cluster is what it says: a real Slurm whose nodes come and go, that is killed and comes back."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import signal
import sys
import textwrap
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import aiohttp
import pytest

from local.slurm import Options, Partition, Slurm, SlurmError, find_programs, slurm

pytestmark = pytest.mark.asyncio(loop_scope="session")

#: Seconds. A node that fails to start is tried again, once it has had its time.
PATIENCE = 240.0
SMALL = (Partition(name="warm", nodes=2, elastic=False),)
ROOT = Path(__file__).resolve().parents[3]


async def test_an_elastic_node_runs_only_while_a_job_needs_it(cluster: Slurm) -> None:
    assert not elastic(cluster)
    states = await cluster.command("sinfo", "--noheader", "--partition=elastic", "--format=%D %T")
    assert states.split() == ["4", "idle~"], "nodes that are off can be seen"

    job = await batch(cluster, "elastic", "srun bash -c 'echo $SLURMD_NODENAME'", nodes=4, out="all.txt")
    await ended(cluster, job)

    assert set((cluster.shared / "all.txt").read_text().split()) == {f"elastic-{n}" for n in (1, 2, 3, 4)}
    await until(lambda: not elastic(cluster))


async def test_a_node_that_failed_to_start_is_tried_again(tmp_path: Path) -> None:
    pool = (Partition(name="elastic", nodes=2),)
    async with slurm(Options(data=tmp_path, partitions=pool, boot_seconds=10)) as own:
        starts = own.home / "bin" / "node-on"
        works = starts.rename(starts.with_name("works"))
        starts.write_text(f"#!/bin/sh\ntouch {tmp_path}/tried\n")
        starts.chmod(0o755)
        job = await batch(own, "elastic", "true", nodes=2)
        await until((tmp_path / "tried").exists)
        works.rename(starts)

        await ended(own, job)


async def test_a_node_has_the_gpus_of_its_partition_and_a_python_of_the_clusters_own(cluster: Slurm) -> None:
    check = "import numpy, importlib.util; print(importlib.util.find_spec('typer'))"
    script = f'echo "$CUDA_VISIBLE_DEVICES"; command -v python; python -c "{check}"'

    await ended(cluster, await batch(cluster, "warm", script, gpus=1, out="gpu.txt"))

    gpu, python, ours = (cluster.shared / "gpu.txt").read_text().split()
    assert gpu == "0"
    assert Path(python).parent == cluster.home / "python" / "bin"
    assert ours == "None"


async def test_the_nodes_of_a_job_find_each_other_by_name(cluster: Slurm) -> None:
    script = "python -c 'import socket; print(socket.gethostbyname(\"warm-2\"))'"

    await ended(cluster, await batch(cluster, "warm", script, out="found.txt"))

    assert re.fullmatch(r"127\.0\.1\.\d+\n", (cluster.shared / "found.txt").read_text())


async def test_slurmrestd_takes_our_tokens_and_no_others(cluster: Slurm) -> None:
    address = f"{cluster.url}{cluster.api}/jobs"
    async with aiohttp.ClientSession() as session:
        for token, accepted in ((cluster.token(), True), (cluster.token()[:-6] + "AAAAAA", False)):
            headers = {"X-SLURM-USER-NAME": cluster.user, "X-SLURM-USER-TOKEN": token}
            try:
                async with session.get(address, headers=headers) as answer:
                    status = answer.status
            except aiohttp.ClientResponseError:
                status = 0  # 26.05 sends a refusal twice, which is not HTTP
            assert (status == 200) is accepted


async def test_a_running_job_outlives_a_killed_controller(cluster: Slurm) -> None:
    script = "touch began; until [ -e go ]; do sleep 0.1; done; echo done"
    job = await batch(cluster, "warm", script, out="outlived.txt")
    began, saved = cluster.shared / "began", cluster.home / "state" / "job_state"
    await until(began.exists)
    # What was not saved yet, within some 5 s, a killed controller forgets: even jobs that run.
    await cluster.command("scontrol", "update", f"jobid={job}", "comment=to-be-saved")
    await until(lambda: saved.exists() and saved.stat().st_mtime > began.stat().st_mtime)

    await cluster.kill_controller()
    await cluster.start_controller()

    (cluster.shared / "go").touch()
    await ended(cluster, job)
    assert (cluster.shared / "outlived.txt").read_text() == "done\n"


async def test_slurmrestd_comes_back_at_the_same_address(cluster: Slurm) -> None:
    await cluster.kill_gateway()
    await cluster.start_gateway()

    await test_slurmrestd_takes_our_tokens_and_no_others(cluster)


async def test_of_a_killed_node_nothing_is_left_and_its_neighbour_lives_on(cluster: Slurm) -> None:
    jobs = [await batch(cluster, "warm", "echo $$ $SLURMD_NODENAME; exec sleep 600", out=f) for f in "ab"]
    files = [cluster.shared / name for name in "ab"]
    await until(lambda: all(file.is_file() and file.read_text() for file in files))
    (pid, node), (neighbour, _) = (file.read_text().split() for file in files)

    await cluster.kill_node(node)

    assert not alive(int(pid))
    assert not steps(cluster, node)
    assert alive(int(neighbour))
    assert node not in cluster.nodes()
    await cluster.command("scancel", *map(str, jobs))
    await cluster.start_node(node)
    await until(lambda: node in cluster.nodes())


async def test_a_second_cluster_in_the_same_directory_is_refused(cluster: Slurm) -> None:
    with pytest.raises(SlurmError, match=f"a cluster runs in {cluster.home} already"):
        async with slurm(Options(data=cluster.home)):
            pass

    assert await cluster.command("sinfo")


async def test_the_state_is_kept_from_one_run_to_the_next(tmp_path: Path) -> None:
    options = Options(data=tmp_path, partitions=SMALL)
    async with slurm(options) as first:
        job = await batch(first, "warm", "true", hold=True)

    async with slurm(options) as second:
        queued = await second.command("squeue", "--noheader", "--format=%i")
        assert queued.split() == [str(job)]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
async def test_no_process_outlives_the_owner(tmp_path: Path, number: signal.Signals) -> None:
    data = tmp_path
    owner = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "local.slurm", f"--data={data}", "--port=0"),
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
    )
    assert owner.stdout is not None
    assert b"ready http://127.0.0.1:" in await owner.stdout.readline()
    env = {"PATH": os.environ["PATH"], "SLURM_CONF": str(data / "client.conf")}
    run = ("srun", "--partition=warm", "sh", "-c", f"touch {data}/runs; exec sleep 600")
    client = await asyncio.create_subprocess_exec(*programs(*run), env=env, stderr=asyncio.subprocess.PIPE)
    await until((data / "runs").exists)
    assert processes(data)

    owner.send_signal(number)

    await owner.communicate()
    client.kill()
    await client.communicate()
    await until(lambda: not processes(data))


def processes(data: Path) -> list[int]:
    """Those with the cluster's directory in their environment or arguments, or that work there."""
    results = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            observation = (place / "environ").read_bytes() + (place / "cmdline").read_bytes()
            where = os.readlink(place / "cwd")  # noqa: PTH115 - need not exist any more
        except OSError:
            continue
        if f"{data}/".encode() in observation or where.startswith(f"{data}/"):
            results.append(int(place.name))
    return results


def steps(cluster: Slurm, node: str) -> list[str]:
    """The daemons of steps on a node, by the log that they write."""
    log = str(cluster.logs / f"{node}.log")
    results = []
    for link in Path("/proc").glob("[0-9]*/fd/*"):
        with suppress(OSError):
            if os.readlink(link) == log and b"slurmstepd" in (link.parents[1] / "cmdline").read_bytes():  # noqa: PTH115
                results.append(link.parts[2])
    return results


def programs(name: str, *options: str) -> tuple[str, ...]:
    """A client command of the Slurm under test."""
    return (shutil.which(name, path=find_programs().path) or name, *options)


def elastic(cluster: Slurm) -> set[str]:
    return {name for name in cluster.nodes() if name.startswith("elastic-")}


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


async def batch(
    cluster: Slurm,
    partition: str,
    script: str,
    *,
    nodes: int = 1,
    gpus: int = 0,
    out: str = "out.txt",
    hold: bool = False,
) -> int:
    file = cluster.shared / f"{out}.sh"
    file.write_text(f"#!/bin/bash\n{textwrap.dedent(script)}\n")
    options = [f"--partition={partition}", f"--nodes={nodes}", f"--chdir={cluster.shared}"]
    options += [f"--output={cluster.shared / out}", *(["--hold"] if hold else [])]
    options += [f"--gpus-per-node={gpus}"] if gpus else []
    return int(await cluster.command("sbatch", "--parsable", *options, str(file)))


async def ended(cluster: Slurm, job: int) -> None:
    async with asyncio.timeout(PATIENCE):
        while True:
            states = await cluster.command(
                "squeue", "--noheader", "--states=all", "--format=%T", f"--jobs={job}"
            )
            if states.split()[0] in {"COMPLETED", "FAILED", "CANCELLED"}:
                assert states.split() == ["COMPLETED"]
                return
            await asyncio.sleep(0.1)


async def until(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not true():  # noqa: ASYNC110 - another process makes it true
            await asyncio.sleep(0.1)
