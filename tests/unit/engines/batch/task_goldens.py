"""The golden files of what is sent for an attempt: one node, and everything that a job may have on two.

`python -m tests.unit.engines.batch.task_goldens` writes them anew; the difference is then there to be read.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from shared.core.engine import Order
from shared.engines.batch.job.request import submission
from tests.unit.engines.batch.service import CLUSTER, order

FOLDER = Path(__file__).resolve().parents[3] / "golden" / "batch"
WIDE = replace(
    CLUSTER,
    mounts={
        "https://acct.file.core.windows.net/data": "/mnt/batch/tasks/fsmounts/data",
        "acct/scripts": "/mnt/batch/tasks/fsmounts/scripts",
    },
    ends="/mnt/batch/tasks/fsmounts/scripts/.slipway/ends",
    max_wall_clock="PT12H",
)
#: Everything that a job may have.
EVERYTHING: dict[str, Any] = {
    "nodeCount": 2,
    "inputDirectories": [{"id": "DATA", "path": "$AZ_BATCHAI_JOB_MOUNT_ROOT/data/train"}],
    "outputDirectories": [{"id": "MODEL", "pathPrefix": "$AZ_BATCHAI_MOUNT_ROOT/logs"}],
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
#: In a container of a private registry, on two nodes.
CONTAINER: dict[str, Any] = {
    "nodeCount": 2,
    "containerSettings": {
        "imageSourceRegistry": {
            "serverUrl": "https://acct.azurecr.io",
            "image": "digits:3",
            "credentials": {"username": "puller", "password": "canary"},
        },
        "shmSize": "2g",
    },
    "jobPreparation": {"commandLine": "pip install thing"},
    "environmentVariables": [{"name": "LD_LIBRARY_PATH", "value": "/opt/lib"}],
    "customToolkitSettings": None,
    "customMpiSettings": {"commandLine": "python train.py"},
}
#: What the nodes mount themselves.
MOUNTS: dict[str, Any] = {
    "nodeCount": 2,
    "stdOutErrPathPrefix": "$AZ_BATCHAI_JOB_MOUNT_ROOT/data/logs",
    "mountVolumes": {
        "azureFileShares": [
            {
                "accountName": "acct",
                "azureFileUrl": "https://acct.file.core.windows.net/training/sets/",
                "relativeMountPath": "data",
                "credentials": {"accountKey": "canary-share"},
                "fileMode": "0644",
                "directoryMode": "0755",
            }
        ],
        "azureBlobFileSystems": [
            {
                "accountName": "acct",
                "containerName": "scripts",
                "relativeMountPath": "scripts",
                "credentials": {"accountKey": "canary-container"},
                "mountOptions": "-o ro -o attr_timeout=240 --file-cache-timeout-in-seconds=60",
            },
            {"accountName": "other", "containerName": "models", "relativeMountPath": "in/models"},
        ],
        "fileServers": [
            {
                "fileServer": {"id": "/subscriptions/s/fileservers/nfs1"},
                "relativeMountPath": "nfs",
                "sourceDirectory": "/home",
                "mountOptions": "-o ro,nolock",
            }
        ],
        "unmanagedFileSystems": [
            {"mountCommand": "mount -t lustre 10.0.0.4@tcp:/fs", "relativeMountPath": "lustre"}
        ],
    },
}
SERVERS = replace(
    CLUSTER,
    mounts={"/subscriptions/s/fileServers/nfs1": "nfs://10.0.0.5/exports"},
    identity="11111111-2222-3333-4444-555555555555",
)
BOXES = replace(WIDE, container="docker")
ORDERS: dict[str, tuple[Any, Order]] = {
    "one-node": (CLUSTER, order()),
    "everything": (WIDE, order(**EVERYTHING)),
    "container": (BOXES, order(**CONTAINER)),
    "mounts": (SERVERS, order(**MOUNTS)),
}


def goldens() -> dict[str, str]:
    """Each golden file with its text as it should be now."""
    return {f"{name}.json": _golden(cluster, job) for name, (cluster, job) in ORDERS.items()}


def _golden(cluster: Any, job: Order) -> str:
    task = submission(cluster, job)
    body = json.loads(json.dumps(task.body))
    for setting in body["environmentSettings"]:
        if setting["name"] in ("SLIPWAY_PROGRAM", "SLIPWAY_SPREAD", "SLIPWAY_MOUNTING"):
            setting["value"] = "<the program, packed>"
        if setting["name"] == "SLIPWAY_PLAN":
            setting["value"] = json.loads(setting["value"])
    return json.dumps({"method": task.method, "path": task.path, "body": body}, indent=2) + "\n"


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for file, text in goldens().items():
        (FOLDER / file).write_text(text, encoding="utf-8")
