"""One volume that a cluster or a job mounts. Pure."""

from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Literal

from local.nodes.fault import Failed


class MountError(Failed):
    """A volume cannot be mounted."""


@dataclass(frozen=True, kw_only=True)
class Volume:
    """One volume: its kind and place, the directory `inside` it that is mounted, and the mount path `at`.

    `name` is that of a share or container, the id of a file server, the command of an unmanaged file system.
    """

    kind: Literal["share", "blob", "server", "unmanaged"]
    account: str
    name: str
    at: PurePosixPath
    inside: str = ""
    key: str = field(default="", repr=False)
    read_only: bool = False
    #: who mounts it: of what is only read, each has a copy, so that what one writes into it reaches no other
    holder: str = field(default="", repr=False, compare=False)

    @property
    def label(self) -> str:
        """The name to show to people, without the mount command, which may hold a password."""
        if self.kind == "unmanaged":
            return str(self.at)
        return f"{self.account}/{self.name}" if self.account else self.name.rpartition("/")[2]


def spaced(command: str) -> str:
    """A mount command with single spaces, for comparisons."""
    return " ".join(command.split())
