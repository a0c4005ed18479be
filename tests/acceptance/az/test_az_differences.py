"""The CLI's other commands: those that work, and what the page says of different or broken ones."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import pytest_asyncio

from local.azurite import ACCOUNT, KEY
from tests.acceptance.az.az import AZ, REASON, Az

pytestmark = [
    pytest.mark.skipif(not AZ, reason=REASON),
    pytest.mark.asyncio(loop_scope="session"),
]

PAGE = (Path(__file__).parents[3] / "docs" / "reference" / "emulator.md").read_text(encoding="utf-8")
GROUP, WORKSPACE, EXPERIMENT = "others", "others", "others"
W = ("-g", GROUP, "-w", WORKSPACE)
E = (*W, "-e", EXPERIMENT)
MACHINE = ("-s", "Standard_NC6", "-u", "me", "-p", "Passw0rd")
JOB = {
    "properties": {
        "nodeCount": 1,
        "customToolkitSettings": {"commandLine": "sleep 600"},
        "stdOutErrPathPrefix": "$AZ_BATCHAI_JOB_MOUNT_ROOT/results",
    }
}


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def ready(az: Az) -> Az:
    """After the creation of a cluster with a setup task, and of an experiment."""
    await az.ask("group", "create", "-n", GROUP, "-l", "eastus")
    await az.ask("storage", "share", "create", "-n", "results", "--account-name", ACCOUNT)
    await az.ask("batchai", "workspace", "create", "-l", "eastus", "-g", GROUP, "-n", WORKSPACE)
    await az.ask("batchai", "experiment", "create", *W, "-n", EXPERIMENT)
    await az.ask(
        "batchai", "cluster", "create", *W, "-n", "c", *MACHINE, "-t", "1",
        "--setup-task", "echo ready", "--setup-task-output", "$AZ_BATCHAI_MOUNT_ROOT/results",
        "--afs-name", "results", "--afs-mount-path", "results",
    )  # fmt: skip
    return az


async def test_everything_can_be_shown_and_listed(ready: Az) -> None:
    shown: list[Any] = [
        await ready.ask("batchai", "workspace", "show", "-g", GROUP, "-n", WORKSPACE),
        await ready.ask("batchai", "experiment", "show", *W, "-n", EXPERIMENT),
        await ready.ask("batchai", "cluster", "show", *W, "-n", "c"),
    ]
    listed = [
        *await ready.ask("batchai", "workspace", "list", "-g", GROUP),
        *await ready.ask("batchai", "experiment", "list", *W),
        *await ready.ask("batchai", "cluster", "list", *W),
    ]

    assert [one["name"] for one in shown] == [one["name"] for one in listed] == [WORKSPACE, EXPERIMENT, "c"]
    assert await ready.ask("batchai", "file-server", "list", *W) == []


async def test_a_job_takes_mounts_from_the_command_and_has_nodes(ready: Az) -> None:
    (ready.folder / "mountless.json").write_text(json.dumps(JOB))
    mount = ("--afs-name", "results", "--afs-mount-path", "results", "--storage-account-name", ACCOUNT)
    job = await ready.ask(
        "batchai", "job", "create", *E, "-n", "j", "-c", "c", "-f", "mountless.json", *mount
    )
    nodes: list[Any] = []
    while not nodes:
        nodes = await ready.ask("batchai", "job", "node", "list", *E, "-j", "j")
    no_server = await ready.say(
        "batchai", "job", "node", "exec", *E, "-j", "j", "--exec", "hostname", fails=True
    )
    await ready.say("batchai", "job", "terminate", *E, "-n", "j", "-y")
    code, _, _ = await ready.run("batchai", "job", "wait", *E, "-n", "j")

    assert [share["relativeMountPath"] for share in job["mountVolumes"]["azureFileShares"]] == ["results"]
    assert nodes[0]["ipAddress"].startswith("127.0.")
    assert "Unable to connect" in no_server
    assert code == 0  # it has no exit code, which the CLI takes for success


async def test_a_job_that_could_not_start_fails_the_wait_and_says_why(ready: Az) -> None:
    absent = {"caffeSettings": {"configFilePath": "solver.prototxt"}}
    properties = {name: one for name, one in JOB["properties"].items() if name != "customToolkitSettings"}
    (ready.folder / "absent.json").write_text(json.dumps({"properties": properties | absent}))
    mount = ("--afs-name", "results", "--afs-mount-path", "results", "--storage-account-name", ACCOUNT)
    await ready.ask("batchai", "job", "create", *E, "-n", "k", "-c", "c", "-f", "absent.json", *mount)

    code, _, _ = await ready.run("batchai", "job", "wait", *E, "-n", "k")
    reason = await ready.say("batchai", "job", "file", "stream", *E, "-j", "k", "-f", "stderr.txt")
    listed = await ready.ask("batchai", "job", "file", "list", *E, "-j", "k")
    address = {one["name"]: one["downloadUrl"] for one in listed}["stderr.txt"]
    async with aiohttp.ClientSession() as session, session.get(address) as answer:  # as curl: without our CA
        fetched = await answer.text()

    assert code == 127
    assert reason == fetched
    assert reason.startswith("ProgramNotInstalled: There is no caffe on the nodes")


async def test_the_logs_of_a_setup_task_are_in_storage(ready: Az) -> None:
    cluster: Any = {"nodeStateCounts": {"idleNodeCount": 0}}
    while not cluster["nodeStateCounts"]["idleNodeCount"]:
        cluster = await ready.ask("batchai", "cluster", "show", *W, "-n", "c")
    suffix = cluster["nodeSetup"]["setupTask"]["stdOutErrPathSuffix"]

    # The CLI looks in the root of the share for names that begin with the path.
    assert await ready.ask("batchai", "cluster", "file", "list", *W, "-c", "c") == []
    listed = await ready.ask("storage", "file", "list", "-s", "results", "-p", suffix)
    assert sorted(one["name"].partition("-")[0] for one in listed) == ["stderr", "stdout"]


async def test_what_is_broken_in_the_cli_fails_in_the_cli(ready: Az) -> None:
    scale = await ready.say(
        "batchai", "cluster", "auto-scale", *W, "-n", "c", "--min", "0", "--max", "1", fails=True
    )
    server = await ready.say(
        "batchai", "file-server", "create", *W, "-n", "nfs", *MACHINE,
        "--disk-count", "1", "--disk-size", "10", fails=True,
    )  # fmt: skip
    storage = await ready.say(
        "batchai", "cluster", "create", *W, "-n", "d", *MACHINE, "-t", "0",
        "--use-auto-storage", fails=True,
    )  # fmt: skip
    dropped = await ready.say("batchai", "file-server", "show", *W, "-n", "nfs", fails=True)

    assert "missing 1 required positional argument: 'parameters'" in scale
    assert "object has no attribute 'get'" in server
    assert "Must be an object, not a string" in storage
    assert "misspelled or not recognized" in dropped


async def test_storage_commands_of_old_tutorials_take_the_account_and_its_key(ready: Az) -> None:
    account = ("--account-name", ACCOUNT, "--account-key", KEY)
    (ready.folder / "mnist.txt").write_text("content")

    await ready.say("storage", "share", "create", "-n", "old-share", *account)
    await ready.say("storage", "directory", "create", "-s", "old-share", "-n", "hello", *account)
    upload = ("-s", "old-share", "--source", "mnist.txt", "-p", "hello")
    await ready.say("storage", "file", "upload", *upload, *account)
    listed = await ready.ask("storage", "file", "list", "-s", "old-share", "-p", "hello", *account)
    await ready.say("storage", "container", "create", "-n", "old-container", *account)
    blob = ("-c", "old-container", "-n", "mnist.txt")
    await ready.say("storage", "blob", "upload", *blob, "-f", "mnist.txt", *account)
    await ready.say("storage", "blob", "download", *blob, "-f", "copy.txt", *account)
    address = await ready.ask("storage", "blob", "url", *blob, *account)

    assert [one["name"] for one in listed] == ["mnist.txt"]
    assert (ready.folder / "copy.txt").read_text() == "content"
    assert address == f"https://{ACCOUNT}.blob.core.windows.net/old-container/mnist.txt"


async def test_they_do_so_without_the_connection_string_too(ready: Az) -> None:
    env = {name: value for name, value in ready.env.items() if name != "AZURE_STORAGE_CONNECTION_STRING"}
    bare = Az(ready.folder, ready.data, env)

    for words in (("share", "create", "-n", "bare-share"), ("container", "create", "-n", "bare-container")):
        created = await bare.ask("storage", *words, "--account-name", ACCOUNT, "--account-key", KEY)
        assert created == {"created": True}


async def test_a_cluster_takes_other_limits_by_the_request_of_the_tutorial(ready: Az) -> None:
    (command,) = re.findall(r"    az (rest .*?)\n(?:\n|\Z)", PAGE, re.DOTALL)
    names = {"batchai.recipes": GROUP, "recipe_workspace": WORKSPACE, "nc6": "c"}
    words = shlex.split(re.sub("|".join(names), lambda name: names[name[0]], command.replace("\\\n", " ")))

    await ready.say(*words)
    changed = await ready.ask("batchai", "cluster", "show", *W, "-n", "c")
    await ready.say("batchai", "cluster", "resize", *W, "-n", "c", "-t", "1")

    limits = {"minimumNodeCount": 0, "maximumNodeCount": 4, "initialNodeCount": 0}
    assert changed["scaleSettings"]["autoScale"] == limits


async def test_storage_is_found_by_its_address(ready: Az) -> None:
    (ready.folder / "a.txt").write_text("content")
    other = await ready.say(
        "storage", "account", "create", "-n", "another", "-g", GROUP, "-l", "eastus", fails=True
    )
    await ready.say("storage", "file", "upload", "-s", "results", "--source", "a.txt")
    destination = ("--dest", "b.txt")
    no_folder = await ready.say(
        "storage", "file", "download", "-s", "results", "-p", "a.txt", *destination, fails=True
    )
    until = ("--permissions", "r", "--expiry", "2099-01-01T00:00Z")
    signature = await ready.ask("storage", "file", "generate-sas", "-s", "results", "-p", "a.txt", *until)
    address = await ready.ask("storage", "file", "url", "-s", "results", "-p", "a.txt")
    async with aiohttp.ClientSession() as session, session.get(f"{address}?{signature}") as answer:
        fetched = await answer.text()

    assert "The emulator has one storage account" in other
    assert "b.txt/a.txt" in no_folder
    assert fetched == "content"
