"""Where things are on a node. Pure."""

from dataclasses import dataclass
from pathlib import Path

from local.azurebatch.state.records import Node
from local.nodes.machine import root


@dataclass(frozen=True)
class Place:
    """The directory of a node, which tasks know as AZ_BATCH_NODE_ROOT_DIR."""

    root: Path

    @property
    def shared(self) -> Path:
        """What all tasks on the node share."""
        return self.root / "shared"

    @property
    def startup(self) -> Path:
        """The directory of the start task."""
        return self.root / "startup"

    @property
    def mounts(self) -> Path:
        """Where volumes would be mounted."""
        return self.root / "fsmounts"

    def task(self, job: str, task: str) -> Path:
        """The directory of a task."""
        return self.root / task_root(job, task)

    def make(self) -> None:
        """Have the directories of the node."""
        for folder in (self.shared, self.startup / "wd", self.mounts, self.root / "workitems"):
            folder.mkdir(parents=True, exist_ok=True)


def place(data: Path, node: Node) -> Place:
    """The place of a node, below the data of the emulator."""
    return Place(root(data, node.number))


def task_root(job: str, task: str) -> str:
    """The directory of a task, as seen from the root of its node."""
    return f"workitems/{job}/job-1/{task}"
