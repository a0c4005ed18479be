"""What people do in a pod with kubectl, through the API server: commands, terminals, files, ports."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.acceptance.kubernetes.jobs import IMAGE, Jobs, is_running
from tests.acceptance.kubernetes.kubectl import Kubectl

pytestmark = pytest.mark.asyncio(loop_scope="session")
_LARGE = 20_000_000
#: Answers each connection with what it sends; the port goes into the log.
_ECHO = """
import socketserver
class Echo(socketserver.StreamRequestHandler):
    def handle(self):
        while data := self.request.recv(65536):
            self.request.sendall(data)
class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
server = Server(("127.0.0.1", 0), Echo)
print("port", server.server_address[1], flush=True)
server.serve_forever()
"""


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def pod(jobs: Jobs) -> AsyncIterator[str]:
    """The name of a pod that answers on a port."""
    name = await jobs.start(
        'exec python3 -u -c "$ECHO"',
        env=[{"name": "ECHO", "value": _ECHO}, {"name": "COLOUR", "value": "blue"}],
        workingDir="/usr",
    )
    found_pod = await jobs.pod_of(name, is_running)
    path = jobs.path("pods", found_pod["metadata"]["name"])
    await jobs.wrote(path, "port")
    yield found_pod["metadata"]["name"]
    await jobs.delete(name)


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def port(jobs: Jobs, pod: str) -> int:
    """That port."""
    log = str(await jobs.api.insist("GET", f"{jobs.path('pods', pod)}/log"))
    return int(log.split()[1])


async def test_a_command_ends_with_its_own_exit_code_and_has_both_streams(kubectl: Kubectl, pod: str) -> None:
    answer = await kubectl.run("exec", pod, "--", "sh", "-c", "echo out; echo err >&2; exit 5")

    assert (answer.code, answer.out) == (5, b"out\n")
    assert answer.error.splitlines()[0] == "err"


async def test_a_command_has_the_name_the_directory_and_the_variables_of_the_container(
    kubectl: Kubectl, pod: str
) -> None:
    answer = await kubectl.run(
        "exec", pod, "--", "sh", "-c", 'hostname; pwd; echo "$COLOUR"; cat /proc/1/cmdline'
    )

    name, folder, colour, first = answer.out.decode().split("\n", 3)
    assert (answer.code, name, folder, colour) == (0, pod, "/usr", "blue")
    assert first.startswith("python3\0-u\0-c\0"), "the container's first process"


async def test_twenty_megabytes_pass_in_both_directions_unchanged(kubectl: Kubectl, pod: str) -> None:
    content = os.urandom(_LARGE)

    answer = await kubectl.run("exec", "--stdin", pod, "--", "cat", stdin=content)

    assert (answer.code, answer.out == content) == (0, True), answer.error


async def test_a_command_without_stdin_finds_it_at_its_end(kubectl: Kubectl, pod: str) -> None:
    answer = await kubectl.run("exec", pod, "--", "sh", "-c", "cat; echo end", stdin=b"not for it")

    assert (answer.code, answer.out) == (0, b"end\n")


async def test_a_terminal_has_the_size_of_the_persons_and_follows_it(kubectl: Kubectl, pod: str) -> None:
    async with kubectl.terminal("exec", "-it", pod, "--", "sh", rows=33, columns=101) as terminal:
        await terminal.shows(r"[#$] ")
        terminal.type("stty size; tty\r")
        await terminal.shows("\n33 101\r")
        await terminal.shows("/dev/pts/")

        terminal.resize(40, 120)
        terminal.type("until stty size | grep '40 12[0]'; do sleep 0.1; done; exit 7\r")
        await terminal.shows("\n40 120\r")
        assert await terminal.process.wait() == 7


async def test_a_terminal_hears_what_is_typed_to_end_a_program(kubectl: Kubectl, pod: str) -> None:
    async with kubectl.terminal("exec", "-it", pod, "--", "sh", rows=24, columns=80) as terminal:
        await terminal.shows(r"[#$] ")
        terminal.type("echo begun; sleep 1000 && echo over\r")
        await terminal.shows("\nbegun\r")

        terminal.type("\x03")

        await terminal.shows(r"[#$] ")
        terminal.type("exit 3\r")
        assert await terminal.process.wait() == 3


async def test_files_are_copied_to_a_pod_and_back(kubectl: Kubectl, pod: str, tmp_path: Path) -> None:
    (tmp_path / "there").write_bytes(os.urandom(3_000_000))

    to = await kubectl.run("cp", str(tmp_path / "there"), f"{pod}:/tmp/slipway-test-{pod}")
    back = await kubectl.run("cp", f"{pod}:/tmp/slipway-test-{pod}", str(tmp_path / "back"))
    await kubectl.run("exec", pod, "--", "rm", f"/tmp/slipway-test-{pod}")

    assert (to.code, back.code) == (0, 0), (to.error, back.error)
    assert (tmp_path / "back").read_bytes() == (tmp_path / "there").read_bytes()


async def test_a_container_that_is_not_there_is_named(kubectl: Kubectl, pod: str) -> None:
    answer = await kubectl.run("exec", pod, "--container", "other", "--", "true")

    assert answer.code != 0
    assert "other" in answer.error


async def test_each_container_of_a_pod_is_its_own(kubectl: Kubectl, jobs: Jobs) -> None:
    side = {"name": "side", "image": IMAGE, "env": [{"name": "COLOUR", "value": "red"}]}
    script = "echo of $COLOUR; until [ -e /both/over ]; do sleep 0.1; done"
    mounts = {"volumeMounts": [{"name": "both", "mountPath": "/both"}]}
    main = {**side, "name": "main", "env": [{"name": "COLOUR", "value": "blue"}]}
    both = [{**one, "command": ["/bin/sh", "-c", script], **mounts} for one in (side, main)]
    volumes = [{"name": "both", "emptyDir": {}}]
    name = await jobs.start("", pod={"containers": both, "volumes": volumes})
    running = (await jobs.pod_of(name, is_running))["metadata"]["name"]

    for container, colour in (("side", "red"), ("main", "blue")):
        log = f"{jobs.path('pods', running)}/log?container={container}"
        await jobs.wrote(jobs.path("pods", running), f"of {colour}", query=f"container={container}")
        assert str(await jobs.api.insist("GET", log)) == f"of {colour}\n"
        words = (
            "exec",
            running,
            f"--container={container}",
            "--",
            "sh",
            "-c",
            "echo $COLOUR; cat /proc/1/cmdline",
        )
        answer = await kubectl.run(*words)
        assert answer.out.startswith(f"{colour}\n/bin/sh\0".encode()), answer
    ended = await kubectl.run("exec", running, "--container=main", "--", "touch", "/both/over")

    assert ended.code == 0
    assert await jobs.end_of(name) == "Complete"


async def test_a_pod_that_is_over_runs_no_command(kubectl: Kubectl, jobs: Jobs) -> None:
    name = await jobs.start("true")
    await jobs.end_of(name)
    over = await jobs.pod_of(name)

    answer = await kubectl.run("exec", over["metadata"]["name"], "--", "true")

    assert answer.code != 0
    assert "completed pod" in answer.error


async def test_a_port_carries_eight_connections_at_once(kubectl: Kubectl, pod: str, port: int) -> None:
    async with kubectl.forward(pod, port) as local:
        ends = [await asyncio.open_connection("127.0.0.1", local) for _ in range(8)]
        for number, (_, writer) in enumerate(ends):
            writer.write(f"hello {number}\n".encode())

        lines = [await reader.readline() for reader, _ in reversed(ends)]

        assert lines == [f"hello {number}\n".encode() for number in reversed(range(8))]
        for _, writer in ends:
            writer.close()


async def test_a_port_carries_twenty_megabytes_and_their_end(kubectl: Kubectl, pod: str, port: int) -> None:
    content = os.urandom(_LARGE)

    async with kubectl.forward(pod, port) as local:
        reader, writer = await asyncio.open_connection("127.0.0.1", local)

        async def send() -> None:
            writer.write(content)
            await writer.drain()

        sending = asyncio.create_task(send())
        answer = await reader.readexactly(_LARGE)
        await sending
        writer.close()

    assert answer == content


async def test_a_port_that_is_closed_gives_no_connection(kubectl: Kubectl, pod: str, port: int) -> None:
    closed = 1

    async with kubectl.forward(pod, closed) as local:
        reader, writer = await asyncio.open_connection("127.0.0.1", local)

        assert await reader.read() == b""
        writer.close()
