"""Makes `.venv`, `node_modules` and `page` ready.

`python3 -m local.setup.install [--what demo|dev] [--venv DIR]` is run by make, before anything is installed:
standard library only, and no syntax newer than Python 3.6, so that an old python3 can find a newer one. When
all is done already it returns at once. What the steps wrote is in `.local/install/*.log`.
"""

import argparse
import csv
import fcntl
import os
import shutil
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Iterator  # noqa: UP035 - an old Python must be able to read this

from local.setup import page
from local.setup.groups import DEMO, DEV, UV, listed, pip
from local.setup.interpreter import InstallError, Interpreter, choose
from local.setup.node import Node, installed_node, packaged_node
from local.setup.steps import LOGS, ROOT, fingerprint, read, say, step

GROUPS = {"demo": DEMO, "dev": DEV}
#: The packages on the nodes of local clusters (local/node_python.py); jobs never see our environment.
CLUSTER_NODES = "cluster-nodes"
#: Node.js, for a machine that has none, or one that is too old.
NODEJS = "nodejs"
_PYTHON_INPUTS = (
    UV,
    "uv.lock",
    "pyproject.toml",
    "local/setup/groups.py",
    "local/setup/install.py",
    "local/setup/steps.py",
)
_NODE_INPUTS = ("package.json", "package-lock.json")


def main(argv: "list[str]") -> int:
    """Install what is missing; 0 when all is there, 1 with one line on standard error when it cannot be."""
    parser = argparse.ArgumentParser(
        prog="python3 -m local.setup.install", description="Install what the project needs."
    )
    parser.add_argument("--what", choices=sorted(GROUPS), default="dev", help="dev: the checks as well")
    parser.add_argument("--venv", default=".venv", help="folder of the virtual environment (default: .venv)")
    arguments = parser.parse_args(argv)
    venv = ROOT / arguments.venv
    try:
        if not is_ready(arguments.what, venv):
            with _alone():
                if not is_ready(arguments.what, venv):
                    install(arguments.what, venv)
    except (InstallError, OSError) as error:
        sys.stderr.write(f"install: {error}\n")
        return 1
    except KeyboardInterrupt:
        sys.stderr.write("install: interrupted; run it again to go on\n")
        return 130
    return 0


def is_ready(what: str, venv: Path) -> bool:
    """Whether an earlier installation is complete, and fits the present inputs.

    No process is run, unless PYTHON is set.
    """
    named = os.environ.get("PYTHON")
    if named and not _is_made_by(venv, choose(os.environ)):
        return False
    return (
        (venv / "bin" / "python").exists()
        and read(_stamp(what, venv)).split("\n")[0] == fingerprint(_PYTHON_INPUTS, venv)
        and not damaged(what, venv)
        and _azurite_is_ready()
        and page.is_built()
    )


def damaged(what: str, venv: Path) -> "list[Path]":
    """The dist-info directories of packages that were installed and are now missing or damaged.

    A user of this environment may have installed other packages into it.
    """
    installed = read(_stamp(what, venv)).split("\n")[1:]
    return [venv / name for name in installed if not _is_whole(venv / name)]


def install(what: str, venv: Path) -> None:
    """Run every step. Raises InstallError with the cause and the log of the step that failed."""
    began = time.monotonic()
    python = choose(os.environ)
    say("installing into {} with Python {}.{}: {}".format(venv.name, *python.version, python.path))
    LOGS.mkdir(parents=True, exist_ok=True)
    lost = damaged(what, venv)
    if not _is_made_by(venv, python) or any(_is_ours(info) and info.name.startswith("pip-") for info in lost):
        shutil.rmtree(str(venv), ignore_errors=True)
        step("virtual environment", [python.path, "-m", "venv", str(venv)])
    for info in lost:  # so that pip does not take it for installed
        shutil.rmtree(str(info if _is_ours(info) else info.parent), ignore_errors=True)
    node = installed_node()
    step("uv", [*pip(venv), "--no-compile", "--require-hashes", "-r", UV])
    with ThreadPoolExecutor(2) as beside:
        others = [beside.submit(_install_node_packages, venv)]
        others += [beside.submit(_install_with_node, node)] if node else []
        _install_packages(what, venv, with_node=node is None)
        for other in others:
            other.result()
    if node is None:
        _install_with_node(packaged_node(venv))
    for name in GROUPS if what == "dev" else [what]:
        _stamp(name, venv).write_text("\n".join([fingerprint(_PYTHON_INPUTS, venv), *_installed(venv)]))
    say(f"installed in {time.monotonic() - began:.1f} s")


def _install_packages(what: str, venv: Path, with_node: bool) -> None:
    name = "Python packages" + (" and node" if with_node else "")
    _install_groups(name, [*GROUPS[what], *([NODEJS] if with_node else [])], venv)
    _compile("bytecode", venv, venv / "lib")
    step("the slipway command", [*pip(venv), "--no-deps", "--no-build-isolation", "-e", "."])


def _install_node_packages(venv: Path) -> None:
    """Install the nodes' packages into a directory to which the environments of the clusters refer."""
    folder, inputs = venv / "nodes", fingerprint(("uv.lock",), venv)
    if read(folder / "stamp") == inputs:
        return
    shutil.rmtree(str(folder), ignore_errors=True)
    _install_groups("packages of nodes", [CLUSTER_NODES], venv, "--target", str(folder))
    _compile("bytecode of nodes", venv, folder)
    (folder / "stamp").write_text(inputs)


def _install_groups(name: str, groups: "list[str]", venv: Path, *options: str) -> None:
    file, argv = listed(groups, venv)
    step(f"list of {name}", argv)
    step(name, [*pip(venv), "--no-compile", "--require-hashes", *options, "-r", str(file)])


def _compile(name: str, venv: Path, folder: Path) -> None:
    """Compile here, not by pip: on all cores and without the packages' own tests it takes a quarter."""
    python, skipped = str(venv / "bin" / "python"), "(site-packages|nodes)/.*/tests?/"
    step(name, [python, "-m", "compileall", "-q", "-j", "0", "-x", skipped, str(folder)], strict=False)


def _is_ours(info: Path) -> bool:
    """Whether a package is one of our environment, and not one of nodes."""
    return info.parent.name == "site-packages"


def _installed(venv: Path) -> "list[str]":
    folders = [*venv.glob("lib/python*/site-packages/*.dist-info"), *venv.glob("nodes/*.dist-info")]
    return sorted(str(info.relative_to(venv)) for info in folders)


def _is_whole(info: Path) -> bool:
    """Whether the files of a package are there, and none is empty or cut off, as on a full disk.

    Scripts are not checked, since pip may have moved them.
    """
    folders: dict[str, dict[str, str]] = {}
    for row in csv.reader(read(info / "RECORD").splitlines()):
        folder, _, name = row[0].rpartition("/")
        if not folder.startswith(".."):
            folders.setdefault(folder, {})[name] = row[-1]
    return bool(folders) and all(_has(info.parent / folder, files) for folder, files in folders.items())


def _has(folder: Path, files: "dict[str, str]") -> bool:
    """Whether a folder has these files; if a size is not known, any size will do."""
    if not folder.is_dir():
        return False
    with os.scandir(str(folder)) as entries:
        sizes = {entry.name: str(entry.stat().st_size) for entry in entries if entry.name in files}
    return all(name in sizes and size in ("", sizes[name]) for name, size in files.items())


def _install_with_node(node: Node) -> None:
    if not _azurite_is_ready():
        quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier"]
        step("Azurite", [*node.npm, "ci", *quiet])
        _node_stamp().write_text(fingerprint(_NODE_INPUTS, ROOT))
    if not page.is_built():
        page.build(node)


def _is_made_by(venv: Path, python: Interpreter) -> bool:
    """Whether this interpreter made the environment here; a moved checkout has to make it again."""
    pairs = (line.partition("=") for line in read(venv / "pyvenv.cfg").splitlines())
    about = {key.strip(): value.strip() for key, _, value in pairs}
    same_python = Path(about.get("executable") or "/nonexistent").resolve() == Path(python.path).resolve()
    return same_python and about.get("command", "").endswith(f" {venv}") and (venv / "bin" / "pip").exists()


def _azurite_is_ready() -> bool:
    if os.environ.get("SLIPWAY_NODE_MODULES"):
        return True  # it was put elsewhere; local/azurite.py reports it if it is missing
    script = ROOT / "node_modules" / "azurite" / "dist" / "src" / "azurite.js"
    return script.is_file() and read(_node_stamp()) == fingerprint(_NODE_INPUTS, ROOT)


def _node_stamp() -> Path:
    return ROOT / "node_modules" / ".slipway-stamp"


def _stamp(what: str, venv: Path) -> Path:
    return venv / f"slipway-{what}.stamp"


@contextmanager
def _alone() -> "Iterator[None]":
    """Hold the lock of installations: a second one waits, and then finds everything done."""
    LOGS.mkdir(parents=True, exist_ok=True)
    with (LOGS / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
