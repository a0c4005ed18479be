"""Nodes whose program is the one in shell, with a PATH that has neither Python nor bash."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from shared.core.engine import Order
from shared.engines.launch import alone
from tests.slow.engines.slurm.test_program import Nodes, Program

#: What the program itself calls, beyond the shell: the documentation says so.
NEEDED = ("cat", "chmod", "cp", "date", "dd", "ln", "mkdir", "mv", "rm", "rmdir", "sha256sum", "sleep")
#: What the jobs of these tests call.
_OF_JOBS = ("env", "ls", "mkfifo", "stat", "touch")
#: Ends with its processes, where there is one; util-linux and busybox have it.
_APART = "setsid"

#: Shells, and those that cannot be had here.
SHELLS = ("dash", "bash", "busybox")
ABSENT_SHELLS = {name for name in SHELLS if shutil.which(name) is None}


def image(folder: Path, shell: str) -> Path:
    """A folder as the programs of an image without Python and bash; its `sh` is that shell."""
    folder.mkdir()
    if shell == "busybox":
        subprocess.run([_path_of("busybox"), "--install", "-s", str(folder)], check=True)
        return folder
    (folder / "sh").symlink_to(_path_of(shell))
    for name in (*NEEDED, *_OF_JOBS, _APART):
        (folder / name).symlink_to(_path_of(name))
    return folder


def _path_of(name: str) -> str:
    path = shutil.which(name)
    assert path is not None, name
    return path


@dataclass
class NodesInShell(Nodes):
    """A pod's node: one at a time."""

    ENGINE: ClassVar = "kubernetes"

    shell: str = "dash"

    def __post_init__(self) -> None:
        super().__post_init__()
        self.programs = self.root / "programs"
        self.programs.mkdir(parents=True)
        self.site = replace(self.site, path=str(image(self.root / "bin", self.shell)))
        text = alone.script().replace("slipway_watch=5", "slipway_watch=1")
        (self.programs / "alone.sh").write_text(text)
        (self.programs / "usage.sh").write_text(alone.sampling())
        (self.programs / "place.sh").write_text(alone.placing())

    def program(self, order: Order, once: str, job: str, restarts: str) -> Program:
        env = alone.environment(self.site, order, once)
        pod = {
            "SLIPWAY_POD": f"{job}-{restarts}",
            "SLIPWAY_PROGRAMS": str(self.programs),
            "AZ_BATCH_NODE_ID": "node0",
        }
        return Program([f"{self.site.path}/sh", str(self.programs / "alone.sh")], {**env, **pod})
