"""The environment of tasks. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from local.azurebatch.run.node_directory import NodeDirectory
from local.azurebatch.service.sizes import cores_of
from local.azurebatch.settings import Settings
from local.azurebatch.state.models import Job, Node, Pool, Task
from local.nodes.environment import base_environment
from local.nodes.machine import Directories

#: The port of the primary node of a multi-instance task, for the other nodes.
_PORT = 6000
#: Bytes of its disk that a node of the service keeps free.
_RESERVED = "1000000"


def node_environment(settings: Settings, pool: Pool, node: Node, directory: NodeDirectory) -> dict[str, str]:
    """The variables of every process on a node."""
    env = base_environment(Directories(directory.root), settings.node_path)
    return env | {
        "AZ_BATCH_ACCOUNT_NAME": settings.batch_account,
        "AZ_BATCH_ACCOUNT_URL": settings.url,
        "AZ_BATCH_POOL_ID": pool.id,
        "AZ_BATCH_NODE_ID": node.id,
        "AZ_BATCH_NODE_IS_DEDICATED": str(node.dedicated).lower(),
        "AZ_BATCH_NODE_ROOT_DIR": str(directory.root),
        "AZ_BATCH_NODE_SHARED_DIR": str(directory.shared),
        "AZ_BATCH_NODE_STARTUP_DIR": str(directory.startup),
        "AZ_BATCH_NODE_MOUNTS_DIR": str(directory.mounts),
    }


def task_environment(job: Job, task: Task, directory: Path) -> dict[str, str]:
    """The additional variables of a task, including its author's."""
    own = {
        "AZ_BATCH_JOB_ID": job.id,
        "AZ_BATCH_TASK_ID": task.id,
        "AZ_BATCH_TASK_DIR": str(directory),
        "AZ_BATCH_TASK_WORKING_DIR": str(directory / "wd"),
        "AZ_BATCH_TASK_RESERVED_EPHEMERAL_DISK_SPACE_BYTES": _RESERVED,
        "HOME": str(directory / "wd"),
    }
    common = settings_of(job.document.get("commonEnvironmentSettings"))
    return own | common | settings_of(task.document.get("environmentSettings"))


def preparation_environment(directory: Path) -> dict[str, str]:
    """Where the preparation of a job has left its files, for the job's tasks on the same node."""
    return {"AZ_BATCH_JOB_PREP_DIR": str(directory), "AZ_BATCH_JOB_PREP_WORKING_DIR": str(directory / "wd")}


def gang_environment(nodes: Sequence[Node], index: int, directory: Path, size: str) -> dict[str, str]:
    """The variables that the processes of a multi-instance task need to find each other.

    `size`: that of the nodes.
    """
    addresses, cores = [node.address for node in nodes], cores_of(size) or 1
    return {
        "CCP_NODES": " ".join([str(len(nodes)), *(f"{address} {cores}" for address in addresses)]),
        "AZ_BATCH_NODE_LIST": ";".join(addresses),
        "AZ_BATCH_HOST_LIST": ",".join(addresses),
        "AZ_BATCH_MASTER_NODE": f"{addresses[0]}:{_PORT}",
        "AZ_BATCH_IS_CURRENT_NODE_MASTER": str(index == 0).lower(),
        "AZ_BATCH_TASK_SHARED_DIR": str(directory),
    }


def settings_of(settings: Iterable[Mapping[str, Any]] | None) -> dict[str, str]:
    """Variables from the list of a body."""
    return {one["name"]: one.get("value") or "" for one in settings or ()}
