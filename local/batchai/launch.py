"""The launcher: runs one process of a job and writes its exit code to a file, even when the emulator dies.

A program of its own (standard library only), started with `python -I -S`; its order is a JSON document on
standard input. It holds a lock as long as it lives, so that a restarted emulator can tell a running task from
a lost one, and no task is ever started twice. SIGTERM ends the process and all its descendants.
"""

import contextlib
import ctypes
import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import FrameType
from typing import Any

#: Seconds between the request to end and the end.
GRACE = 2
_PR_SET_CHILD_SUBREAPER = 36


def main() -> None:
    """Run the order on standard input."""
    order = json.load(sys.stdin)
    directory = Path(order["directory"])
    with (directory / "lock").open("a") as lock:
        if not _lock(lock.fileno()):
            return
        if (directory / "exit").exists():
            return
        if (directory / "started").exists():
            _write(directory / "exit", "lost")
            return
        _write(directory / "started", str(os.getpid()))
        _write(directory / "exit", str(_run(order)))


def _lock(descriptor: int) -> bool:
    """Take the lock; False if a launcher has it. The emulator, looking at it, holds it for a moment too."""
    for _ in range(50):
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(0.01)
        else:
            return True
    return False


def _run(order: dict[str, Any]) -> int:
    _adopt_orphans()
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGALRM})
    with Path(order["stdout"]).open("wb") as out, Path(order["stderr"]).open("wb") as err:
        try:
            child = subprocess.Popen(
                order["argv"],
                env=order["env"],
                cwd=order["cwd"],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
                # The mask is inherited: without this the job could not be asked to end.
                preexec_fn=_unblock,  # noqa: PLW1509 this program has one thread
            )
        except OSError as error:
            err.write(f"{error.filename or order['argv'][0]}: {error.strerror}\n".encode())
            return 127
        code = _wait(child)
    _end(child.pid)
    return 128 - code if code < 0 else code


def _wait(child: "subprocess.Popen[bytes]") -> int:
    def ask(_number: int, _frame: FrameType | None) -> None:
        _kill(child.pid, signal.SIGTERM)
        signal.alarm(GRACE)

    def insist(_number: int, _frame: FrameType | None) -> None:
        _kill(child.pid, signal.SIGKILL)

    signal.signal(signal.SIGTERM, ask)
    signal.signal(signal.SIGALRM, insist)
    _unblock()
    return child.wait()


def _end(group: int) -> None:
    """End what the process left behind: its group, and as their adopter everything else that it started."""
    _kill(group, signal.SIGKILL)
    children = Path(f"/proc/self/task/{os.getpid()}/children")
    while children.exists() and (left := children.read_text().split()):
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(int(pid), 0)


def _kill(group: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def _adopt_orphans() -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _unblock() -> None:
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM, signal.SIGALRM})


def _write(file: Path, text: str) -> None:
    temporary = file.with_suffix(".new")
    temporary.write_text(text)
    temporary.replace(file)


if __name__ == "__main__":
    main()
