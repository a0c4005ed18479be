"""The launcher: runs processes of jobs and writes their exit codes to files, even when the emulator dies.

A program of its own (standard library only), started with `python -I -S`. Each line of standard input is an
order: `[number, task]` in JSON. A fork of this process carries it out, which takes a fraction of what another
Python would; when it has ended, its number is written to standard output. The launcher ends with its standard
input, and its forks go on.

A fork holds a lock as long as it lives, so that a restarted emulator can distinguish a running task from a
lost one, and no task is ever started twice. SIGTERM ends the process and all its descendants.
"""

import contextlib
import ctypes
import errno
import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import IO, Any

#: Seconds between two looks at what still ends.
_LOOK_EVERY = 0.05
_PR_SET_CHILD_SUBREAPER = 36
_LIBC = ctypes.CDLL(None)


def main() -> None:
    """Carry out every order of standard input, each in a fork."""
    numbers: dict[int, int] = {}

    def reap(_number: int, _frame: FrameType | None) -> None:
        with contextlib.suppress(ChildProcessError, BrokenPipeError):
            while pid := os.waitpid(-1, os.WNOHANG)[0]:
                os.write(sys.stdout.fileno(), f"{numbers.pop(pid)}\n".encode())

    signal.signal(signal.SIGCHLD, reap)
    for line in sys.stdin.buffer:
        number, task = json.loads(line)
        # A fork must not be reaped before its number is noted.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
        if (pid := os.fork()) == 0:
            try:
                _leave()
                _carry_out(task)
            finally:
                os._exit(0)
        numbers[pid] = number
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})


def _leave() -> None:
    """Separate a fork from the launcher, whose pipes would stay open as long as a fork has them."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
    os.setsid()
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in range(3):
        os.dup2(null, descriptor)


def _carry_out(task: dict[str, Any]) -> None:
    directory = Path(task["directory"])
    with (directory / "lock").open("a") as lock:
        if not _lock(lock.fileno()):
            return
        if (directory / "exit").exists():
            return
        if (directory / "started").exists():
            _write(directory / "exit", "lost")
            return
        _write(directory / "started", str(os.getpid()))
        _insist(directory / "exit", str(_run(task)))


def _lock(descriptor: int) -> bool:
    """Take the lock; False if a launcher holds it. The emulator holds it for a moment to check."""
    for _ in range(50):
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(0.01)
        else:
            return True
    return False


def _run(task: dict[str, Any]) -> int:
    group, is_asked, is_over = 0, False, False

    def ask(_number: int, _frame: FrameType | None) -> None:
        nonlocal is_asked
        if not is_asked:
            is_asked = True
            _kill(group, signal.SIGTERM)
            signal.setitimer(signal.ITIMER_REAL, task["grace"])

    def insist(_number: int, _frame: FrameType | None) -> None:
        nonlocal is_over
        is_over = True
        _kill(group, signal.SIGKILL)

    signal.signal(signal.SIGTERM, ask)
    signal.signal(signal.SIGALRM, insist)
    _adopt_orphans()
    try:
        outputs = [_open(task[name], goes_on=task["goes_on"]) for name in ("stdout", "stderr")]
    except FileNotFoundError:
        raise
    except OSError:
        return 126  # a job has put something else in its place
    with os.fdopen(outputs[0], "wb") as out, os.fdopen(outputs[1], "wb") as err:
        try:
            child = _start(task, out, err)
        except (OSError, ValueError) as error:
            err.write(f"{_reason(error, task)}\n".encode(errors="backslashreplace"))
            return 127
        # If SIGTERM comes before this line, the child gets no SIGTERM, only SIGKILL after the grace period.
        group = child.pid
        _feed(child, task["text"])
        code = child.wait()
        _wait_for_rest(group, lambda: is_asked and not is_over)
    _end(group)
    return 128 - code if code < 0 else code


def _reason(error: Exception, task: dict[str, Any]) -> str:
    """Why a process did not start. A ValueError: no system accepts such a variable or argument."""
    if isinstance(error, OSError):
        return f"{error.filename or task['argv'][0]}: {error.strerror}"
    return str(error)


def _start(task: dict[str, Any], out: IO[bytes], err: IO[bytes]) -> "subprocess.Popen[bytes]":
    # A node starts its own shell, wherever a job's PATH leads.
    own = shutil.which("bash", path=os.defpath) if task["argv"][0] == "bash" else None
    return subprocess.Popen(
        task["argv"],
        executable=own,
        env=task["env"],
        cwd=task["cwd"],
        stdin=subprocess.PIPE if task["text"] else subprocess.DEVNULL,
        stdout=out,
        stderr=err,
        start_new_session=True,
    )


def _open(path: str, *, goes_on: bool) -> int:
    """Open a file for writing by its real path: a job could have replaced parts of the path by links.

    Where it goes on, what is in it stays.
    """
    parent = os.open("/", os.O_RDONLY | os.O_DIRECTORY)
    *folders, name = Path(path).parts[1:]
    passing = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW
    try:
        for folder in folders:
            before, parent = parent, os.open(folder, passing, dir_fd=parent)
            os.close(before)
        flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_APPEND
        file = os.open(name, flags, 0o666, dir_fd=parent)
    finally:
        os.close(parent)
    os.ftruncate(file, os.fstat(file).st_size if goes_on else 0)  # fails on a pipe
    os.set_blocking(file, True)
    return file


def _feed(child: "subprocess.Popen[bytes]", text: str) -> None:
    if child.stdin is not None:
        with contextlib.suppress(BrokenPipeError), child.stdin as pipe:
            pipe.write(text.encode())


def _wait_for_rest(session: int, may_save: Callable[[], bool]) -> None:
    """Wait until the last process has ended: a shell is gone at once, and its child may still save.

    Other groups of the session were not asked with it. Each is asked once.
    """
    signalled = {session}
    while may_save() and (groups := _groups(session)):
        for group in () if session in groups else groups - signalled:
            _kill(group, signal.SIGTERM)
            signalled.add(group)
        time.sleep(_LOOK_EVERY)


def _groups(session: int) -> set[int]:
    """The groups of a session in which a process lives; one that has ended and is not reaped does not."""
    groups = set()
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, _, group, its_session, *_ = path.read_text(errors="replace").rpartition(")")[2].split()
            if int(its_session) == session and state not in "ZX":
                groups.add(int(group))
    return groups


def _end(group: int) -> None:
    """End what the process left behind: its group and, as adopter of orphans, all else that it started."""
    _kill(group, signal.SIGKILL)
    children = Path(f"/proc/self/task/{os.getpid()}/children")
    while children.exists() and (pids := children.read_text().split()):
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(int(pid), 0)


def _kill(group: int, number: signal.Signals) -> None:
    if group:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, number)


def _adopt_orphans() -> None:
    if sys.platform == "linux":
        _LIBC.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _insist(file: Path, text: str) -> None:
    """Write a file, and wait for room on a full disk: nothing else records how the task ended."""
    while True:
        try:
            return _write(file, text)
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT):
                raise
        time.sleep(1)


def _write(file: Path, text: str) -> None:
    temporary = file.with_suffix(".new")
    temporary.write_text(text)
    temporary.replace(file)


if __name__ == "__main__":
    main()
