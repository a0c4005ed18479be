"""The environment of a job's processes on Batch AI, known before any of them runs. Pure.

The names and paths are those that the service documented, or else those observed on its nodes. An emulator
has the same names below a root of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

from shared.core.engine import Order
from shared.core.relations.variables import Variable, source_of
from shared.engines.batchai.client import Workspace
from shared.engines.batchai.request import document_of

_ROOT = "/mnt/batch/tasks/shared/LS_root"
_USED = re.compile(r"\$(?:\{(\w+)\}|(\w+))", re.ASCII)
#: Stands for a value that the service chooses when it accepts the job.
_INSTANCE = "<a UUID of the service>"


def environment(workspace: Workspace, order: Order) -> tuple[Variable, ...]:
    """Every variable, in the order of definition: a value may use those before it."""
    properties: dict[str, Any] = document_of(order)["properties"]
    values: dict[str, str] = {}
    variables: list[Variable] = []
    # One after the other, because each may use those before it.
    for variable in chain(
        _node(workspace, order),
        _directories(workspace, order, properties, values),
        _toolkit(properties),
        _own(properties, values),
    ):
        variables.append(variable)
        values[variable.name] = variable.value
    return tuple({variable.name: variable for variable in variables}.values())


def _node(workspace: Workspace, order: Order) -> list[Variable]:
    jobs = f"{_ROOT}/jobs"
    job = f"{jobs}/{workspace.name}/{order.target.experiment}/{order.target.name}"
    return [
        _set("AZ_BATCHAI_MOUNT_ROOT", f"{_ROOT}/mounts"),
        _set("AZ_BATCHAI_JOB_MOUNT_ROOT", f"{job}/mounts"),
        _set("AZ_BATCHAI_JOB_TEMP", job),
        _set("AZ_BATCHAI_JOB_TEMP_DIR", jobs),
        _set("AZ_BATCHAI_SHARED_JOB_TEMP", f"{job}/shared"),
        _set("AZ_BATCHAI_MPI_HOST_FILE", f"{job}/hostfile"),
        _formed("AZ_BATCHAI_NUM_GPUS", "<the GPUs of the node>"),
        _formed("AZ_BATCHAI_NUM_GPUS_PER_NODE", "<the GPUs of the node>"),
        _formed("AZ_BATCH_HOST_LIST", "<the addresses of the job's nodes, with commas>"),
    ]


def _directories(
    workspace: Workspace, order: Order, properties: Mapping[str, Any], values: Mapping[str, str]
) -> Iterator[Variable]:
    """The variables of input directories, unchanged, and of output directories, below a folder of the job."""
    for directory in properties.get("inputDirectories") or ():
        yield _expanded(f"AZ_BATCHAI_INPUT_{directory['id']}", directory["path"], values, "engine")
    target = order.target
    segment = (
        f"{workspace.subscription}/{workspace.group}/workspaces/{workspace.name}"
        f"/experiments/{target.experiment}/jobs/{target.name}/{_INSTANCE}"
    )
    prefix = str(properties.get("stdOutErrPathPrefix", "")).rstrip("/")
    yield _expanded("AZ_BATCHAI_STDOUTERR_DIR", f"{prefix}/{segment}/stdouterr", values, "engine")
    for directory in properties.get("outputDirectories") or ():
        start, end = str(directory["pathPrefix"]).rstrip("/"), directory.get("pathSuffix") or ""
        path = f"{start}/{segment}/outputs/{end}".rstrip("/")
        yield _expanded(f"AZ_BATCHAI_OUTPUT_{directory['id']}", path, values, "engine")
        again = "<the same once the cluster has started the job again, else empty>"
        yield _formed(f"AZ_BATCHAI_PREV_OUTPUT_{directory['id']}", again)


def _toolkit(properties: Mapping[str, Any]) -> Iterator[Variable]:
    """The variables that only one toolkit's processes have."""
    torch = properties.get("pyTorchSettings")
    if torch is not None:
        yield _formed("AZ_BATCHAI_TASK_INDEX", "<the rank of the process, from 0>")
        yield _formed("AZ_BATCHAI_PYTORCH_INIT_METHOD", "file://<a file that all nodes of the job see>")
        if torch.get("communicationBackend"):
            yield _set("AZ_BATCHAI_PYTORCH_BACKEND", str(torch["communicationBackend"]))
    if properties.get("caffe2Settings") is not None:
        yield _formed("AZ_BATCHAI_TASK_INDEX", "<the number of the node, from 0>")
    if properties.get("tensorFlowSettings") is not None:
        yield _formed("AZ_BATCHAI_TASK_INDEX", "<the number among the processes of its role, from 0>")
        yield _formed("AZ_BATCHAI_PS_HOSTS", "<address:port of the parameter servers, with commas>")
        yield _formed("AZ_BATCHAI_WORKER_HOSTS", "<address:port of the workers, with commas>")
        yield _formed("TF_CONFIG", "<JSON: cluster, task, environment>")


def _own(properties: Mapping[str, Any], values: Mapping[str, str]) -> Iterator[Variable]:
    """The job's own variables, expanded; secrets are not expanded."""
    for variable in properties.get("environmentVariables") or ():
        name, value = variable["name"], str(variable["value"])
        yield _expanded(name, value, values, source_of(name, value))
    for secret in properties.get("secrets") or ():
        reference = secret.get("valueSecretReference") or {}
        if secret.get("value") is None:
            yield Variable(
                secret["name"], f"<the secret at {reference.get('secretUrl')}>", "job", exact=False
            )
        else:
            yield Variable(secret["name"], str(secret["value"]), "job")


def _set(name: str, value: str) -> Variable:
    return Variable(name, value, "engine")


def _formed(name: str, value: str) -> Variable:
    return Variable(name, value, "engine", exact=False)


def _expanded(name: str, text: str, values: Mapping[str, str], source: str) -> Variable:
    value = _USED.sub(lambda match: values.get(match[1] or match[2], match[0]), text)
    return Variable(name, value, source, exact="<" not in value)
