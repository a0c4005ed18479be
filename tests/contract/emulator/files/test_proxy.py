"""The account's names in Azure, by the emulator's proxy: storage SDKs with nothing but account and key."""

import asyncio
import json
import os
import ssl
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from local.azurite import ACCOUNT, KEY
from tests.contract.emulator.conftest import Lab

#: All four services, through requests, which reads its proxy and its certificates from the environment.
_CLIENTS = str(Path(__file__).with_name("storage_clients.py"))


def proxy(lab: Lab) -> int:
    return int(json.loads((lab.emulator.data / "https.json").read_text())["proxy"])


async def connect(lab: Lab, request: bytes) -> bytes:
    """What the proxy says first; nothing if it breaks off."""
    reader, writer = await asyncio.open_connection("127.0.0.1", proxy(lab))
    writer.write(request)
    output = b""
    with suppress(ConnectionError):
        output = await reader.read(1 << 16)
    writer.close()
    return output


async def test_the_storage_clients_need_no_more_than_the_account_and_its_key(
    lab: Lab,
) -> None:
    env = {
        "PATH": os.environ["PATH"],
        "HTTPS_PROXY": f"http://127.0.0.1:{proxy(lab)}",
        "NO_PROXY": "127.0.0.1,localhost",
        "REQUESTS_CA_BUNDLE": str(lab.emulator.data / "certificate.pem"),
    }

    process = await asyncio.create_subprocess_exec(
        sys.executable,
        _CLIENTS,
        ACCOUNT,
        KEY,
        env=env,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await process.communicate()

    assert (process.returncode, out) == (0, b"done\n"), err.decode()


@pytest.mark.parametrize(
    "target",
    [
        "management.azure.com:443",
        "another.blob.core.windows.net:443",
        f"{ACCOUNT}.blob.core.windows.net.example.com:443",
        f"{ACCOUNT}.dfs.core.windows.net:443",
        f"{ACCOUNT}.blob.core.windows.net:80",
        "127.0.0.1:22",
        "x" * 300,
    ],
)
async def test_nothing_else_is_reached(lab: Lab, target: str) -> None:
    output = await connect(lab, f"CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n\r\n".encode())

    assert output.startswith(b"HTTP/1.1 403 only devstoreaccount1.*.core.windows.net is served here")


@pytest.mark.parametrize(
    "request_line",
    [b"GET http://example.com/ HTTP/1.1", b"POST / HTTP/1.1", b"\x16\x03\x01\x02\x00", b"CONNECT"],
)
async def test_it_forwards_no_plain_request(lab: Lab, request_line: bytes) -> None:
    assert (await connect(lab, request_line + b"\r\n\r\n")).startswith(b"HTTP/1.1 403 ")


async def test_a_head_without_end_is_broken_off(lab: Lab) -> None:
    assert await connect(lab, b"CONNECT " + b"x" * (1 << 18)) == b""


async def test_the_name_of_the_account_is_certified_and_no_other(lab: Lab) -> None:
    context = ssl.create_default_context(cafile=str(lab.emulator.data / "certificate.pem"))
    name = f"{ACCOUNT}.blob.core.windows.net"
    for host, trusted in ((name, True), ("another.blob.core.windows.net", False)):
        reader, writer = await asyncio.open_connection("127.0.0.1", proxy(lab))
        writer.write(f"CONNECT {name}:443 HTTP/1.1\r\n\r\n".encode())
        await reader.readuntil(b"\r\n\r\n")
        if trusted:
            await writer.start_tls(context, server_hostname=host)
        else:
            with pytest.raises(ssl.SSLCertVerificationError):
                await writer.start_tls(context, server_hostname=host)
        writer.close()
