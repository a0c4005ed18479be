"""A web page of another site reaches no server of the local stack: each is asked over its socket."""

from __future__ import annotations

import asyncio
import http.client
import json
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import pytest_asyncio
from azure.storage.queue import QueueSasPermissions, generate_queue_sas
from azure.storage.queue.aio import QueueClient

from local.azurite import ACCOUNT, KEY, Azurite, azurite
from local.process import child
from tests.contract.host.world import ANY_RUNTIME, running, storage_of

ROOT = Path(__file__).resolve().parents[2]
FORWARDED = "name-7071.app.example.dev"
ALLOWED = f"--allow-host={FORWARDED}"
SECRET = "whsec_" + "c" * 32
WORKSPACE = (
    "/subscriptions/s/resourceGroups/g/providers/Microsoft.BatchAI/workspaces/w?api-version=2018-05-01"
)

#: One route of each kind that a server has; foreign pages are refused on all, that of nothing included.
ROUTES = {
    "host": (
        ("POST", "/api/echo"), ("GET", "/api/items/7"), ("OPTIONS", "/api/items/7"), ("GET", "/nothing"),
        ("POST", "/admin/functions/tick"), ("GET", "/admin/functions"), ("GET", "/admin/host/status"),
        ("POST", "/admin/host/ping"), ("POST", "/runtime/webhooks/blobs"),
    ),
    "emulator": (
        ("GET", "/subscriptions"), ("POST", "/tenant/oauth2/v2.0/token"), ("GET", "/emulator/nodes"),
        ("POST", "/emulator/nodes/1/preempt"), ("PUT", f"/{ACCOUNT}/share?restype=share"),
        ("GET", "/download/x"), ("GET", "/providers/Microsoft.BatchAI/operations?api-version=2018-05-01"),
        ("PUT", WORKSPACE),
    ),
    "azurebatch": (
        ("GET", "/pools?api-version=2024-07-01.20.0"), ("POST", "/jobs?api-version=2024-07-01.20.0"),
        ("POST", "/emulator/faults"), ("GET", "/emulator/faults"), ("DELETE", "/emulator/faults"),
        ("POST", "/emulator/pools/p/nodes/n/preempt"), ("GET", "/nothing"),
    ),
    "receiver": (("POST", "/hooks/default"), ("GET", "/received"), ("GET", "/nothing")),
    "blobs": (("GET", f"/{ACCOUNT}?comp=list"), ("PUT", f"/{ACCOUNT}/scripts?restype=container")),
    "queues": (("GET", f"/{ACCOUNT}?comp=list"), ("POST", f"/{ACCOUNT}/jobs/messages")),
    "tables": (("GET", f"/{ACCOUNT}/Tables"), ("POST", f"/{ACCOUNT}/Tables")),
}  # fmt: skip
PLACES = [(server, method, path) for server, routes in ROUTES.items() for method, path in routes]

OF_A_FOREIGN_PAGE = (
    {"Host": "evil.example"},
    {"Host": "evil.example:7071", "Origin": "http://evil.example:7071"},
    {"Host": "127.0.0.1.evil.example"},
    {"Host": "localhost.evil.example"},
    {"Host": "0.0.0.0"},
    {"Host": "10.0.0.1"},
    {"Host": "localhost@evil.example"},
    {"Host": ""},
    {"Origin": "https://evil.example"},
    {"Origin": "https://127.0.0.1.evil.example"},
    {"Origin": "null"},
    {"Origin": "file://"},
    {"Origin": "chrome-extension://localhost"},
    {"Origin": "http://localhost@evil.example"},
    {"Origin": ""},
    {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"},
)
OF_OURS: tuple[dict[str, str], ...] = (
    {},
    {"Host": "localhost"},
    {"Host": "LOCALHOST.:80"},
    {"Host": "127.8.9.1:1"},
    {"Host": "[::1]:7071"},
    {"Host": "app.localhost:7071"},
    {"Host": FORWARDED, "Origin": f"https://{FORWARDED}", "Sec-Fetch-Site": "same-origin"},
    {"Host": f"{FORWARDED}:443"},
    {"Origin": "http://localhost:3000", "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "cors"},
    {"Origin": "https://[::1]"},
    {"Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate"},
)


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def servers(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[dict[str, str]]:
    """The address of each server."""
    async with AsyncExitStack() as stack:
        account = await stack.enter_async_context(azurite(allowed_hosts=(FORWARDED,)))
        storage = await stack.enter_async_context(storage_of(account))
        host = await stack.enter_async_context(running(ANY_RUNTIME, storage, arguments=[ALLOWED]))
        data = tmp_path_factory.mktemp("batchai")
        yield {
            "host": host.url,
            "emulator": await started(
                stack, "local.batchai", f"--data={data}",
                f"--storage-connection-string={account.connection_string}", ALLOWED,
            ),
            "azurebatch": await started(
                stack, "local.azurebatch", f"--data={tmp_path_factory.mktemp('azurebatch')}", ALLOWED
            ),
            "receiver": await started(stack, "local.receiver", "--secret-env=HOOK_SECRET", ALLOWED),
            "blobs": account.blob_url,
            "queues": account.queue_url,
            "tables": account.table_url,
        }  # fmt: skip


async def started(stack: AsyncExitStack, module: str, *arguments: str) -> str:
    env = {"HOOK_SECRET": SECRET, "PATH": "/usr/bin:/bin"}
    argv = [sys.executable, "-m", module, "--port=0", "--until-stdin-closes", *arguments]
    process = await stack.enter_async_context(child(argv, name=module, env=env, cwd=ROOT))
    return (await process.line(r"^ready (http://\S+)"))[1]


def ask(
    url: str, method: str, path: str, headers: Mapping[str, str], body: bytes = b""
) -> tuple[int, bytes, str]:
    """Status, body and content type; these headers, and a Host and a length only if none is among them."""
    where = urlsplit(url).netloc
    connection = http.client.HTTPConnection(where, timeout=30)
    try:
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        for name, value in {"Host": where, "Content-Length": str(len(body)), **headers}.items():
            connection.putheader(name, value)
        connection.endheaders(body)
        answer = connection.getresponse()
        return answer.status, answer.read(), answer.getheader("Content-Type") or ""
    finally:
        connection.close()


@pytest.mark.asyncio(loop_scope="session")
@pytest.mark.parametrize(("server", "method", "path"), PLACES)
async def test_a_foreign_page_is_refused_on_every_route_and_hears_why(
    servers: dict[str, str], server: str, method: str, path: str
) -> None:
    for headers in OF_A_FOREIGN_PAGE:
        status, body, kind = await asyncio.to_thread(ask, servers[server], method, path, headers)

        assert status == 403, headers
        document = json.loads(body)
        if server == "emulator":
            assert document["error"]["code"] in ("HostNotAllowed", "OriginNotAllowed"), headers
            assert "--allow-host" in document["error"]["message"]
        elif server == "azurebatch":
            assert document["code"] == "Forbidden", headers
            assert "--allow-host" in document["message"]["value"]
        else:
            assert kind.startswith("application/problem+json")
            assert (document["status"], "--allow-host" in document["remedy"]) == (403, True)


@pytest.mark.asyncio(loop_scope="session")
@pytest.mark.parametrize(("server", "method", "path"), PLACES)
async def test_programs_and_pages_of_this_machine_and_of_allowed_names_are_answered(
    servers: dict[str, str], server: str, method: str, path: str
) -> None:
    for headers in OF_OURS:
        _, body, _ = await asyncio.to_thread(ask, servers[server], method, path, headers)

        assert b"--allow-host" not in body, headers


@pytest.mark.asyncio(loop_scope="session")
async def test_a_link_on_a_page_opens_what_can_only_be_read(servers: dict[str, str]) -> None:
    followed = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}

    assert (await asyncio.to_thread(ask, servers["host"], "GET", "/api/items/7", followed))[0] == 200
    assert (await asyncio.to_thread(ask, servers["host"], "POST", "/api/echo", followed))[0] == 403


@pytest.mark.asyncio(loop_scope="session")
async def test_a_page_that_knows_the_key_of_the_local_storage_puts_no_job_into_a_queue() -> None:
    async with azurite() as account:
        queue = QueueClient.from_connection_string(account.connection_string, "jobs")
        async with queue:
            await queue.create_queue()
            await asyncio.to_thread(_write_from_a_page, account)

            assert await queue.peek_messages() == []


def _write_from_a_page(account: Azurite) -> None:
    """A "simple" request of the Fetch standard, which no browser asks the server about beforehand."""
    sas = generate_queue_sas(
        ACCOUNT, "jobs", KEY, QueueSasPermissions(add=True), datetime.now(UTC) + timedelta(hours=1)
    )
    body = b"<QueueMessage><MessageText>e30=</MessageText></QueueMessage>"
    headers = {"Origin": "https://evil.example", "Content-Type": "text/plain"}

    status, _, _ = ask(account.queue_url, "POST", f"/{ACCOUNT}/jobs/messages?{sas}", headers, body)

    assert status == 403


@pytest.mark.asyncio(loop_scope="session")
@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded; a=b", "Multipart/Form-Data"]
)
async def test_a_body_that_a_form_could_have_sent_is_not_taken_by_the_emulator(
    servers: dict[str, str], kind: str
) -> None:
    body = b'{"location": "eastus"}'

    refused = await asyncio.to_thread(
        ask, servers["emulator"], "PUT", WORKSPACE, {"Content-Type": kind}, body
    )
    times = await asyncio.to_thread(ask, servers["emulator"], "PUT", WORKSPACE, {}, body)

    assert (refused[0], json.loads(refused[1])["error"]["code"]) == (415, "UnsupportedMediaType")
    assert "application/json" in json.loads(refused[1])["error"]["message"]
    assert json.loads(times[1])["error"]["code"] == "ResourceGroupNotFound", "it was looked into"
