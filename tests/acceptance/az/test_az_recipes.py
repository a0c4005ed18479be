"""The job files of Batch AI's recipes, as they are, through `az batchai job create -f`, up to their command.

The recipes are not part of this project: BATCHAI_RECIPES names their folder, else one that lies beside the
checkout is taken. Files of our own with the same features are always tried.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from local.azurite import ACCOUNT
from local.patience import Patience
from tests.acceptance.az.az import AZ, REASON, Az

pytestmark = [
    pytest.mark.skipif(not AZ, reason=REASON),
    pytest.mark.skipif(shutil.which("mpirun") is None, reason="Open MPI is not installed"),
    pytest.mark.asyncio(loop_scope="session"),
]

_USUAL = Path(__file__).parents[4] / "shared" / "recipes"
_FOLDER = Path(os.environ.get("BATCHAI_RECIPES", _USUAL))
RECIPES = {path.parent.name.partition("-")[0].lower(): path for path in _FOLDER.glob("*/job.json")}
GROUP, WORKSPACE, EXPERIMENT = "recipes", "recipes", "recipes"
_IN_WORKSPACE = ("-g", GROUP, "-w", WORKSPACE)
_MOUNT, _OLD_MOUNT = "$AZ_BATCHAI_JOB_MOUNT_ROOT", "$AZ_BATCHAI_MOUNT_ROOT/external"
_SHARE = "https://<AZURE_BATCHAI_STORAGE_ACCOUNT>.file.core.windows.net/"

#: What a script gets, in one line: written by every process of every recipe.
SCRIPT = """import os, sys
print("launched", os.path.basename(sys.argv[0]), *sys.argv[1:], flush=True)
"""
#: Where the recipes have their scripts, in the share `scripts`.
SCRIPTS = (
    "caffe2/resnet50_trainer.py",
    "chainer/train_mnist.py",
    "horovod/tensorflow_mnist.py",
    "pytorch/mnist_trainer.py",
    "tensorflow/mnist_replica.py",
)


def _script(name: str, toolkit: str, **more: Any) -> dict[str, Any]:
    path = next(path for path in SCRIPTS if path.startswith(toolkit))
    return {name: {"pythonScriptFilePath": f"{_MOUNT}/scripts/{path}", **more}}


#: Toolkit by toolkit what the recipes use; each gets the shares, an image and two nodes.
OURS: dict[str, dict[str, Any]] = {
    "caffe2": _script("caffe2Settings", "caffe2", commandLineArgs="--shard_id $AZ_BATCHAI_TASK_INDEX"),
    "chainer": _script("chainerSettings", "chainer", commandLineArgs="-o $AZ_BATCHAI_OUTPUT_MODEL"),
    "horovod": _script("horovodSettings", "horovod")
    | {"jobPreparation": {"commandLine": "apt install openmpi-bin -y; pip install horovod"}},
    "pytorch": _script(
        "pyTorchSettings",
        "pytorch",
        commandLineArgs="--dist-url $AZ_BATCHAI_PYTORCH_INIT_METHOD --rank $AZ_BATCHAI_TASK_INDEX",
        communicationBackend="gloo",
    ),
    "tensorflow": _script(
        "tensorFlowSettings",
        "tensorflow",
        parameterServerCount=1,
        workerCount=2,
        masterCommandLineArgs="--ps_hosts=$AZ_BATCHAI_PS_HOSTS --task_index=$AZ_BATCHAI_TASK_INDEX",
        workerCommandLineArgs="--ps_hosts=$AZ_BATCHAI_PS_HOSTS --task_index=$AZ_BATCHAI_TASK_INDEX",
        parameterServerCommandLineArgs="--job_name=ps",
    ),
    "cntk": {
        "nodeCount": 1,
        "cntkSettings": {
            "configFilePath": "$AZ_BATCHAI_INPUT_CONFIG/ConvNet_MNIST.cntk",
            "commandLineArgs": "outputDir=$AZ_BATCHAI_OUTPUT_MODEL",
        },
        "inputDirectories": [{"id": "CONFIG", "path": f"{_OLD_MOUNT}/cntk_samples"}],
    },
}
#: What shows that the command was launched: a file of standard output, and what is in it.
LAUNCHED = {
    "caffe2": ("stdout-1.txt", "launched resnet50_trainer.py"),
    "chainer": ("stdout.txt", "launched train_mnist.py"),
    "horovod": ("stdout.txt", "launched tensorflow_mnist.py"),
    "pytorch": ("stdout-1.txt", "launched mnist_trainer.py"),
    "tensorflow": ("stdout-wk-1.txt", "launched mnist_replica.py"),
    "cntk": ("stdout.txt", "ConvNet_MNIST.cntk"),
}


def _ours() -> dict[str, Any]:
    shared: dict[str, Any] = {
        "nodeCount": 2,
        "stdOutErrPathPrefix": f"{_MOUNT}/logs",
        "outputDirectories": [{"id": "MODEL", "pathPrefix": f"{_MOUNT}/logs", "pathSuffix": "Models"}],
        "mountVolumes": {
            "azureFileShares": [
                {"azureFileUrl": _SHARE + name, "relativeMountPath": name} for name in ("logs", "scripts")
            ],
            "azureBlobFileSystems": [
                {
                    "accountName": "<AZURE_BATCHAI_STORAGE_ACCOUNT>",
                    "containerName": "data",
                    "relativeMountPath": "data",
                }
            ],
        },
        "containerSettings": {"imageSourceRegistry": {"image": "some/image:1.0"}},
    }
    return {name: {"properties": shared | recipe} for name, recipe in OURS.items()}


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def ready(az: Az) -> Az:
    """After what the recipes' instructions create: storage, a workspace, a cluster with a share mounted."""
    await az.ask("group", "create", "-n", GROUP, "-l", "eastus")
    for share in ("logs", "scripts", "external"):
        await az.ask("storage", "share", "create", "-n", share)
    await az.ask("storage", "container", "create", "-n", "data")
    (az.folder / "stub.py").write_text(SCRIPT)
    for path in SCRIPTS:
        folder, _, name = path.partition("/")
        await az.ask("storage", "directory", "create", "-s", "scripts", "-n", folder)
        await az.say(
            "storage", "file", "upload", "-s", "scripts", "--source", "stub.py", "-p", f"{folder}/{name}"
        )
    await az.ask("batchai", "workspace", "create", "-l", "eastus", "-g", GROUP, "-n", WORKSPACE)
    await az.ask("batchai", "experiment", "create", *_IN_WORKSPACE, "-n", EXPERIMENT)
    await az.ask(
        "batchai", "cluster", "create", *_IN_WORKSPACE, "-n", "nc6", "-s", "Standard_NC6", "-t", "2",
        "-i", "UbuntuLTS", "-u", "me", "-p", "Passw0rd",
        "--afs-name", "external", "--afs-mount-path", "external", "--storage-account-name", ACCOUNT,
    )  # fmt: skip
    return az


async def _launch(az: Az, prefix: str, files: dict[str, Path]) -> dict[str, Any]:
    """Create a job from each file, one by one, and the jobs when all have ended."""
    for name, file in files.items():
        await az.ask(
            "batchai", "job", "create", *_IN_WORKSPACE, "-e", EXPERIMENT, "-n", f"{prefix}-{name}",
            "-c", "nc6", "-f", str(file), "--storage-account-name", ACCOUNT,
        )  # fmt: skip
    jobs: list[Any] = []
    patience = Patience(120)
    while not jobs or any(job["executionState"] not in ("succeeded", "failed") for job in jobs):
        jobs = await az.ask("batchai", "job", "list", *_IN_WORKSPACE, "-e", EXPERIMENT)
        assert not patience.is_over([job["executionState"] for job in jobs]), jobs
    return {job["name"].removeprefix(f"{prefix}-"): job for job in jobs if job["name"].startswith(prefix)}


def _was_launched(az: Az, name: str, job: Any) -> None:
    file, text = LAUNCHED[name]
    share = "external" if name == "cntk" and job["stdOutErrPathPrefix"].endswith("external") else "logs"
    place = az.data / "shares" / ACCOUNT / share / job["jobOutputDirectoryPathSegment"] / "stdouterr"
    assert job["executionState"] == "succeeded", (name, job["executionInfo"])
    assert text in (place / file).read_text(), name


async def test_job_files_with_all_that_the_recipes_use_are_launched(ready: Az) -> None:
    files = {name: ready.folder / f"{name}.json" for name in OURS}
    for name, document in _ours().items():
        files[name].write_text(json.dumps(document))

    jobs = await _launch(ready, "ours", files)

    assert jobs.keys() == OURS.keys()
    for name, job in jobs.items():
        _was_launched(ready, name, job)


@pytest.mark.skipif(not RECIPES, reason=f"there are no recipes in {_FOLDER}; set BATCHAI_RECIPES")
async def test_the_recipes_are_launched_as_they_are(ready: Az) -> None:
    jobs = await _launch(ready, "recipe", RECIPES)

    assert jobs.keys() == LAUNCHED.keys()
    for name, job in jobs.items():
        _was_launched(ready, name, job)
