"""The port of a node without a cluster: commands, terminals and connections that an API server passes on."""

from __future__ import annotations

import asyncio
import json
import os
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import aiohttp
import pytest
import pytest_asyncio

from local.kubernetes.api import Api
from local.kubernetes.certificates import Authority
from local.kubernetes.kubelet.pod import Pod
from local.kubernetes.kubelet.port import serve
from local.ports import free_ports
from tests.slow.local.kubernetes.test_container import _namespaces, _until  # noqa: F401 - the former skips
from tests.slow.local.kubernetes.test_first_container import Server
from tests.unit.local.kubernetes.spdy_client import Frames, data, read

STDIN, STDOUT, STDERR, ERROR, RESIZE, CLOSE = 0, 1, 2, 3, 4, 255
V4, V5 = "v4.channel.k8s.io", "v5.channel.k8s.io"
_POD: dict[str, Any] = {
    "metadata": {"name": "p", "namespace": "n", "uid": "u"},
    "spec": {
        "containers": [
            {
                "name": "main",
                "command": ["/bin/sh", "-c", "while :; do sleep 0.1; done"],
                "env": [{"name": "COLOUR", "value": "blue"}],
                "workingDir": "/usr",
            }
        ]
    },
    "status": {"phase": "Pending"},
}


class Node:
    """A node's port, and a client with the certificate of the API server."""

    def __init__(self, port: int, authority: Authority) -> None:
        self.port = port
        self.url = f"https://127.0.0.1:{port}"
        self.tls = ssl.create_default_context(cafile=str(authority.certificate))
        self.tls.load_cert_chain(*authority.client("client", "kube-apiserver"))

    @asynccontextmanager
    async def command(
        self, *argv: str, protocol: str = V5, **query: str
    ) -> AsyncIterator[aiohttp.ClientWebSocketResponse]:
        """A command in the pod, over a WebSocket."""
        parts = [*(("command", one) for one in argv), ("output", "1"), *query.items()]
        async with (
            aiohttp.ClientSession() as session,
            session.ws_connect(
                f"{self.url}/exec/n/p/main", params=parts, protocols=[protocol], ssl=self.tls, max_msg_size=0
            ) as socket,
        ):
            assert socket.protocol == protocol
            yield socket

    async def run(self, *argv: str, **query: str) -> tuple[Mapping[str, Any], bytes, bytes]:
        """What a command without input ends with, and what it wrote."""
        async with self.command(*argv, error="1", **query) as socket:
            texts = await _read(socket)
        return json.loads(texts[ERROR]), texts[STDOUT], texts[STDERR]

    @asynccontextmanager
    async def upgraded(
        self, path: str, protocol: str
    ) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
        """The connection of a request that has become one of SPDY."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port, ssl=self.tls)
        upgrade = "Connection: Upgrade\r\nUpgrade: SPDY/3.1\r\n"
        words = f"Host: node\r\n{upgrade}X-Stream-Protocol-Version: {protocol}\r\n\r\n"
        writer.write(f"POST {path} HTTP/1.1\r\n{words}".encode())
        head = await reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 101 "), head
        assert protocol.encode() in head
        try:
            yield reader, writer
        finally:
            writer.close()


async def _read(socket: aiohttp.ClientWebSocketResponse) -> dict[int, bytes]:
    """All that comes, by its channel."""
    texts = dict.fromkeys((STDOUT, STDERR, ERROR), b"")
    async for message in socket:
        texts[message.data[0]] += message.data[1:]
    return texts


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path / "keys")


@pytest_asyncio.fixture
async def node(tmp_path: Path, authority: Authority) -> AsyncIterator[Node]:
    """A node with one pod that runs."""
    (tmp_path / "pod").mkdir()
    server, (port,) = Server(), free_ports(1)
    pod = Pod(cast("Api", server), _POD, tmp_path / "pod", "127.0.0.1", os.environ["PATH"])
    runner = await serve(
        lambda namespace, name: pod if (namespace, name) == ("n", "p") else None,
        port,
        authority.server("node").certificate,
        authority.certificate,
    )
    await server.until("Running")
    yield Node(port, authority)
    await pod.vanish()
    await runner.cleanup()


async def test_a_command_has_its_exit_code_and_both_streams(node: Node) -> None:
    status, out, error = await node.run("sh", "-c", "echo out; echo err >&2; exit 5")

    assert (out, error) == (b"out\n", b"err\n")
    assert status["details"]["causes"] == [{"reason": "ExitCode", "message": "5"}]


async def test_the_words_of_a_command_may_be_long(node: Node) -> None:
    status, out, _ = await node.run("printf", "%s", "é" * 50_000)

    assert (status["status"], out.decode()) == ("Success", "é" * 50_000)


async def test_a_command_that_is_killed_ends_as_a_shell_says_it(node: Node) -> None:
    status, *_ = await node.run("sh", "-c", "kill -9 $$")

    assert status["details"]["causes"][0]["message"] == "137"


async def test_a_command_is_in_the_container(node: Node) -> None:
    status, out, _ = await node.run("sh", "-c", 'hostname; pwd; echo "$COLOUR"; ls /proc | grep -c "^[0-9]"')

    name, folder, colour, processes = out.decode().split()
    assert (status["status"], name, folder, colour) == ("Success", "p", "/usr", "blue")
    assert int(processes) < 10, "its own processes alone"


@pytest.mark.parametrize("protocol", [V4, V5])
async def test_bytes_pass_unchanged_until_the_client_ends_them(node: Node, protocol: str) -> None:
    content = os.urandom(3_000_000)
    argv = ("cat",) if protocol == V5 else ("head", "-c", "3000000")

    async with node.command(*argv, protocol=protocol, input="1") as socket:
        reading = asyncio.create_task(_read(socket))
        for start in range(0, len(content), 1 << 16):
            await socket.send_bytes(bytes([STDIN]) + content[start : start + (1 << 16)])
        if protocol == V5:
            await socket.send_bytes(bytes([CLOSE, STDIN]))
        texts = await reading

    assert texts[STDOUT] == content
    assert json.loads(texts[ERROR])["status"] == "Success"


async def test_a_terminal_has_the_size_that_the_client_says(node: Node) -> None:
    async with node.command("sh", "-c", "read x; stty size; tty", input="1", tty="1") as socket:
        await socket.send_bytes(bytes([RESIZE]) + b'{"Width":101,"Height":33}')
        await socket.send_bytes(bytes([RESIZE]) + b"no size")
        await socket.send_bytes(bytes([STDIN]) + b"x\n")
        texts = await _read(socket)

    assert b"\n33 101\r\n/dev/pts/" in texts[STDOUT]


async def test_a_client_that_goes_ends_the_input_of_its_command(node: Node, tmp_path: Path) -> None:
    async with node.command("sh", "-c", f"cat; echo over > {tmp_path}/over", input="1") as socket:
        await socket.send_bytes(bytes([STDIN]) + b"x")
        await socket.receive()

    await _until((tmp_path / "over").exists)


@pytest.mark.parametrize(
    ("path", "status"), [("/exec/n/p/other", 500), ("/exec/n/q/main", 404), ("/portForward/n/q", 404)]
)
async def test_what_is_not_there_is_refused(node: Node, path: str, status: int) -> None:
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{node.url}{path}?command=true", ssl=node.tls) as answer,
    ):
        assert answer.status == status
        assert "no such pod" in await answer.text() or "container not found" in await answer.text()


async def test_only_the_api_server_reaches_it(node: Node, authority: Authority) -> None:
    stranger = ssl.create_default_context(cafile=str(authority.certificate))
    async with aiohttp.ClientSession() as session:
        with pytest.raises(aiohttp.ClientError):
            await session.post(f"{node.url}/exec/n/p/main?command=true", ssl=stranger)


async def test_a_command_over_streams_has_the_same(node: Node) -> None:
    frames = Frames()
    names = {1: "error", 3: "stdin", 5: "stdout", 7: "stderr"}
    path = "/exec/n/p/main?command=sh&command=-c&command=cat%3Bexit+4&input=1&output=1&error=1"
    async with node.upgraded(path, V4) as (reader, writer):
        writer.writelines(frames.opens(number, {"streamtype": name}) for number, name in names.items())
        writer.write(data(3, b"hello") + data(3, b"", 1))
        texts = _texts(await reader.read())

    assert texts[5] == b"hello"
    assert json.loads(texts[1])["details"]["causes"][0]["message"] == "4"


async def _echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while text := await reader.read(1 << 16):
        writer.write(text)
    writer.close()


async def test_connections_to_ports_are_pairs_of_streams(node: Node) -> None:
    frames, content = Frames(), os.urandom(1 << 20)
    server = await asyncio.start_server(_echo, "127.0.0.1", 0)
    port = str(server.sockets[0].getsockname()[1])
    async with server, node.upgraded("/portForward/n/p", "portforward.k8s.io") as (reader, writer):
        for first, (number, target) in zip((1, 5), (("0", port), ("1", "1")), strict=True):
            both = {"port": target, "requestid": number}
            writer.write(frames.opens(first, {"streamtype": "error", **both}, 1))
            writer.write(frames.opens(first + 2, {"streamtype": "data", **both}))
        writer.write(data(3, content, 1))
        incoming = bytearray()
        async with asyncio.timeout(60):
            while not {1, 3, 5, 7} <= {number for number, body in _whole(incoming) if not body}:
                incoming += await reader.read(1 << 16)
        texts = _texts(bytes(incoming))

    assert texts[3] == content
    assert texts[1] == b""
    assert texts[5].startswith(b"error forwarding port 1 to pod p")


def _whole(incoming: bytes | bytearray) -> list[tuple[int, bytes]]:
    """The frames that are complete."""
    end = 0
    while len(incoming) >= end + 8 and len(incoming) >= (
        after := end + 8 + (int.from_bytes(incoming[end + 4 : end + 8]) & 0xFFFFFF)
    ):
        end = after
    return list(read(bytes(incoming[:end])))


def _texts(incoming: bytes) -> dict[int, bytes]:
    texts: dict[int, bytes] = {}
    for number, body in read(incoming):
        texts[number] = texts.get(number, b"") + body
    return texts
