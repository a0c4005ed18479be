"""What a job on a real Slurm can make the app open, and what other users of the cluster can read."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from local.slurm import Slurm
from shared.core.errors import NotFound
from shared.core.job import JobState
from tests.contract.slurm.on_slurm import NAME, ended, engine, order, submitted, text, until

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_a_job_that_links_its_log_directory_to_the_app_shows_nothing_of_it(cluster: Slurm) -> None:
    command = "rm -rf $AZ_BATCHAI_STDOUTERR_DIR; ln -s /proc/self $AZ_BATCHAI_STDOUTERR_DIR"
    async with engine(cluster) as slurm:
        job_order = order(command)
        await slurm.submit(job_order)
        await ended(slurm, job_order.target)

        with pytest.raises(NotFound, match="leads out"):
            await slurm.read(job_order.target, "stdouterr", "environ", 0, 1 << 20)
        with pytest.raises(NotFound, match="leads out"):
            await slurm.files(job_order.target, "stdouterr")


async def test_a_job_that_writes_another_directory_into_its_record_shows_nothing_of_it(
    cluster: Slurm,
) -> None:
    async with engine(cluster) as slurm:
        victim = order("echo of another")
        await submitted(slurm, victim)
        await ended(slurm, victim.target)
        assert await text(slurm, victim.target, "stdout.txt") == "of another\n"

        for place in ("/proc/self", f"{cluster.shared}/mounts/logs/slurm/{NAME}/experiments/exp/jobs/"):
            record = f"{cluster.shared}/attempts/exp/$NAME/*/result.json"
            begun = cluster.shared / f"begun{len(place)}"
            forge = f'sed -i "s#: \\"/.*/stdouterr\\"#: \\"{place}\\"#" {record}; touch {begun}; sleep 120'
            job_order = order(forge)
            job_order.document["properties"]["environmentVariables"] = [
                {"name": "NAME", "value": job_order.target.name}
            ]
            await submitted(slurm, job_order)
            async with asyncio.timeout(60):
                while not begun.exists():  # noqa: ASYNC110 - another machine's file, as it were
                    await asyncio.sleep(0.1)
            written = next((cluster.shared / "attempts/exp" / job_order.target.name).glob("*/result.json"))
            assert place in written.read_text()

            for file in ("environ", f"{victim.target.name}/stdout.txt"):
                with pytest.raises(NotFound):
                    await slurm.read(job_order.target, "stdouterr", file, 0, 1 << 20)
            await slurm.cancel(job_order.target)
            await ended(slurm, job_order.target)


async def test_output_below_a_mount_of_the_job_can_be_read(cluster: Slurm) -> None:
    share = cluster.shared / "exports"
    share.mkdir(exist_ok=True)
    mount = {
        "accountName": "acct",
        "azureFileUrl": "https://acct.file.core.windows.net/out",
        "relativeMountPath": "out",
        "credentials": {"accountKey": "a2V5"},
    }
    async with engine(cluster, mounts={mount["azureFileUrl"]: str(share)}) as slurm:
        job_order = order(
            "echo hello; cd $AZ_BATCHAI_OUTPUT_M; echo 12 > 1; ln -s 1 last; ln -s /etc/passwd away",
            stdOutErrPathPrefix="$AZ_BATCHAI_JOB_MOUNT_ROOT/out",
            outputDirectories=[{"id": "M", "pathPrefix": "$AZ_BATCHAI_JOB_MOUNT_ROOT/out"}],
            mountVolumes={"azureFileShares": [mount]},
        )
        await slurm.submit(job_order)
        assert (await ended(slurm, job_order.target)).state is JobState.SUCCEEDED

        assert await text(slurm, job_order.target, "stdout.txt") == "hello\n"
        members = {file.name: (file.size, file.link) for file in await slurm.files(job_order.target, "M")}
        assert members == {"1": (3, False), "last": (3, False), "away": (None, True)}


async def test_records_and_logs_are_closed_to_other_users(cluster: Slurm) -> None:
    def modes(*places: Path) -> set[int]:
        return {place.stat().st_mode & 0o077 for place in places}

    async with engine(cluster) as slurm:
        job_order = order("echo hello; sleep 1", nodeCount=2)
        await slurm.submit(job_order)
        await until(
            slurm,
            job_order.target,
            lambda observation: observation is not None and observation.state is JobState.RUNNING,
        )
        await ended(slurm, job_order.target)
    copies = cluster.shared / "attempts/exp" / job_order.target.name
    name = next(copies.glob("*-0")).name
    segment = f"mounts/logs/slurm/{NAME}/experiments/exp/jobs/{job_order.target.name}/{name}"
    run = cluster.shared / segment
    assert (run / "stdouterr/stdout.txt").read_text() == "hello\n"
    assert modes(
        copies,
        copies / "claim.json",
        copies / run.name,
        copies / run.name / "result.json",
    ) == {0}
    assert modes(run / "stdouterr") == {0}
