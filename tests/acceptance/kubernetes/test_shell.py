"""`slipway shell` and `slipway forward` through the whole system, with jobs as pods of a real Kubernetes."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from local.patience import Patience
from local.ports import free_ports
from local.process import child
from tests.acceptance.conftest import Slipway
from tests.acceptance.kubernetes.jobs import PATIENCE
from tests.acceptance.kubernetes.kubectl import Answer, in_terminal, run
from tests.acceptance.test_up import up

_LARGE = 20_000_000
#: Answers each connection with what it sends, until it is told to end.
_JOB = """
import pathlib, socketserver, sys, threading
class Echo(socketserver.StreamRequestHandler):
    def handle(self):
        while data := self.request.recv(65536):
            self.request.sendall(data)
class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
threading.Thread(target=Server(("127.0.0.1", int(sys.argv[1])), Echo).serve_forever, daemon=True).start()
pathlib.Path("begun").touch()
while not pathlib.Path("over").exists():
    threading.Event().wait(0.1)
"""


class Person:
    """Who has a kubeconfig, and uses the command."""

    def __init__(self, url: str, printed: str) -> None:
        (kubeconfig,) = re.findall(r"export KUBECONFIG=(\S+)", printed)
        self._argv = ("env", f"KUBECONFIG={kubeconfig}", sys.executable, "-m", "slipway.main")
        self._url = f"--url={url}"

    def words(self, command: str, *arguments: str) -> list[str]:
        """The words of a command."""
        return [*self._argv, command, self._url, *arguments]

    async def does(self, command: str, *arguments: str, stdin: bytes = b"") -> Answer:
        """Run it to its end."""
        return await run(*self.words(command, *arguments), stdin=stdin)


async def test_a_person_enters_a_job_and_reaches_its_port(
    slipway: Slipway, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "job").mkdir()
    (tmp_path / "job" / "train.py").write_text(_JOB)
    monkeypatch.setenv("HF_TOKEN", "canary of the job")
    (port,) = free_ports(1)
    async with up(tmp_path / "up", "--cluster=kubernetes") as running:
        person = Person(running.url, running.printed)
        options = ("--env", "COLOUR=blue", "--secret", "HF_TOKEN", "--detach")
        job = (
            await slipway("run", str(tmp_path / "job"), f"--url={running.url}", *options, "--", str(port))
        ).split()[-1]
        monkeypatch.setenv("HF_TOKEN", "canary of the person")
        async with asyncio.timeout(PATIENCE):
            while (waits := await person.does("shell", job, "--", "sh", "-c", "test -e begun")).code:
                assert waits.code in (1, 255), waits
                await asyncio.sleep(0.5)

        await _runs_commands(person, job)
        await _has_a_terminal(person, job)
        await _reaches_a_port(person, job, port)

        after = await person.does("shell", job, "--", "true")
        assert (after.code, after.out) == (255, b"")
        assert "succeeded: no process of it runs" in after.error
        assert "entered by" in (await slipway("show", job, f"--url={running.url}"))
        assert await running.stop(signal.SIGINT) == 0


async def _runs_commands(person: Person, job: str) -> None:
    answer = await person.does("shell", job, "--", "sh", "-c", "env; echo err >&2; exit 5")
    lines = answer.out.decode().splitlines()
    assert answer.code == 5, answer.error
    assert answer.error.startswith("err\n")
    assert {"COLOUR=blue", "HF_TOKEN=canary of the job", f"SLIPWAY_JOB_ID={job}"} <= {*lines}
    assert not [
        line for line in lines if line.startswith(("SLIPWAY_SECRET", "SLIPWAY_PROOFS", "KUBECONFIG="))
    ]

    content = os.urandom(_LARGE)
    echoed = await person.does("shell", "--stdio", job, "--", "cat", stdin=content)
    assert (echoed.code, echoed.out == content) == (0, True), echoed.error

    printed = await person.does("shell", "--print", job, "--", "nvidia-smi")
    assert printed.out.startswith(b"kubectl ")
    assert b" --container=main " in printed.out
    assert b"canary" not in printed.out


async def _has_a_terminal(person: Person, job: str) -> None:
    async with in_terminal(*person.words("shell", job), rows=33, columns=101) as terminal:
        await terminal.shows("ends with it")
        await terminal.shows(r"[#$] ")
        terminal.type("stty size; echo $COLOUR; exit 7\r")
        await terminal.shows("33 101\r\nblue\r")
        assert await terminal.process.wait() == 7


async def _reaches_a_port(person: Person, job: str, port: int) -> None:
    async with child(person.words("forward", job, str(port)), name="forward") as forward:
        local = int(
            (await forward.line(rf"http://127\.0\.0\.1:(\d+) is port {port} of", seconds=PATIENCE)).group(1)
        )
        assert local != port, "of this machine it is taken, by the job itself"
        assert await _echoed(local, b"x") == b"x"
        content = os.urandom(_LARGE)
        assert await _echoed(local, content) == content

        over = await person.does("shell", job, "--", "touch", "over")
        assert over.code == 0, over.error
        async with asyncio.timeout(PATIENCE):
            assert await forward.wait() == 0


async def _echoed(port: int, content: bytes) -> bytes:
    patience = Patience(PATIENCE)
    while True:
        with suppress(ConnectionRefusedError):  # the tool is about to listen
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            break
        assert not patience.is_over(None)
        await asyncio.sleep(0.1)
    sending = asyncio.create_task(_send(writer, content))
    answer = await reader.readexactly(len(content))
    await sending
    writer.close()
    return answer


async def _send(writer: asyncio.StreamWriter, content: bytes) -> None:
    writer.write(content)
    await writer.drain()
