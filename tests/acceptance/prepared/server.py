"""The `slipway` command without its start: a process that has imported it forks for each call.

A test makes a hundred calls, and to import what one needs takes longer than the rest of it. What is called is
the same: arguments, environment, folder, standard streams and exit code; `tests/slow/slipway` and some tests
here start the program itself. It serves at the socket of its argument until its input ends.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import pkgutil
import select
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
_CLIENT = Path(__file__).with_name("client.py")
_SDKS = ("azure.storage.blob.aio", "azure.storage.queue.aio")


class Prepared:
    """A running process of this kind."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="slipway-")
        path = f"{self._folder.name}/socket"
        self._server = subprocess.Popen(
            [sys.executable, "-m", __name__, path],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        assert self._server.stdout is not None
        assert self._server.stdout.readline() == b"ready\n"
        #: what stands for `slipway` in a command line
        self.command = (sys.executable, "-I", "-S", str(_CLIENT), path)

    def close(self) -> None:
        """End it, and with it what it has begun."""
        self._server.communicate()
        self._folder.cleanup()


def main(path: str) -> None:
    import slipway.commands

    modules = pkgutil.walk_packages(slipway.commands.__path__, "slipway.commands.")
    for name in ("slipway.main", *(module.name for module in modules), *_SDKS):
        importlib.import_module(name)
    gc.freeze()
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(path)
        door.listen(100)
        os.write(1, b"ready\n")
        while door.fileno() in select.select([door.fileno(), 0], [], [])[0]:
            line, _ = door.accept()
            if os.fork() == 0:
                _call(line)
            line.close()
            while _is_one_over():
                pass
    os.killpg(0, signal.SIGTERM)


def _is_one_over() -> bool:
    try:
        return os.waitpid(-1, os.WNOHANG)[0] != 0
    except ChildProcessError:
        return False


def _call(line: socket.socket) -> None:
    """Be the program that the other end asks for, and hand back its exit code."""
    text, streams, _, _ = socket.recv_fds(line, 1 << 20, 3)
    while more := line.recv(1 << 20):
        text += more
    call = json.loads(text)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.environ.clear()
    os.environ.update(call["environment"])
    os.chdir(call["folder"])
    sys.argv[:] = ["slipway", *call["words"]]
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - a descriptor
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", buffering=1, closefd=False)  # noqa: SIM115
    code = 1
    try:
        code = _exit_code()
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        line.sendall(str(code).encode())
        os._exit(code)


def _exit_code() -> int:
    from slipway.main import main as slipway

    try:
        slipway()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:  # noqa: BLE001 - what the interpreter would do
        sys.excepthook(*sys.exc_info())
        return 1
    return 0


if __name__ == "__main__":
    main(sys.argv[1])
