"""The golden files of the launch: what each toolkit starts on two nodes of a Slurm cluster.

`python -m tests.unit.engines.slurm.launch_plans` writes them anew; the difference is then there to be read.
"""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from shared.core.engine import Order
from shared.core.job import Target
from shared.engines.batchai.client import Workspace
from shared.engines.launch.plan import plan
from shared.engines.slurm.cluster import SlurmCluster
from shared.engines.slurm.job.site import site

WORKSPACE = Workspace("https://management.azure.com", "s", "g", "w")
FOLDER = Path(__file__).resolve().parents[3] / "golden" / "slurm"
CLUSTER = SlurmCluster(
    "gpu",
    url="https://head:6820",
    user="slipway",
    shared="/shared/slipway",
    partition="gpu",
    mount_root="/shared/mounts",
    gpus=2,
    mounts={
        "https://acct.file.core.windows.net/data": "/shared/mounts/data",
        "acct/scripts": "/shared/mounts/scripts",
    },
    reads={"/shared": "/shared"},
    ends="/shared/mounts/scripts/.slipway/ends",
    priorities={"low": "spot", "high": 3000},
)
_SCRIPT = {
    "pythonScriptFilePath": "$AZ_BATCHAI_JOB_MOUNT_ROOT/scripts/train it.py",
    "commandLineArgs": "--epochs 1 --data $AZ_BATCHAI_INPUT_DATA",
}
#: Name of the golden file → the toolkit's block. All run on two nodes.
TOOLKITS: dict[str, dict[str, Any]] = {
    "caffe": {"caffeSettings": {"configFilePath": "$AZ_BATCHAI_JOB_MOUNT_ROOT/scripts/solver.prototxt"}},
    "caffe-script": {"caffeSettings": {**_SCRIPT, "processCount": 1}},
    "caffe2": {"caffe2Settings": _SCRIPT},
    "chainer": {"chainerSettings": {**_SCRIPT, "processCount": 4, "pythonInterpreterPath": "python3"}},
    "cntk": {"cntkSettings": {"languageType": "BrainScript", "configFilePath": "a.cntk"}},
    "cntk-python": {"cntkSettings": {"languageType": "python", **_SCRIPT, "processCount": 1}},
    "custom": {"customToolkitSettings": {"commandLine": "echo 'one'; mpirun hostname"}},
    "custom-mpi": {"customMpiSettings": {"commandLine": "hostname", "processCount": 3}},
    "horovod": {"horovodSettings": {**_SCRIPT, "processCount": 4}},
    "pytorch": {"pyTorchSettings": {**_SCRIPT, "processCount": 4, "communicationBackend": "gloo"}},
    "pytorch-mpi": {"pyTorchSettings": {**_SCRIPT, "communicationBackend": "MPI"}},
    "tensorflow": {
        "tensorFlowSettings": {
            "pythonScriptFilePath": _SCRIPT["pythonScriptFilePath"],
            "masterCommandLineArgs": "--master",
            "workerCommandLineArgs": "--worker",
            "workerCount": 3,
        }
    },
}
#: Everything else that a job may have; in one golden file only.
EVERYTHING: dict[str, Any] = {
    "inputDirectories": [{"id": "DATA", "path": "$AZ_BATCHAI_JOB_MOUNT_ROOT/data/train"}],
    "outputDirectories": [
        {"id": "MODEL", "pathPrefix": "$AZ_BATCHAI_MOUNT_ROOT/logs", "pathSuffix": "model"}
    ],
    "mountVolumes": {
        "azureFileShares": [
            {
                "accountName": "acct",
                "azureFileUrl": "https://acct.file.core.windows.net/data",
                "relativeMountPath": "data",
                "credentials": {"accountKey": "canary"},
            }
        ],
        "azureBlobFileSystems": [
            {"accountName": "acct", "containerName": "scripts", "relativeMountPath": "scripts"}
        ],
    },
    "jobPreparation": {"commandLine": "pip install thing"},
    "environmentVariables": [{"name": "WHERE", "value": "$AZ_BATCHAI_INPUT_DATA/x"}],
    "secrets": [{"name": "TOKEN", "value": "a $b 'c'"}],
    "constraints": {"maxWallClockTime": "PT90S"},
    "schedulingPriority": "high",
}


def order(block: dict[str, Any], **properties: Any) -> Order:
    """An order for two nodes of the cluster."""
    target = Target(engine="slurm", cluster="gpu", experiment="exp", name="digits-abc-1", token="j_abc.1")
    document = {
        "cluster": {"id": f"{WORKSPACE.id}/clusters/gpu"},
        "nodeCount": 2,
        "stdOutErrPathPrefix": "$AZ_BATCHAI_MOUNT_ROOT/logs",
        **block,
        **properties,
    }
    return Order(target, {"properties": document})


def goldens() -> dict[str, str]:
    """Each golden file with its text as it should be now."""
    goldens = {}
    for name, block in TOOLKITS.items():
        job_order = order(block, **(EVERYTHING if name == "custom" else {}))
        if name == "custom":
            job_order = replace(job_order, hold=timedelta(minutes=30))
        whole = plan(site(CLUSTER, job_order), job_order)
        # What all toolkits have alike stands in one of them.
        shown = whole if name == "custom" else {"slots": whole["slots"], "main": whole["main"]}
        goldens[f"{name}.json"] = json.dumps(shown, indent=2) + "\n"
    return goldens


if __name__ == "__main__":
    for file, text in goldens().items():
        (FOLDER / file).write_text(text, encoding="utf-8")
