"""The golden files of what is sent for an attempt: one node, everything on two, and an old server.

`python -m tests.unit.engines.kubernetes.job.job_goldens` writes them anew; read the difference then.
"""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from shared.core.code.record import CodeSource
from shared.core.engine import Order
from shared.core.job import Target
from shared.engines.kubernetes import provision
from shared.engines.kubernetes.cluster import KubernetesCluster
from shared.engines.kubernetes.job.request import belongings, job, programs, programs_name
from shared.engines.kubernetes.wire.version import Version

FOLDER = Path(__file__).resolve().parents[4] / "golden" / "kubernetes"
CLUSTER = KubernetesCluster("gpu", shared="/data/slipway", volumes={"/data": "pvc:data"}, image="python:3.13")
WIDE = replace(
    CLUSTER,
    volumes={"/data": "pvc:data", "/nfs": "nfs:files.example:/export", "/share": "azurefile:account/train"},
    mounts={"https://acct.file.core.windows.net/data": "/data/train"},
    gpus=4,
    cpus="8",
    memory="56Gi",
    node_selector={"agentpool": "gpu"},
    tolerations=("sku=gpu:NoSchedule", "kubernetes.azure.com/scalesetpriority:NoSchedule", "any"),
    priorities={"high": "urgent"},
    queue="team",
    pull_secrets=("registry",),
    max_wall_clock="PT12H",
)
#: Slices of GPUs, each as one of its own.
SLICE = replace(CLUSTER, gpus=1, gpu_resource="nvidia.com/mig-1g.10gb", user=0, group=0)
#: Everything that a job may have.
EVERYTHING: dict[str, Any] = {
    "nodeCount": 2,
    "containerSettings": {
        "imageSourceRegistry": {
            "serverUrl": "https://reg.example",
            "image": "train:1",
            "credentials": {"username": "puller", "password": "canary"},
        },
        "shmSize": "2g",
    },
    "mountVolumes": {
        "azureFileShares": [
            {
                "accountName": "acct",
                "azureFileUrl": "https://acct.file.core.windows.net/data",
                "relativeMountPath": "data",
                "credentials": {"accountKey": "account-canary"},
            }
        ]
    },
    "secrets": [{"name": "TOKEN", "value": "a $b 'c'"}],
    "environmentVariables": [{"name": "WHERE", "value": "here"}],
    "schedulingPriority": "high",
}


def order(**properties: Any) -> Order:
    """An order for the cluster, on one node unless it says otherwise."""
    target = Target(
        engine="kubernetes", cluster="gpu", experiment="exp", name="digits-abc-1", token="j_abc.1"
    )
    document = {
        "cluster": {"id": "/clusters/gpu"},
        "nodeCount": 1,
        "stdOutErrPathPrefix": "$AZ_BATCHAI_MOUNT_ROOT/logs",
        "customToolkitSettings": {"commandLine": "echo one"},
        **properties,
    }
    return Order(target, {"properties": document})


#: The code of a job, with a signature in its address.
CODE = CodeSource("https://acct.blob.core.windows.net/snapshots/team/00?sig=code", "00", 7, "work")
ORDERS: dict[str, tuple[KubernetesCluster, Order, Version]] = {
    "one-node": (CLUSTER, order(), Version(1, 26)),
    "everything": (WIDE, replace(order(**EVERYTHING), code=CODE), Version(1, 36)),
    "slice": (SLICE, order(), Version(1, 26)),
    "old-server": (CLUSTER, order(), Version(1, 20)),
}


def objects(name: str) -> list[Any]:
    """What is sent for one of ORDERS, in that order."""
    cluster, attempt, version = ORDERS[name]
    return [job(cluster, attempt, version), programs(cluster), *belongings(cluster, attempt)]


def goldens() -> dict[str, str]:
    """Each golden file with its text as it should be now."""
    requests = {name: objects(name) for name in ORDERS} | {
        "setup": list(provision.objects(CLUSTER)),
        "setup-with-queue": list(provision.objects(replace(CLUSTER, queue="team"))),
    }
    return {
        f"{name}.json": json.dumps([_golden(one) for one in each], indent=2) + "\n"
        for name, each in requests.items()
    }


def _golden(one: Any) -> Any:
    text = json.dumps({"path": one.path, "body": one.body}).replace(programs_name(), "slipway-programs-HASH")
    document = json.loads(text)
    body = document["body"]
    if body["kind"] == "ConfigMap":
        body["data"] = dict.fromkeys(body["data"], "<a program>")
    if body["kind"] == "Secret":
        body["data"] = {key: _readable(value) for key, value in body["data"].items()}
    return document


def _readable(value: str) -> Any:
    text = base64.b64decode(value).decode()
    return json.loads(text) if text.startswith("{") else text


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for file, text in goldens().items():
        (FOLDER / file).write_text(text, encoding="utf-8")
