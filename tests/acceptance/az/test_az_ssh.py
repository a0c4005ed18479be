"""The nodes that the Azure CLI lists answer ssh, with the keys that it makes, and its own `node exec`."""

from __future__ import annotations

import asyncio
import json
import shutil
from dataclasses import dataclass

import pytest
import pytest_asyncio

from local.azurite import ACCOUNT
from local.patience import Patience
from tests.acceptance.az.az import AZ, REASON, Az

pytestmark = [
    pytest.mark.skipif(not AZ, reason=REASON),
    pytest.mark.skipif(shutil.which("ssh") is None, reason="this machine has no OpenSSH client"),
    pytest.mark.asyncio(loop_scope="session"),
]

GROUP, WORKSPACE, EXPERIMENT = "entered", "entered", "entered"
IN_WORKSPACE = ("-g", GROUP, "-w", WORKSPACE)
IN_EXPERIMENT = (*IN_WORKSPACE, "-e", EXPERIMENT)
JOB = {
    "properties": {
        "nodeCount": 1,
        "customToolkitSettings": {"commandLine": "sleep 900"},
        "stdOutErrPathPrefix": "$AZ_BATCHAI_JOB_MOUNT_ROOT/logs",
        "environmentVariables": [{"name": "COLOUR", "value": "blue"}],
        "mountVolumes": {
            "azureFileShares": [
                {
                    "azureFileUrl": "https://<AZURE_BATCHAI_STORAGE_ACCOUNT>.file.core.windows.net/logs",
                    "relativeMountPath": "logs",
                }
            ]
        },
    }
}


@dataclass(frozen=True)
class Node:
    """A node with a job, as `az batchai cluster node list -o table` shows it."""

    address: str
    port: str


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def node(az: Az) -> Node:
    await az.ask("group", "create", "-n", GROUP, "-l", "eastus")
    await az.ask("storage", "share", "create", "-n", "logs", "--account-name", ACCOUNT)
    await az.ask("batchai", "workspace", "create", "-l", "eastus", "-g", GROUP, "-n", WORKSPACE)
    await az.ask("batchai", "experiment", "create", *IN_WORKSPACE, "-n", EXPERIMENT)
    create = ("batchai", "cluster", "create", *IN_WORKSPACE, "-n", "nc6", "-s", "Standard_NC6")
    await az.ask(*create, "-t", "1", "-i", "UbuntuLTS", "-u", "me", "--generate-ssh-keys")
    (az.folder / "sleeps.json").write_text(json.dumps(JOB))
    job = ("batchai", "job", "create", *IN_EXPERIMENT, "-n", "sleeps", "-c", "nc6", "-f", "sleeps.json")
    await az.ask(*job, "--storage-account-name", ACCOUNT)
    patience = Patience(120.0)
    shown = ("batchai", "job", "show", *IN_EXPERIMENT, "-n", "sleeps")
    while (state := (await az.ask(*shown))["executionState"]) != "running":
        assert not patience.is_over(state), state
    table = await az.say("batchai", "cluster", "node", "list", *IN_WORKSPACE, "-c", "nc6", "-o", "table")
    heads, _, line = table.splitlines()
    assert heads.split() == ["ID", "IP", "SSH", "Port"]
    return Node(*line.split()[1:])


async def ssh(az: Az, node: Node, *words: str) -> tuple[int | None, str, str]:
    """`ssh IP -p PORT` of the person whose home az wrote the key into."""
    hosts = f"UserKnownHostsFile={az.folder / 'known_hosts'}"
    own = ("-F", "none", "-i", str(az.folder / ".ssh" / "id_rsa"), "-l", "me")
    answers = ("BatchMode=yes", "StrictHostKeyChecking=accept-new", hosts)
    options = (*own, *(word for one in answers for word in ("-o", one)))
    process = await asyncio.create_subprocess_exec(
        *("ssh", *options, node.address, "-p", node.port, *words),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await process.communicate()
    return process.returncode, out.decode(), err.decode()


async def test_a_login_at_the_listed_address_with_the_generated_key_is_in_the_job(az: Az, node: Node) -> None:
    code, out, err = await ssh(az, node, 'echo "$COLOUR"; exit 7')

    assert (code, out) == (7, "blue\n"), err


async def test_the_cli_runs_commands_there_by_itself(az: Az, node: Node) -> None:
    key = ("-k", str(az.folder / ".ssh" / "id_rsa"))

    job = await az.run(
        "batchai", "job", "node", "exec", *IN_EXPERIMENT, "-j", "sleeps", *key, "--exec", "echo $COLOUR"
    )
    cluster = await az.run(
        "batchai", "cluster", "node", "exec", *IN_WORKSPACE, "-c", "nc6", *key, "--exec", "pwd"
    )

    assert "blue" in job[1], job
    assert "/" in cluster[1], cluster
