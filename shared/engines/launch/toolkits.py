"""The steps of each toolkit of Batch AI. Pure."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from shared.engines.launch.steps import Step, Steps

Block = Mapping[str, Any]
_FIRST_PORT = 2222
#: The variable with the addresses of all processes of TensorFlow.
_CLUSTER = "SLIPWAY_TF_CLUSTER"


def main_steps(steps: Steps, properties: Mapping[str, Any]) -> list[Step]:
    """The steps of the job's one toolkit, side by side."""
    name = next(name for name in TOOLKITS if properties.get(name) is not None)
    return TOOLKITS[name](steps, properties[name])


def _custom(steps: Steps, block: Block) -> list[Step]:
    """The command line, once; an mpirun in it finds the nodes by itself."""
    return [steps.on_one_node(block.get("commandLine") or "")]


def _custom_mpi(steps: Steps, block: Block) -> list[Step]:
    return [steps.under_mpi(block["commandLine"], _count(steps, block))]


def _mpi_script(steps: Steps, block: Block) -> list[Step]:
    return [steps.under_mpi(steps.script(block), _count(steps, block))]


def _cntk(steps: Steps, block: Block) -> list[Step]:
    language = str(block.get("languageType") or "").lower()
    if language == "python" or (not language and block.get("pythonScriptFilePath")):
        return _once_or_mpi(steps, block, steps.script(block))
    words = ("cntk", f"configFile={block.get('configFilePath')}")
    return _once_or_mpi(steps, block, steps.command(words, block.get("commandLineArgs")))


def _caffe(steps: Steps, block: Block) -> list[Step]:
    if block.get("pythonScriptFilePath"):
        return _once_or_mpi(steps, block, steps.script(block))
    words = ("caffe", "train", f"--solver={block.get('configFilePath')}")
    return _once_or_mpi(steps, block, steps.command(words, block.get("commandLineArgs")))


def _caffe2(steps: Steps, block: Block) -> list[Step]:
    """One process on each node; they meet in the directory that all nodes share."""
    return [steps.ranked(steps.script(block), steps.nodes, {})]


def _pytorch(steps: Steps, block: Block) -> list[Step]:
    """Processes that meet at a shared file, or by MPI."""
    backend = block.get("communicationBackend") or ""
    more = {"AZ_BATCHAI_PYTORCH_INIT_METHOD": "file://$AZ_BATCHAI_SHARED_JOB_TEMP/pytorch-init"}
    if backend:
        more["AZ_BATCHAI_PYTORCH_BACKEND"] = backend
    if backend.lower() == "mpi":
        return [steps.under_mpi(steps.script(block), _count(steps, block), more, own_files=True)]
    return [steps.ranked(steps.script(block), _count(steps, block), more)]


def _once_or_mpi(steps: Steps, block: Block, command: str) -> list[Step]:
    count = _count(steps, block)
    return [steps.on_one_node(command) if count == 1 else steps.under_mpi(command, count)]


def _count(steps: Steps, block: Block) -> int:
    return int(block.get("processCount") or steps.nodes)


@dataclass(frozen=True)
class _Task:
    """One process of TensorFlow: role as in file names, number within the role, node, address."""

    role: str
    index: int
    node: int
    address: str


def _tensorflow(steps: Steps, block: Block) -> list[Step]:
    """Parameter servers and workers that know each other's addresses; worker 0 is the master."""
    tasks = _tasks(steps, block)
    processes = []
    for task in tasks:
        arguments = "workerCommandLineArgs"
        if task.role == "ps":
            arguments = "parameterServerCommandLineArgs"
        elif task.index == 0:
            arguments = "masterCommandLineArgs"
        more = {
            "AZ_BATCHAI_TASK_INDEX": str(task.index),
            "TF_CONFIG": _config(task, is_one_of_many=len(tasks) > 1),
        }
        name, command = f"{task.role}-{task.index}", steps.script(block, arguments)
        # A parameter server waits forever; the job ends when its workers do.
        processes.append(steps.single(command, task.node, name, more, service=task.role == "ps"))
    return processes


def common_variables(steps: Steps, properties: Mapping[str, Any]) -> dict[str, str]:
    """Variables of all processes of a job of TensorFlow: in a plan of many they would stand many times."""
    if not properties.get("tensorFlowSettings"):
        return {}
    tasks = _tasks(steps, properties["tensorFlowSettings"])
    servers, workers = ([task.address for task in tasks if task.role == role] for role in ("ps", "wk"))
    cluster: dict[str, list[str]] = {}
    if len(tasks) > 1:
        cluster = {"chief": workers[:1]}
        if len(workers) > 1:
            cluster["worker"] = workers[1:]
        if servers:
            cluster["ps"] = servers
    variables = {_CLUSTER: json.dumps(cluster)}
    if len(tasks) > 1:
        variables |= {"AZ_BATCHAI_PS_HOSTS": ",".join(servers), "AZ_BATCHAI_WORKER_HOSTS": ",".join(workers)}
    return variables


def _tasks(steps: Steps, block: Block) -> list[_Task]:
    """The processes of TensorFlow. Ports count from 2222 on each node, parameter servers first."""
    written = block.get("workerCount"), block.get("parameterServerCount")
    distributed = steps.nodes > 1 or any(written)
    workers = int(written[0] or steps.nodes) if distributed else 1
    servers = int(written[1] or 1) if distributed else 0
    ports = [_FIRST_PORT] * steps.nodes
    tasks = []
    for role, count in (("ps", servers), ("wk", workers)):
        for index in range(count):
            node = steps.node_of(index, count)
            tasks.append(_Task(role, index, node, f"$SLIPWAY_HOST_{node}:{ports[node]}"))
            ports[node] += 1
    return tasks


def _config(task: _Task, *, is_one_of_many: bool) -> str:
    """The variable TF_CONFIG.

    The service called worker 0 a worker, so that estimators never found their chief.
    """
    kind, index = "worker", task.index
    if task.role == "ps":
        kind = "ps"
    elif is_one_of_many:
        kind, index = ("chief", index) if index == 0 else (kind, index - 1)
    own = json.dumps({"type": kind, "index": index})
    return f'{{"cluster": ${_CLUSTER}, "task": {own}, "environment": "cloud"}}'


TOOLKITS: Mapping[str, Callable[[Steps, Block], list[Step]]] = {
    "cntkSettings": _cntk,
    "pyTorchSettings": _pytorch,
    "tensorFlowSettings": _tensorflow,
    "caffeSettings": _caffe,
    "caffe2Settings": _caffe2,
    "chainerSettings": _mpi_script,
    "customToolkitSettings": _custom,
    "customMpiSettings": _custom_mpi,
    "horovodSettings": _mpi_script,
}
