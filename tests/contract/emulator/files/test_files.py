"""The File service, by the storage SDK, and shares as mounts of jobs."""

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
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


def _more_than_any(request: Any) -> None:
    """The size of a file has more digits than Python reads as a number."""
    request.http_request.headers["x-ms-content-length"] = "9" * 5000


def code(raised: pytest.ExceptionInfo[HttpResponseError]) -> str:
    """The storage service's own word for an error."""
    result = getattr(raised.value, "error_code", "")
    return str(getattr(result, "value", result))


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

        with pytest.raises(HttpResponseError) as absurd:
            await share.get_file_client("absurd").create_file(1, raw_request_hook=_more_than_any)
        assert (absurd.value.status_code, code(absurd)) == (400, "InvalidHeaderValue")

        assert code(again) == "ShareAlreadyExists"
        assert "first-share" in [result.name async for result in service.list_shares()]
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
        with pytest.raises(ResourceNotFoundError) as removed:
            await share.get_share_properties()
        assert code(removed) == "ShareNotFound"


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
        assert "signed-again" in [result.name async for result in service.list_shares()]
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


async def test_no_request_follows_a_link_out_of_its_share(lab: Lab, tmp_path: Path) -> None:
    """What a job, or anyone who shares the directory, can put there."""
    (tmp_path / "here").mkdir()
    (tmp_path / "here/secret.txt").write_text("secret")
    async with shares_of(lab) as service:
        share = await service.create_share("linked")
        root = lab.emulator.data / "shares" / ACCOUNT / "linked"
        (root / "out").symlink_to(tmp_path)
        (root / "up").symlink_to("../../../..")
        (root / "file").symlink_to(tmp_path / "here/secret.txt")
        (root / "new").symlink_to(tmp_path / "made.txt")
        (root / "real").mkdir()
        (root / "real/a.txt").write_text("inside")
        (root / "in").symlink_to("real")
        os.mkfifo(root / "pipe")

        for way in ("out", "up"):
            directory = share.get_directory_client(way)
            with pytest.raises(HttpResponseError):
                await directory.upload_file("evil.txt", b"x")
            with pytest.raises(HttpResponseError):
                await directory.create_subdirectory("evil")
            with pytest.raises(HttpResponseError):
                await directory.delete_subdirectory("here")
            with pytest.raises(HttpResponseError):
                await directory.get_directory_properties()
            with pytest.raises(HttpResponseError):
                [entry async for entry in share.list_directories_and_files(way)]
        for file in ("file", "new", "out/here/secret.txt", "pipe"):
            client = share.get_file_client(file)
            with pytest.raises(HttpResponseError):
                await client.download_file()
            with pytest.raises(HttpResponseError):
                await client.upload_file(b"evil")
        with pytest.raises(ResourceNotFoundError):
            await share.get_file_client("out/here/secret.txt").delete_file()

        listed = [entry.name async for entry in share.list_directories_and_files("")]
        inside = await (await share.get_file_client("in/a.txt").download_file()).readall()
        await share.get_directory_client("in").upload_file("b.txt", b"by a link")
        await share.get_file_client("out").delete_file()
        await share.delete_share()

    assert (listed, inside) == (["in", "real"], b"inside")
    assert {entry.name for entry in os.scandir(tmp_path)} == {"here"}
    assert {entry.name for entry in os.scandir(tmp_path / "here")} == {"secret.txt"}
    assert (tmp_path / "here/secret.txt").read_text() == "secret"


async def test_a_job_cannot_list_or_serve_by_its_links_what_is_not_of_its_run(lab: Lab) -> None:
    await lab.make_cluster(autoscale(1))
    attack = """
        cd $AZ_BATCHAI_STDOUTERR_DIR/..
        ln -s /proc/self stdouterr/self; ln -s /etc/passwd stdouterr/users; mkfifo stdouterr/pipe
        mkdir outputs/real; echo 12 > outputs/real/3
        ln -s real/3 outputs/last; ln -s ../outputs/last stdouterr/new
        rm -rf $AZ_BATCHAI_OUTPUT_GONE; ln -s /proc/self $AZ_BATCHAI_OUTPUT_GONE
    """
    prefix = "$AZ_BATCHAI_JOB_MOUNT_ROOT/out"
    outputs = [{"id": "M", "pathPrefix": prefix}, {"id": "GONE", "pathPrefix": prefix, "pathSuffix": "gone"}]
    await lab.submit("job", **custom(attack), outputDirectories=outputs)
    await lab.ends("job")

    files = await lab.files("job")
    assert list(files) == [
        "execution.log", "new", "pipe", "self", "stderr.txt", "stdout.txt", "users",
    ]  # fmt: skip
    assert {name for name, file in files.items() if not file.download_url} == {"pipe", "self", "users"}
    assert {files[name].content_length for name in ("pipe", "self", "users")} == {None}
    assert await lab.read("job", "new") == "12\n"
    assert list(await lab.files("job", "M")) == ["gone", "last", "real"]
    assert not (await lab.files("job", "M"))["gone"].download_url
    assert await lab.files("job", "GONE") == {}
    assert await lab.files("job", "stdouterr", "self") == {}


async def test_no_name_and_no_time_of_a_file_keeps_the_others_from_being_listed(lab: Lab) -> None:
    await lab.make_cluster(autoscale(1))
    command = r"""
        cd $AZ_BATCHAI_STDOUTERR_DIR; touch -d @99999999999999 old
        bytes=$(printf 'a\377'); echo 1 > "$bytes"; ln -s "$bytes" linked
    """
    await lab.submit("job", **custom(command))
    await lab.ends("job")

    files = await lab.files("job")
    odd = {"a\\xff", "linked"}
    assert files.keys() == {"execution.log", "old", "stderr.txt", "stdout.txt", *odd}
    assert {name for name, file in files.items() if not file.download_url} == odd


async def test_no_job_makes_the_emulator_write_where_its_links_lead(lab: Lab, tmp_path: Path) -> None:
    """The preparation swaps what the emulator opens for the main command; both run as its user here."""
    (tmp_path / "dir").mkdir()
    (tmp_path / "file").write_text("kept")
    await lab.make_cluster(autoscale(1))
    stdout = "$AZ_BATCHAI_STDOUTERR_DIR"
    attacks = {
        "file": f"ln -s {tmp_path}/file {stdout}/stdout.txt",
        "directory": f"mv {stdout} {stdout}-moved; ln -s {tmp_path}/dir {stdout}",
        "pipe": f"mkfifo {stdout}/stdout.txt",
    }
    for name, attack in attacks.items():
        await lab.submit(name, **custom("echo evil"), jobPreparation={"commandLine": attack})

    for name in attacks:
        job = await lab.ends(name)
        assert job.execution_state == "failed", name
    assert (tmp_path / "file").read_text() == "kept"
    assert list(os.scandir(tmp_path / "dir")) == []


async def test_a_node_is_cleared_of_what_the_job_of_before_linked(lab: Lab, tmp_path: Path) -> None:
    (tmp_path / "jobs").mkdir()
    (tmp_path / "mounts").mkdir()
    (tmp_path / "mounts/out").write_text("kept")
    await lab.make_cluster(autoscale(1))
    jobs, mounts = "$AZ_BATCHAI_JOB_TEMP_DIR", "$AZ_BATCHAI_JOB_MOUNT_ROOT"
    attacks = (
        f"mv {jobs} {jobs}-moved; ln -s {tmp_path}/jobs {jobs}",
        f"mv {mounts} {mounts}-moved; ln -s {tmp_path}/mounts {mounts}",
        "echo fine",
    )
    for number, attack in enumerate(attacks):
        await lab.submit(f"job{number}", **custom(attack))
        await lab.ends(f"job{number}")

    assert await lab.read("job2", "stdout.txt") == "fine\n"
    assert list(os.scandir(tmp_path / "jobs")) == []
    assert (tmp_path / "mounts/out").read_text() == "kept"
