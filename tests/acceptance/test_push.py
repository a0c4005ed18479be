"""Ends reported at once: no pass runs here, no cluster sends a notice; only records of runs arrive."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from local.azurite import KEY
from local.stack import Options, stack
from tests.acceptance.conftest import provisioned
from tests.acceptance.door import ENDS, Door, eventually, shell, unique

pytestmark = pytest.mark.asyncio(loop_scope="module")

NEVER = "0 0 0 1 1 *"
#: As nodes mount it, with a key of their own: by the deployment's, a job only reads it.
SCRIPTS = {
    "accountName": "<AZURE_BATCHAI_STORAGE_ACCOUNT>",
    "containerName": "scripts",
    "relativeMountPath": "scripts",
    "credentials": {"accountKey": KEY},
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def door(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Door]:
    options = Options(
        data=tmp_path_factory.mktemp("push"),
        in_memory=True,
        overrides={
            "SLIPWAY_SWEEPER_SCHEDULE": NEVER,
            "SLIPWAY_INVENTORY_SECONDS": "0",
        },
        cluster_arguments=("--notice-queue=", "--provisioning-seconds=0", "--containers=host"),
    )
    async with stack(options, provisioned) as running, Door(running, "") as opened:
        yield opened


async def test_what_a_node_writes_into_a_mounted_container_ends_the_job(door: Door) -> None:
    """Its record claims a success; the cluster knows better."""
    name = unique("record")
    ends = "$AZ_BATCHAI_JOB_MOUNT_ROOT/scripts/.slipway/ends/$SLIPWAY_JOB_ID.1"
    command = f"""mkdir -p {ends}; echo '{{"exitCode": 0}}' > {ends}/result.json; exit 7"""
    spec = shell(command, mountVolumes={"azureBlobFileSystems": [SCRIPTS]})

    await door.call("POST", "jobs", {"name": name, "spec": spec, "notify": [door.hook(name)]})

    job = await door.ended(name=name)
    assert (job["state"], job["exitCode"]) == ("failed", 7)
    assert (await door.event(name, "io.slipway.job.failed.v1"))[0]["verified"]
    assert len(await door.jobs()) == 1, "no drop is seen in a record"


async def test_an_event_of_a_record_on_the_queue_ends_the_job_however_often_it_comes(door: Door) -> None:
    name = unique("event")
    _, job, _ = await door.call(
        "POST", "jobs", {"name": name, "spec": shell("exit 3"), "notify": [door.hook(name)]}
    )
    event = {
        "id": "1",
        "eventType": "Microsoft.Storage.BlobCreated",
        "subject": f"/blobServices/default/containers/datalake/blobs/ends/{job['id']}.1/result.json",
        "data": {"api": "PutBlob", "exitCode": 0},
    }

    async def reports() -> dict[str, Any] | None:
        await door.send([event])
        _, result, _ = await door.call("GET", f"jobs/{job['id']}")
        return result if result["state"] in ENDS else None

    ended = await eventually(reports, "the end")

    assert (ended["state"], ended["exitCode"]) == ("failed", 3)
    await door.event(name, "io.slipway.job.failed.v1")
    assert len(await door.events(name)) == 1
    assert await door.poisoned() == []
