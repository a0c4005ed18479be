"""Jobs on an emulated cluster, from PUT to their output."""

import aiohttp
import pytest
from azure.storage.blob.aio import BlobServiceClient

from tests.contract.emulator.conftest import Emulated, autoscale, until


async def test_a_job_wakes_a_cluster_from_zero_nodes_and_lets_it_sleep_again(emulator: Emulated) -> None:
    cluster = await emulator.cluster(autoscale(2))
    assert (await emulator.nodes()).current_node_count == 0

    await emulator.submit(cluster, "job", customToolkitSettings={"commandLine": "echo $AZ_BATCHAI_NUM_GPUS"})
    job = await emulator.ends("job")

    assert job.execution_state == "succeeded", job.execution_info.errors
    assert job.execution_info.exit_code == 0

    async def asleep() -> bool:
        now = await emulator.nodes()
        return now.current_node_count == 0 and now.allocation_state == "steady"

    await until(asleep)
