"""Where in blob storage the output of a job lies."""

from __future__ import annotations

from typing import Any

import pytest

from shared.core.job import Job
from shared.core.ports import BlobFolder
from shared.operate.files.blob_folder import folder_of
from tests.unit.world import World, job_json

ROOT = "$AZ_BATCHAI_JOB_MOUNT_ROOT"
SEGMENT = "sub/group/workspaces/dev/experiments/e/jobs/a-1/uuid"


@pytest.fixture
async def job(world: World) -> Job:
    return (await world.message(job_json())).job.model_copy(update={"segment": SEGMENT})


def blobs(at: str, container: str = "models", account: str = "acct") -> dict[str, str]:
    return {"accountName": account, "containerName": container, "relativeMountPath": at}


def document(prefix: str, *mounts: dict[str, str], suffix: str = "m", **others: Any) -> dict[str, Any]:
    directory = {"id": "MODEL", "pathPrefix": prefix, "pathSuffix": suffix}
    volumes = {"azureBlobFileSystems": list(mounts), **others}
    return {"properties": {"outputDirectories": [directory], "mountVolumes": volumes}}


@pytest.mark.parametrize(
    ("prefix", "at", "place"),
    [
        (f"{ROOT}/out", "out", ""),
        (f"{ROOT}/out/", "/out/", ""),
        ("${AZ_BATCHAI_JOB_MOUNT_ROOT}/out", "out", ""),
        (f"{ROOT}/out/team/a", "out", "team/a/"),
        (f"{ROOT}//a/./out/x", "a/out", "x/"),
    ],
)
async def test_a_directory_below_a_mounted_container_lies_in_it(
    job: Job, prefix: str, at: str, place: str
) -> None:
    folder = folder_of(job, document(prefix, blobs(at)), "MODEL", "acct")

    assert folder == BlobFolder("models", f"{place}{SEGMENT}/outputs/m")


async def test_so_do_standard_output_and_error(job: Job) -> None:
    properties = {
        "stdOutErrPathPrefix": f"{ROOT}/out/logs",
        "mountVolumes": {"azureBlobFileSystems": [blobs("out")]},
    }

    folder = folder_of(job, {"properties": properties}, "stdouterr", "acct")

    assert folder == BlobFolder("models", f"logs/{SEGMENT}/stdouterr")


async def test_the_nearest_mount_counts(job: Job) -> None:
    both = document(f"{ROOT}/out/in", blobs("out", "outer"), blobs("out/in", "inner"))
    share = {"relativeMountPath": "out/in", "accountName": "acct"}
    covered = document(f"{ROOT}/out/in", blobs("out"), azureFileShares=[share])
    beside = document(f"{ROOT}/outside", blobs("out"))

    assert folder_of(job, both, "MODEL", "acct") == BlobFolder("inner", f"{SEGMENT}/outputs/m")
    assert folder_of(job, covered, "MODEL", "acct") is None
    assert folder_of(job, beside, "MODEL", "acct") is None


@pytest.mark.parametrize(
    ("prefix", "changes"),
    [
        ("$AZ_BATCHAI_MOUNT_ROOT/out", {}),
        (f"{ROOT}/$TEAM/out", {}),
        (f"{ROOT}/out/`date`", {}),
        (f"{ROOT}/out/../../elsewhere", {}),
        (f"{ROOT}/out\\..", {}),
        ("/mnt/out", {}),
        (f"{ROOT}/out", {"suffix": "../../other-job"}),
    ],
)
async def test_what_is_not_known_for_sure_has_no_folder(
    job: Job, prefix: str, changes: dict[str, str]
) -> None:
    assert folder_of(job, document(prefix, blobs("out"), **changes), "MODEL", "acct") is None


async def test_only_of_the_own_account_and_after_the_cluster_has_named_the_folders(job: Job) -> None:
    written = document(f"{ROOT}/out", blobs("out", account="foreign"))
    own = document(f"{ROOT}/out", blobs("out"))

    assert folder_of(job, written, "MODEL", "acct") is None
    assert folder_of(job, own, "OTHER", "acct") is None
    assert folder_of(job, {}, "MODEL", "acct") is None
    assert folder_of(job.model_copy(update={"segment": ""}), own, "MODEL", "acct") is None
    assert folder_of(job, document(f"{ROOT}/out", blobs("out", account="")), "MODEL", "") is None
