"""Jobs that break no rule of the format, the facts that make them fail, and the findings expected."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, NamedTuple

from shared.jobspec import Facts
from tests.unit.jobspec.jobs import BLOBS, SHARE, job, mounts, script_toolkit, share

DROP = {"accountName": "account", "containerName": "drop", "relativeMountPath": "scripts"}
TRAIN = "$AZ_BATCHAI_JOB_MOUNT_ROOT/scripts/digits/train.py"


class Linted(NamedTuple):
    name: str
    document: dict[str, Any]
    facts: Facts
    code: str
    #: Below /properties.
    pointer: str
    severity: str = "warning"
    says: str = ""


def dropped(**properties: Any) -> dict[str, Any]:
    """A job whose script lies in the drop container."""
    block = {"customToolkitSettings": {"commandLine": f"python {TRAIN}"}, **properties}
    volumes = {"azureFileShares": [SHARE], "azureBlobFileSystems": [BLOBS, DROP]}
    return job(mountVolumes=volumes, **block)


def image(name: str) -> dict[str, Any]:
    return job(containerSettings={"imageSourceRegistry": {"image": name}})


_COMMAND = "/customToolkitSettings/commandLine"
_IMAGE = "/containerSettings/imageSourceRegistry/image"
_NOTHING = Facts()
_EMPTY = Facts(drop_container="drop", absent={"digits/train.py", "a.sh"})


def _windows(name: str = "digits/train.py") -> Facts:
    return Facts(drop_container="drop", crlf={name})


LINTED: tuple[Linted, ...] = (
    Linted("script not there", dropped(), _EMPTY, "SW070", _COMMAND, says='"digits/train.py"'),
    Linted("script of a toolkit not there", dropped(customToolkitSettings=None, caffe2Settings={
        "pythonScriptFilePath": TRAIN}), _EMPTY, "SW070", "/caffe2Settings/pythonScriptFilePath"),
    Linted("preparation not there", dropped(customToolkitSettings={"commandLine": "true"},
        jobPreparation={"commandLine": "sh $AZ_BATCHAI_JOB_MOUNT_ROOT/scripts/a.sh"}), _EMPTY, "SW070",
        "/jobPreparation/commandLine"),
    Linted("Windows line endings", dropped(), _windows(), "SW071", _COMMAND, says="Windows"),
    Linted("shell script", dropped(customToolkitSettings={
        "commandLine": "bash $AZ_BATCHAI_JOB_MOUNT_ROOT/scripts/run.sh"}), _windows("run.sh"),
        "SW071", _COMMAND, says='"run.sh"'),
    *(Linted(f"image {name}", image(name), _NOTHING, "SW072", _IMAGE, "hint") for name in (
        "ubuntu", "team/image", "registry:5000/image", "registry.example.org:5000/team/image")),
    Linted("cluster root for a mount of the job", job(stdOutErrPathPrefix="$AZ_BATCHAI_MOUNT_ROOT/logs"),
        _NOTHING, "SW073", "/stdOutErrPathPrefix", says='"logs"'),
    Linted("in braces, in a command", job(customToolkitSettings={
        "commandLine": "ls ${AZ_BATCHAI_MOUNT_ROOT}/data/x"}), _NOTHING, "SW073", _COMMAND),
    Linted("in a variable", job(environmentVariables=[
        {"name": "A", "value": "$AZ_BATCHAI_MOUNT_ROOT/data"}]), _NOTHING, "SW073",
        "/environmentVariables/0/value"),
    Linted("known to be none of the cluster's", job(inputDirectories=[
        {"id": "A", "path": "$AZ_BATCHAI_MOUNT_ROOT/data/a"}]), Facts(cluster_mounts=frozenset({"afs"})),
        "SW073", "/inputDirectories/0/path"),
    Linted("time of the cluster", job(constraints={"maxWallClockTime": "P2D"}),
        Facts(cluster="dev", max_wall_clock=timedelta(days=1)), "SW074", "/constraints/maxWallClockTime",
        "error", "dev lets no job run longer than P1D"),
    Linted("nodes of the cluster", job(nodeCount=9), Facts(max_nodes=8), "SW075", "/nodeCount", says="8"),
    Linted("processes and GPUs", script_toolkit("horovodSettings", processCount=3), Facts(gpus_per_node=1),
        "SW076", "/horovodSettings/processCount", says="2 GPUs"),
    Linted("workers and GPUs", script_toolkit("tensorFlowSettings", workerCount=5), Facts(gpus_per_node=2),
        "SW076", "/tensorFlowSettings/workerCount", says="4 GPUs"),
    Linted("size that is gone", job(), Facts(cluster="k80", retired_size="take Standard_NC4as_T4_v3"),
        "SW078", "/cluster", "hint", "k80 gets no new nodes: take Standard_NC4as_T4_v3"),
)  # fmt: skip

CLEAN: dict[str, tuple[dict[str, Any], Facts]] = {
    "the smallest": (job(), _NOTHING),
    "script there": (dropped(), Facts(drop_container="drop")),
    "another container": (dropped(), Facts(drop_container="other", absent={"digits/train.py"})),
    "data with CRLF": (
        dropped(customToolkitSettings={"commandLine": "cat $AZ_BATCHAI_JOB_MOUNT_ROOT/scripts/a.csv"}),
        _windows("a.csv"),
    ),
    "tag": (image("registry:5000/team/image:1.0"), _NOTHING),
    "digest": (image("image@sha256:0123"), _NOTHING),
    "mount of the cluster": (
        share(relativeMountPath="logs"),
        Facts(cluster_mounts=frozenset({"logs"}), max_nodes=2, gpus_per_node=4),
    ),
    "both have it": (
        job(stdOutErrPathPrefix="$AZ_BATCHAI_MOUNT_ROOT/logs"),
        Facts(cluster_mounts=frozenset({"logs"})),
    ),
    "enough GPUs": (script_toolkit("horovodSettings", processCount=8), Facts(gpus_per_node=4)),
    "time enough": (
        job(constraints={"maxWallClockTime": "P1D"}),
        Facts(max_wall_clock=timedelta(days=1)),
    ),
    "no mounts": (mounts(azureFileShares=[], azureBlobFileSystems=[]), _EMPTY),
}
