"""Processes of jobs, each under a launcher that outlives the emulator: run, find again, end."""

import asyncio
import fcntl
import os
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from local.nodes.launcher import Launcher

#: Seconds from SIGTERM to SIGKILL, unless a task has others.
GRACE = 2.0
#: Seconds between two looks at a task that an earlier emulator started: it is not our child to wait for.
_LOOK_EVERY = 0.2
#: Seconds after those of the task, until a launcher that does not end is killed.
_PATIENCE = 10.0


class TaskLost(Exception):
    """The task was started and is gone without an exit code: its launcher died, or the machine did."""


@dataclass(frozen=True, kw_only=True)
class Task:
    """One process. `directory` is its own and names it: a second run of the directory finds the first."""

    directory: Path
    argv: Sequence[str]
    env: Mapping[str, str] = field(repr=False)
    cwd: Path
    stdout: Path
    stderr: Path
    #: Whether its output goes on below what is in these files, of an earlier run.
    goes_on: bool = False
    #: Its standard input.
    text: str = field(default="", repr=False)
    #: Seconds from SIGTERM to SIGKILL.
    grace: float = GRACE


async def run(task: Task, launcher: Launcher) -> int:
    """The exit code of the task, which is started unless it was before. Cancelling it ends only the wait.

    Raises TaskLost.
    """
    task.directory.mkdir(parents=True, exist_ok=True)
    if _result(task.directory) is None and not _is_locked(task.directory):
        await launcher.launch(
            {
                "directory": str(task.directory),
                "argv": list(task.argv),
                "env": dict(task.env),
                "cwd": str(task.cwd),
                "stdout": str(task.stdout),
                "stderr": str(task.stderr),
                "goes_on": task.goes_on,
                "text": task.text,
                "grace": task.grace,
            }
        )
    while (result := _result(task.directory)) is None:
        if not _is_locked(task.directory) and _result(task.directory) is None:
            raise TaskLost(task.directory.name)
        await asyncio.sleep(_LOOK_EVERY)
    if result == "lost":
        raise TaskLost(task.directory.name)
    return int(result)


async def end(directory: Path, grace: float = GRACE) -> None:
    """End the task of a directory and everything that it started; return when it is over.

    `grace`: as the task has it.
    """
    if _result(directory) is None and not _is_locked(directory):
        # A launcher that is just starting finds this file and ends; one that was quicker holds the lock now.
        # On a disk that cannot be written, it cannot note that it has started, and ends as well.
        with suppress(OSError):
            (directory / "exit").write_text("lost")
    waited = 0.0
    signalled = False
    while _is_locked(directory):
        pid = _pid(directory)
        if pid is not None and (not signalled or waited > grace + _PATIENCE):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL if signalled else signal.SIGTERM)
            signalled = True
        await asyncio.sleep(0.05)
        waited += 0.05


async def end_all(directory: Path, grace: float = GRACE) -> None:
    """End all tasks below a directory."""
    await asyncio.gather(*(end(entry, grace) for entry in _entries(directory)))


def _entries(directory: Path) -> list[Path]:
    return list(directory.iterdir()) if directory.is_dir() else []


def _is_locked(directory: Path) -> bool:
    try:
        with (directory / "lock").open("a") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True
    return False


def _result(directory: Path) -> str | None:
    try:
        return (directory / "exit").read_text() or "lost"  # empty: the disk was full
    except FileNotFoundError:
        return None


def _pid(directory: Path) -> int | None:
    try:
        return int((directory / "started").read_text())
    except FileNotFoundError:
        return None
