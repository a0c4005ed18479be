"""The Python of emulated nodes: an environment for each cluster, in which jobs may install what they like.

It sees the packages that the installer keeps for nodes, and nothing of the environment that we run in. What
pip installs, it installs into the cluster's own; it changes no package outside.
"""

import asyncio
import sys
import sysconfig
import threading
import venv
from pathlib import Path

from confined.removal import remove

#: The packages that the installer keeps for nodes: pip, and those that the examples need.
PACKAGES = Path(sys.prefix) / "nodes"
_PIP = '#!/bin/sh\nexec "${0%/*}/python" -m pip "$@"\n'
_one_at_a_time = threading.Lock()


async def node_python(folder: Path) -> Path:
    """The directory of the programs of the environment in `folder`, which is made where there is none.

    Raises OSError, and CalledProcessError where pip has to be installed and cannot be.
    """
    return await asyncio.to_thread(_make_folder, folder)


def _make_folder(folder: Path) -> Path:
    stamp = folder / "slipway-node.stamp"
    # An environment refers to the Python that made it, and to the packages: both may have moved.
    current = f"{sys.version}\n{sys.base_prefix}\n{PACKAGES}\n"
    with _one_at_a_time:
        if not (folder / "bin" / "python").exists() or not stamp.is_file() or stamp.read_text() != current:
            remove(folder)
            folder.mkdir(parents=True, mode=0o700)
            _make(folder)
            stamp.write_text(current)
    return folder / "bin"


def _make(folder: Path) -> None:
    packaged = PACKAGES.is_dir()
    venv.EnvBuilder(symlinks=True, with_pip=not packaged).create(folder)
    if packaged:
        variables = {"base": str(folder), "platbase": str(folder)}
        site = Path(sysconfig.get_path("purelib", "venv", variables))
        (site / "slipway-node.pth").write_text(f"{PACKAGES}\n")
        for name in ("pip", "pip3"):
            (folder / "bin" / name).write_text(_PIP)
            (folder / "bin" / name).chmod(0o755)
