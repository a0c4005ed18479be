"""The CLI's other commands: those that work, and what the tutorial says of different or broken ones."""

from __future__ import annotations

import json
from typing import Any

import aiohttp
import pytest
import pytest_asyncio

from local.azurite import ACCOUNT
from tests.acceptance.az import AZ, REASON, Az

pytestmark = [
    pytest.mark.skipif(not AZ, reason=REASON),
    pytest.mark.asyncio(loop_scope="session"),
]

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
    files = await ready.say("batchai", "cluster", "file", "list", *W, "-c", "c", fails=True)
    dropped = await ready.say("batchai", "file-server", "show", *W, "-n", "nfs", fails=True)

    assert "missing 1 required positional argument: 'parameters'" in scale
    assert "object has no attribute 'get'" in server
    assert "Must be an object, not a string" in storage
    assert "file.core.windows.net" in files
    assert "misspelled or not recognized" in dropped


async def test_storage_is_found_by_its_address(ready: Az) -> None:
    (ready.folder / "a.txt").write_text("content")
    other = await ready.say(
        "storage", "account", "create", "-n", "another", "-g", GROUP, "-l", "eastus", fails=True
    )
    await ready.say("storage", "file", "upload", "-s", "results", "--source", "a.txt")
    into = ("--dest", "b.txt")
    no_folder = await ready.say(
        "storage", "file", "download", "-s", "results", "-p", "a.txt", *into, fails=True
    )
    until = ("--permissions", "r", "--expiry", "2099-01-01T00:00Z")
    signature = await ready.ask("storage", "file", "generate-sas", "-s", "results", "-p", "a.txt", *until)
    address = await ready.ask("storage", "file", "url", "-s", "results", "-p", "a.txt")
    async with aiohttp.ClientSession() as session, session.get(f"{address}?{signature}") as answer:
        fetched = await answer.text()

    assert "The emulator has one storage account" in other
    assert "b.txt/a.txt" in no_folder
    assert fetched == "content"
