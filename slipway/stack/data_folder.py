"""The folder in which `slipway up` keeps its data: one stack at a time uses it, with one cluster."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from local.private_folder import private_folder
from slipway.failure import Failure
from slipway.settings import ADDRESS, display_path


@contextmanager
def lock_folder(folder: Path) -> Iterator[None]:
    """Create the folder and lock it for the length of the block. Raises Failure that names --data."""
    try:
        private_folder(folder, "lock")
        lock = (folder / "lock").open("a", encoding="utf-8")
    except OSError as error:
        raise Failure(
            f"--data {display_path(folder)} cannot be used: {error.strerror}; "
            "name a folder that can be written"
        ) from error
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise Failure(_running(folder)) from error
        yield


def whereabouts(folder: Path) -> str:
    """The address of the stack that uses a folder, as part of a sentence."""
    try:
        return f"at {(folder / ADDRESS).read_text(encoding='utf-8').strip()}"
    except OSError:
        return "or about to"


def _running(folder: Path) -> str:
    return (
        f"a stack is running already, {whereabouts(folder)}, with its data in {display_path(folder)}; use "
        "it, stop it (Ctrl-C where it runs), or start another by --data and --any-ports"
    )


def most_nodes(folder: Path, nodes: int) -> int:
    """The maximum number of nodes with which the folder's cluster was created; at first the requested one."""
    file = folder / "max-nodes"
    if not file.is_file():
        file.write_text(str(nodes), encoding="utf-8")
    return int(file.read_text(encoding="utf-8"))
