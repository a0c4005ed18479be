"""The File service, by the storage SDK, and shares as mounts of jobs."""

from typing import Any

import pytest
from azure.core.exceptions import HttpResponseError, ResourceExistsError, ResourceNotFoundError
from azure.storage.fileshare.aio import ShareServiceClient

from local.azurite import ACCOUNT, KEY
from tests.contract.emulator.conftest import Lab, autoscale, custom, share_mount, until


def shares_of(lab: Lab, key: str = KEY) -> ShareServiceClient:
    return ShareServiceClient.from_connection_string(
        f"DefaultEndpointsProtocol=http;AccountName={ACCOUNT};AccountKey={key};"
        f"FileEndpoint={lab.emulator.url}/{ACCOUNT}",
        max_range_size=1 << 16,
    )


def code(raised: pytest.ExceptionInfo[HttpResponseError]) -> str:
    """The storage service's own word for an error."""
    found = getattr(raised.value, "error_code", "")
    return str(getattr(found, "value", found))


async def test_shares_directories_and_files_come_and_go(lab: Lab) -> None:
    content = bytes(range(256)) * 1000  # several ranges of the size below
    async with shares_of(lab) as service:
        share = await service.create_share("first-share")
        with pytest.raises(ResourceExistsError) as again:
            await service.create_share("first-share")
        directory = await share.create_directory("some scripts")
        with pytest.raises(ResourceExistsError):
            await share.create_directory("some scripts")
        file = await directory.upload_file("a+b & c.bin", content)
        await directory.upload_file("empty", b"")

        assert code(again) == "ShareAlreadyExists"
        assert "first-share" in [found.name async for found in service.list_shares()]
        assert await directory.exists()
        assert not await share.get_directory_client("absent").exists()
        assert await (await file.download_file()).readall() == content
        assert await (await file.download_file(offset=10, length=5)).readall() == content[10:15]
        assert (await file.get_file_properties()).size == len(content)
        listed: dict[str, Any] = {
            entry.name: entry async for entry in share.list_directories_and_files("some scripts")
        }
        assert listed.keys() == {"a+b & c.bin", "empty"}
        assert listed["a+b & c.bin"].size == len(content)

        with pytest.raises(HttpResponseError) as full:
            await share.delete_directory("some scripts")
        assert code(full) == "DirectoryNotEmpty"
        await file.delete_file()
        assert not await file.exists()
        await share.delete_share()
        with pytest.raises(ResourceNotFoundError) as gone:
            await share.get_share_properties()
        assert code(gone) == "ShareNotFound"


async def test_a_wrong_key_is_refused(lab: Lab) -> None:
    async with shares_of(lab, "d3Jvbmc=") as service:
        with pytest.raises(HttpResponseError) as refused:
            await service.create_share("second-share")

    assert refused.value.status_code == 403
    assert code(refused) == "AuthenticationFailed"


async def test_a_share_is_mounted_on_the_nodes_of_a_cluster(lab: Lab) -> None:
    async with shares_of(lab) as service:
        share = await service.create_share("logs")
        await (await share.create_directory("scripts")).upload_file("hello.py", b"print('hi from a share')")
        mounts = {"azureFileShares": [share_mount("logs", "logs")]}
        await lab.make_cluster(autoscale(1), nodeSetup={"mountVolumes": mounts})

        await lab.submit(
            "job",
            mountVolumes={},
            stdOutErrPathPrefix="$AZ_BATCHAI_MOUNT_ROOT/logs",
            outputDirectories=[{"id": "OUT", "pathPrefix": "$AZ_BATCHAI_JOB_TEMP"}],
            **custom("python $AZ_BATCHAI_MOUNT_ROOT/logs/scripts/hello.py"),
        )
        job = await lab.ends("job")

        assert job.execution_state == "succeeded", job.execution_info.errors
        assert await lab.read("job", "stdout.txt") == "hi from a share\n"
        path = f"{job.job_output_directory_path_segment}/stdouterr/stdout.txt"
        stored = await share.get_file_client(path).download_file()
        assert await stored.readall() == b"hi from a share\n"
        with pytest.raises(HttpResponseError, match="OUT is not present on a mount root"):
            await lab.files("job", "OUT")


async def test_a_share_that_is_not_there_makes_the_node_unusable_and_says_so(lab: Lab) -> None:
    mounts = {"azureFileShares": [share_mount("nowhere", "logs")]}
    await lab.make_cluster({"manual": {"targetNodeCount": 1}}, nodeSetup={"mountVolumes": mounts})

    async def failed() -> Any:
        cluster = await lab.cluster()
        return cluster if cluster.errors else None

    cluster = await until(failed)

    assert cluster.node_state_counts.unusable_node_count == 1
    (error,) = cluster.errors
    assert error.code == "AFSMountError"
    assert "nowhere" in error.message


async def test_a_setup_task_prepares_each_node(lab: Lab) -> None:
    async with shares_of(lab) as service:
        share = await service.create_share("setup")
        task = {
            "commandLine": "echo $WHO; echo ready > $HOME/ready",
            "stdOutErrPathPrefix": "$AZ_BATCHAI_MOUNT_ROOT/setup",
            "environmentVariables": [{"name": "WHO", "value": "me"}],
        }
        volumes = {"azureFileShares": [share_mount("setup", "setup")]}
        await lab.make_cluster(autoscale(1), nodeSetup={"mountVolumes": volumes, "setupTask": task})

        await lab.submit("job", **custom("cat $HOME/ready"))
        await lab.ends("job")

        assert await lab.read("job", "stdout.txt") == "ready\n"
        suffix = (await lab.cluster()).node_setup.setup_task.std_out_err_path_suffix
        (written,) = [
            entry.name
            async for entry in share.list_directories_and_files(suffix)
            if entry.name.startswith("stdout-tvm-")
        ]
        assert await (await share.get_file_client(f"{suffix}/{written}").download_file()).readall() == b"me\n"
