"""A folder that one process uses at a time."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from local.private_folder import private_folder


@contextmanager
def folder_lock(folder: Path, refusal: Exception) -> Iterator[None]:
    """Hold a private folder for the length of the block. Raises `refusal` while another process holds it."""
    private_folder(folder, "lock")
    with (folder / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise refusal from None
        yield
