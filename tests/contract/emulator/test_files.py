"""The File service, by the storage SDK, and shares as mounts of jobs."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from azure.core.exceptions import HttpResponseError, ResourceExistsError, ResourceNotFoundError
from azure.storage.fileshare import (
    AccountSasPermissions,
    ResourceTypes,
    generate_account_sas,
    generate_file_sas,
    generate_share_sas,
)
from azure.storage.fileshare.aio import ShareFileClient, ShareServiceClient

from local.azurite import ACCOUNT, KEY
from tests.contract.emulator.conftest import CLUSTER, GROUP, Lab, autoscale, custom, share_mount, until


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


async def test_a_sas_of_a_share_reads_and_writes_its_files_and_no_more(lab: Lab) -> None:
    async with shares_of(lab) as service:
        await service.create_share("signed")
    soon = datetime.now(UTC) + timedelta(minutes=5)
    address = f"{lab.emulator.url}/{ACCOUNT}"

    token = generate_share_sas(ACCOUNT, "signed", KEY, "rcwdl", soon)
    async with ShareServiceClient(address, credential=token) as service:
        share = service.get_share_client("signed")
        directory = await share.create_directory("a folder")
        file = await directory.upload_file("x & y.txt", b"signed")
        listed = [entry.name async for entry in share.list_directories_and_files("a folder")]
        with pytest.raises(HttpResponseError) as refused:
            await share.delete_share()
        assert listed == ["x & y.txt"]
        assert await (await file.download_file()).readall() == b"signed"
        assert code(refused) == "AuthorizationResourceTypeMismatch"

    token = generate_file_sas(ACCOUNT, "signed", ["a folder", "x & y.txt"], KEY, "r", soon)
    async with ShareFileClient(address, "signed", "a folder/x & y.txt", credential=token) as file:
        assert (await file.get_file_properties()).size == 6
        with pytest.raises(HttpResponseError) as refused:
            await file.delete_file()
        assert code(refused) == "AuthorizationPermissionMismatch"


async def test_a_sas_of_the_account_manages_shares_until_it_expires(lab: Lab) -> None:
    types, now = ResourceTypes(service=True, container=True), datetime.now(UTC)
    address = f"{lab.emulator.url}/{ACCOUNT}"
    permission = AccountSasPermissions(read=True, create=True, delete=True, list=True)

    token = generate_account_sas(ACCOUNT, KEY, types, permission, now + timedelta(minutes=5))
    async with ShareServiceClient(address, credential=token) as service:
        share = await service.create_share("signed-again")
        assert "signed-again" in [found.name async for found in service.list_shares()]
        await share.delete_share()

    token = generate_account_sas(ACCOUNT, KEY, types, permission, now - timedelta(minutes=5))
    async with ShareServiceClient(address, credential=token) as service:
        with pytest.raises(HttpResponseError) as expired:
            await service.create_share("too-late")
    assert (expired.value.status_code, code(expired)) == (403, "AuthenticationFailed")


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


async def test_a_share_that_is_not_there_makes_nodes_unusable_until_they_are_replaced(lab: Lab) -> None:
    mounts = {"azureFileShares": [share_mount("later", "logs")]}
    await lab.make_cluster({"manual": {"targetNodeCount": 2}}, nodeSetup={"mountVolumes": mounts})

    async def failed() -> Any:
        cluster = await lab.cluster()
        return cluster if len(cluster.errors or ()) == 2 else None

    cluster = await until(failed)
    assert cluster.node_state_counts.unusable_node_count == 2
    assert {error.code for error in cluster.errors} == {"AFSMountError"}
    assert "later" in cluster.errors[0].message
    assert len({error.details[0].value for error in cluster.errors}) == 2

    async with shares_of(lab) as service:
        await service.create_share("later")
        for count in (0, 2):
            await scaled(lab, count)

        mended = await lab.cluster()
        assert (mended.errors, mended.node_state_counts.idle_node_count) == (None, 2)


async def scaled(lab: Lab, count: int) -> None:
    """Scale by hand and wait until it is done."""
    scale = {"properties": {"scaleSettings": {"manual": {"targetNodeCount": count}}}}
    await lab.client.clusters.update(GROUP, lab.workspace, CLUSTER, scale)

    async def done() -> bool:
        cluster = await lab.cluster()
        ready = cluster.node_state_counts.idle_node_count == count
        return bool(ready and cluster.current_node_count == count)

    await until(done)


async def test_a_setup_task_that_fails_makes_its_node_unusable_with_the_exit_code(lab: Lab) -> None:
    task = {"commandLine": "exit 3", "stdOutErrPathPrefix": "$HOME"}
    await lab.make_cluster({"manual": {"targetNodeCount": 1}}, nodeSetup={"setupTask": task})
    await lab.submit("job", **custom("true"))

    async def failed() -> Any:
        return (await lab.cluster()).errors

    (error,) = await until(failed)

    assert error.code == "NodeSetupFailed"
    assert {entry.name: entry.value for entry in error.details}["exitCode"] == "3"
    assert (await lab.job("job")).execution_state == "queued"


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
