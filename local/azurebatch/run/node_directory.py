"""The directories of a node. Pure."""

from dataclasses import dataclass
from pathlib import Path

from local.azurebatch.state.models import Node
from local.nodes.machine import root


@dataclass(frozen=True)
class NodeDirectory:
    """The directory of a node, which is AZ_BATCH_NODE_ROOT_DIR for its tasks."""

    root: Path

    @property
    def shared(self) -> Path:
        """The directory that all tasks on the node share."""
        return self.root / "shared"

    @property
    def startup(self) -> Path:
        """The directory of the start task."""
        return self.root / "startup"

    @property
    def mounts(self) -> Path:
        """The parent of mounted volumes."""
        return self.root / "fsmounts"

    def task(self, job: str, task: str) -> Path:
        """The directory of a task."""
        return self.root / task_root(job, task)

    def make(self) -> None:
        """Create the directories of the node."""
        for folder in (self.shared, self.startup / "wd", self.mounts, self.root / "workitems"):
            folder.mkdir(parents=True, exist_ok=True)


def directory_of(data: Path, node: Node) -> NodeDirectory:
    """The directory of a node, below the emulator's data."""
    return NodeDirectory(root(data, node.number))


def task_root(job: str, task: str) -> str:
    """The directory of a task, relative to the root of its node."""
    return f"workitems/{job}/job-1/{task}"
