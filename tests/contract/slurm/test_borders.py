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
    async with engine(cluster) as on:
        asked = order(command)
        await on.submit(asked)
        await ended(on, asked.target)

        with pytest.raises(NotFound, match="leads out"):
            await on.read(asked.target, "stdouterr", "environ", 0, 1 << 20)
        with pytest.raises(NotFound, match="leads out"):
            await on.files(asked.target, "stdouterr")


async def test_a_job_that_writes_another_directory_into_its_record_shows_nothing_of_it(
    cluster: Slurm,
) -> None:
    async with engine(cluster) as on:
        victim = order("echo of another")
        await submitted(on, victim)
        await ended(on, victim.target)
        assert await text(on, victim.target, "stdout.txt") == "of another\n"

        for place in ("/proc/self", f"{cluster.shared}/mounts/logs/slurm/{NAME}/experiments/exp/jobs/"):
            record = f"{cluster.shared}/attempts/exp/$NAME/*/result.json"
            begun = cluster.shared / f"begun{len(place)}"
            forge = f'sed -i "s#: \\"/.*/stdouterr\\"#: \\"{place}\\"#" {record}; touch {begun}; sleep 120'
            asked = order(forge)
            asked.document["properties"]["environmentVariables"] = [
                {"name": "NAME", "value": asked.target.name}
            ]
            await submitted(on, asked)
            async with asyncio.timeout(60):
                while not begun.exists():  # noqa: ASYNC110 - another machine's file, as it were
                    await asyncio.sleep(0.1)
            written = next((cluster.shared / "attempts/exp" / asked.target.name).glob("*/result.json"))
            assert place in written.read_text()

            for file in ("environ", f"{victim.target.name}/stdout.txt"):
                with pytest.raises(NotFound):
                    await on.read(asked.target, "stdouterr", file, 0, 1 << 20)
            await on.cancel(asked.target)
            await ended(on, asked.target)


async def test_output_below_a_mount_of_the_job_can_be_read(cluster: Slurm) -> None:
    share = cluster.shared / "exports"
    share.mkdir(exist_ok=True)
    mount = {
        "accountName": "acct",
        "azureFileUrl": "https://acct.file.core.windows.net/out",
        "relativeMountPath": "out",
        "credentials": {"accountKey": "a2V5"},
    }
    async with engine(cluster, mounts={mount["azureFileUrl"]: str(share)}) as on:
        asked = order(
            "echo hello; cd $AZ_BATCHAI_OUTPUT_M; echo 12 > 1; ln -s 1 last; ln -s /etc/passwd away",
            stdOutErrPathPrefix="$AZ_BATCHAI_JOB_MOUNT_ROOT/out",
            outputDirectories=[{"id": "M", "pathPrefix": "$AZ_BATCHAI_JOB_MOUNT_ROOT/out"}],
            mountVolumes={"azureFileShares": [mount]},
        )
        await on.submit(asked)
        assert (await ended(on, asked.target)).state is JobState.SUCCEEDED

        assert await text(on, asked.target, "stdout.txt") == "hello\n"
        found = {file.name: (file.size, file.link) for file in await on.files(asked.target, "M")}
        assert found == {"1": (3, False), "last": (3, False), "away": (None, True)}


async def test_records_and_logs_are_closed_to_other_users(cluster: Slurm) -> None:
    def modes(*places: Path) -> set[int]:
        return {place.stat().st_mode & 0o077 for place in places}

    async with engine(cluster) as on:
        asked = order("echo hello; sleep 1", nodeCount=2)
        await on.submit(asked)
        await until(on, asked.target, lambda seen: seen is not None and seen.state is JobState.RUNNING)
        await ended(on, asked.target)
    kept = cluster.shared / "attempts/exp" / asked.target.name
    segment = (
        f"mounts/logs/slurm/{NAME}/experiments/exp/jobs/{asked.target.name}/{next(kept.glob('*-0')).name}"
    )
    run = cluster.shared / segment
    assert (run / "stdouterr/stdout.txt").read_text() == "hello\n"
    assert modes(kept, kept / "claim.json", kept / run.name, kept / run.name / "result.json") == {0}
    assert modes(run / "stdouterr") == {0}
