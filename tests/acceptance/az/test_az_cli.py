"""The real, unmodified Azure CLI against the emulator, from a resource group to its clean-up.

Opt-in, for the CLI is large and slow: `make test-az` installs it and names it in SLIPWAY_AZ.
"""

from __future__ import annotations

import json

import pytest

from local.azurite import ACCOUNT
from tests.acceptance.az.az import AZ, REASON, Az

pytestmark = [
    pytest.mark.skipif(not AZ, reason=REASON),
    pytest.mark.asyncio(loop_scope="session"),
]

GROUP, WORKSPACE, EXPERIMENT = "batchai.recipes", "recipe_workspace", "chainer_experiment"
IN_WORKSPACE = ("-g", GROUP, "-w", WORKSPACE)
IN_EXPERIMENT = (*IN_WORKSPACE, "-e", EXPERIMENT)
#: A job file as the recipes have it: shares without account and key.
JOB = {
    "$schema": "https://raw.githubusercontent.com/Azure/BatchAI/master/schemas/2018-05-01/job.json",
    "properties": {
        "nodeCount": 2,
        "pyTorchSettings": {
            "pythonScriptFilePath": "$AZ_BATCHAI_JOB_MOUNT_ROOT/scripts/pytorch/train.py",
            "commandLineArgs": "--rank $AZ_BATCHAI_TASK_INDEX --url $AZ_BATCHAI_PYTORCH_INIT_METHOD",
            "communicationBackend": "gloo",
        },
        "stdOutErrPathPrefix": "$AZ_BATCHAI_JOB_MOUNT_ROOT/logs",
        "outputDirectories": [
            {"id": "MODEL", "pathPrefix": "$AZ_BATCHAI_JOB_MOUNT_ROOT/logs", "pathSuffix": "Models"}
        ],
        "mountVolumes": {
            "azureFileShares": [
                {
                    "azureFileUrl": f"https://<AZURE_BATCHAI_STORAGE_ACCOUNT>.file.core.windows.net/{name}",
                    "relativeMountPath": name,
                }
                for name in ("logs", "scripts")
            ]
        },
        "containerSettings": {"imageSourceRegistry": {"image": "pytorch/pytorch:0.4_cuda9_cudnn7"}},
    },
}
CLUSTER = {
    "properties": {
        "vmSize": "STANDARD_NC6",
        "scaleSettings": {"manual": {"targetNodeCount": 1}},
        "userAccountSettings": {"adminUserName": "me", "adminUserPassword": "Passw0rd"},
    }
}
SCRIPT = """import os, sys
print(sys.argv[1:3], flush=True)
open(os.environ["AZ_BATCHAI_OUTPUT_MODEL"] + "/model-" + sys.argv[2], "w").write("weights")
"""


async def test_the_storage_around_a_recipe(az: Az) -> None:
    await az.ask("group", "create", "-n", GROUP, "-l", "eastus")
    await az.ask("storage", "account", "create", "-n", ACCOUNT, "-g", GROUP, "-l", "eastus")
    keys = await az.ask("storage", "account", "keys", "list", "-n", ACCOUNT, "-g", GROUP)
    for share in ("logs", "scripts"):
        await az.ask("storage", "share", "create", "-n", share, "--account-name", ACCOUNT)
    await az.ask("storage", "directory", "create", "--share-name", "scripts", "-n", "pytorch")
    (az.folder / "train.py").write_text(SCRIPT)
    await az.say("storage", "file", "upload", "-s", "scripts", "--source", "train.py", "-p", "pytorch")
    listed = await az.ask("storage", "file", "list", "-s", "scripts", "-p", "pytorch")
    (az.folder / "there").mkdir()
    await az.say("storage", "file", "download", "-s", "scripts", "-p", "pytorch/train.py", "--dest", "there")
    await az.ask("storage", "container", "create", "-n", "data")
    await az.say("storage", "blob", "upload", "-c", "data", "-n", "train.py", "-f", "train.py")
    await az.ask("storage", "queue", "create", "-n", "jobs")
    blobs = await az.ask("storage", "blob", "list", "-c", "data")

    assert keys[0]["value"] == az.env["AZURE_BATCHAI_STORAGE_KEY"]
    assert [file["name"] for file in listed] == ["train.py"]
    assert (az.folder / "there" / "train.py").read_text() == SCRIPT
    assert [blob["name"] for blob in blobs] == ["train.py"]


async def test_a_workspace_and_clusters(az: Az) -> None:
    await az.ask("batchai", "workspace", "create", "-l", "eastus", "-g", GROUP, "-n", WORKSPACE)
    await az.ask("batchai", "experiment", "create", *IN_WORKSPACE, "-n", EXPERIMENT)
    create = ("batchai", "cluster", "create", *IN_WORKSPACE)
    cluster = await az.ask(
        *create, "-n", "nc6", "-s", "Standard_NC6", "-u", "me", "-p", "Passw0rd",
        "--min", "0", "--max", "2", "--vm-priority", "lowpriority", "-i", "UbuntuLTS",
    )  # fmt: skip
    (az.folder / "cluster.json").write_text(json.dumps(CLUSTER))
    setup = ("--setup-task", "echo ready", "--setup-task-output", "$AZ_BATCHAI_MOUNT_ROOT/logs")
    share = ("--afs-name", "logs", "--afs-mount-path", "logs", "--storage-account-name", ACCOUNT)
    await az.ask(*create, "-n", "filed", "-f", "cluster.json", *setup, *share)
    await az.ask("batchai", "cluster", "resize", *IN_WORKSPACE, "-n", "filed", "-t", "2")

    async def idle() -> bool:
        shown = await az.ask("batchai", "cluster", "show", *IN_WORKSPACE, "-n", "filed")
        return bool(shown["nodeStateCounts"]["idleNodeCount"] == 2)

    while not await idle():
        pass
    nodes = await az.ask("batchai", "cluster", "node", "list", *IN_WORKSPACE, "-c", "filed")
    files = await az.ask("batchai", "cluster", "file", "list", *IN_WORKSPACE, "-c", "nc6")
    setup_now = (await az.ask("batchai", "cluster", "show", *IN_WORKSPACE, "-n", "filed"))["nodeSetup"]
    logs = setup_now["setupTask"]["stdOutErrPathSuffix"]
    prepared = await az.ask("storage", "file", "list", "-s", "logs", "-p", logs)
    table = await az.say("batchai", "cluster", "list", *IN_WORKSPACE, "-o", "table")
    usages = await az.ask("batchai", "list-usages", "-l", "eastus")

    assert cluster["scaleSettings"]["autoScale"]["maximumNodeCount"] == 2
    assert cluster["vmPriority"] == "lowpriority"
    assert len(nodes) == 2
    assert files == []
    assert len([file for file in prepared if file["name"].startswith("stdout-tvm-")]) == 2
    assert "STANDARD_NC6" in table
    assert usages[0]["currentValue"] == 2


async def test_a_job_from_its_file_to_its_output(az: Az) -> None:
    (az.folder / "job.json").write_text(json.dumps(JOB))
    job = ("batchai", "job")
    created = await az.ask(
        *job, "create", *IN_EXPERIMENT, "-n", "first", "-c", "nc6", "-f", "job.json",
        "--storage-account-name", ACCOUNT,
    )  # fmt: skip
    again = await az.say(
        *job, "create", *IN_EXPERIMENT, "-n", "first", "-c", "nc6", "-f", "job.json", fails=True
    )
    streamed = await az.say(*job, "file", "stream", *IN_EXPERIMENT, "-j", "first", "-f", "stdout-0.txt")
    await az.say(*job, "wait", *IN_EXPERIMENT, "-n", "first")
    shown = await az.say(*job, "show", *IN_EXPERIMENT, "-n", "first", "-o", "table")
    listed = await az.ask(*job, "list", *IN_EXPERIMENT)
    files = await az.ask(*job, "file", "list", *IN_EXPERIMENT, "-j", "first")
    models = await az.ask(*job, "file", "list", *IN_EXPERIMENT, "-j", "first", "-d", "MODEL")

    assert created["toolType"] == "pytorch"
    assert "already exists" in again
    assert streamed.startswith("['--rank', '0']")
    assert "succeeded" in shown
    assert [one["executionInfo"]["exitCode"] for one in listed] == [0]
    assert {"stdout-0.txt", "stderr-1.txt"} <= {file["name"] for file in files}
    assert [file["name"] for file in models] == ["model-0", "model-1"]


async def test_a_running_job_is_terminated_and_all_is_cleaned_up(az: Az) -> None:
    document = json.loads(json.dumps(JOB))
    del document["properties"]["pyTorchSettings"]
    document["properties"] |= {"nodeCount": 1, "customToolkitSettings": {"commandLine": "sleep 600"}}
    (az.folder / "long.json").write_text(json.dumps(document))
    job = ("batchai", "job")
    await az.ask(*job, "create", *IN_EXPERIMENT, "-n", "second", "-c", "nc6", "-f", "long.json")
    await az.say(*job, "terminate", *IN_EXPERIMENT, "-n", "second", "-y")
    ended = await az.ask(*job, "show", *IN_EXPERIMENT, "-n", "second")
    await az.say(*job, "delete", *IN_EXPERIMENT, "-n", "second", "-y")
    absent = await az.say(*job, "show", *IN_EXPERIMENT, "-n", "second", fails=True)
    await az.say("batchai", "experiment", "delete", *IN_WORKSPACE, "-n", EXPERIMENT, "-y")
    await az.say("batchai", "cluster", "delete", *IN_WORKSPACE, "-n", "nc6", "-y")
    await az.say("batchai", "workspace", "delete", "-g", GROUP, "-n", WORKSPACE, "-y")
    remaining = await az.ask("batchai", "workspace", "list")
    await az.say("group", "delete", "-n", GROUP, "-y")
    exists = await az.ask("group", "exists", "-n", GROUP)

    assert ended["executionInfo"]["errors"][0]["code"] == "JobTerminated"
    assert "The specified job second is not found" in absent
    assert (remaining, exists) == ([], False)
