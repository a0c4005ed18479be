"""TensorFlow jobs: parameter servers and workers that know each other's addresses."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from local.batchai.launch.ground import Ground
from local.nodes.work import Process

_FIRST_PORT = 2222


@dataclass(frozen=True)
class _Task:
    """One process: role as in file names, index within the role, node, address."""

    role: str
    index: int
    node: int
    address: str


def launch(ground: Ground) -> tuple[Process, ...]:
    """Parameter servers and workers on their nodes; worker 0 is the master."""
    tasks = _tasks(ground)
    servers = [task.address for task in tasks if task.role == "ps"]
    workers = [task.address for task in tasks if task.role == "wk"]
    hosts = {}
    if len(tasks) > 1:
        hosts = {"AZ_BATCHAI_PS_HOSTS": ",".join(servers), "AZ_BATCHAI_WORKER_HOSTS": ",".join(workers)}
    processes = []
    for task in tasks:
        arguments = "workerCommandLineArgs"
        if task.role == "ps":
            arguments = "parameterServerCommandLineArgs"
        elif task.index == 0:
            arguments = "masterCommandLineArgs"
        config = json.dumps(_config(task, servers, workers))
        processes.append(
            Process(
                f"{task.role}-{task.index}",
                task.node,
                ("bash", "-c", ground.script(arguments)),
                f"stdout-{task.role}-{task.index}.txt",
                f"stderr-{task.role}-{task.index}.txt",
                {"AZ_BATCHAI_TASK_INDEX": str(task.index), "TF_CONFIG": config, **hosts},
                # A parameter server waits forever; the job ends when its workers do.
                service=task.role == "ps",
            )
        )
    return tuple(processes)


def _tasks(ground: Ground) -> list[_Task]:
    """Ports count from 2222 on each node, parameter servers first."""
    block = ground.block
    distributed = ground.nodes > 1 or "workerCount" in block or "parameterServerCount" in block
    servers = int(block.get("parameterServerCount", 1)) if distributed else 0
    workers = int(block.get("workerCount", ground.nodes)) if distributed else 1
    addresses = ground.envs[0]["AZ_BATCH_HOST_LIST"].split(",")
    ports = [_FIRST_PORT] * ground.nodes
    tasks = []
    for role, count in (("ps", servers), ("wk", workers)):
        for index in range(count):
            node = ground.node_of(index, count)
            tasks.append(_Task(role, index, node, f"{addresses[node]}:{ports[node]}"))
            ports[node] += 1
    return tasks


def _config(task: _Task, servers: list[str], workers: list[str]) -> Mapping[str, Any]:
    """TF_CONFIG. The service called worker 0 a worker, so that estimators never found their chief."""
    cluster: dict[str, list[str]] = {}
    kind, index = "worker", task.index
    if servers or len(workers) > 1:
        cluster = {"chief": workers[:1]}
        if len(workers) > 1:
            cluster["worker"] = workers[1:]
        if servers:
            cluster["ps"] = servers
        if task.role == "ps":
            kind = "ps"
        elif task.index == 0:
            kind = "chief"
        else:
            index -= 1
    return {"cluster": cluster, "task": {"type": kind, "index": index}, "environment": "cloud"}
