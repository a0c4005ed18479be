"""Commands reach a deployment by the proxy of the environment, and this machine by none."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from aiohttp import web

from shared.answers.mark import MARK, MARKED
from shared.settings import Settings
from slipway.client.deployment import proxy_for
from slipway.client.drops.folder import has_container
from slipway.client.service import service
from slipway.failure import Failure


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


def test_a_proxy_is_chosen_by_the_scheme_and_not_for_hosts_that_need_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert proxy_for("https://app.example") is None
    monkeypatch.setenv("https_proxy", "proxy.example:3128")
    monkeypatch.setenv("no_proxy", "inside.example")

    assert proxy_for("https://app.example") == "http://proxy.example:3128"
    assert [
        proxy_for(f"https://{host}") for host in ("inside.example", "127.0.0.1", "localhost", "[::1")
    ] == [None] * 4
    assert proxy_for("http://app.example") is None


@pytest_asyncio.fixture
async def proxy() -> AsyncIterator[str]:
    """A proxy that answers in the place of the app."""

    async def answer(request: web.Request) -> web.Response:
        return web.json_response({"jobs": [], "asked": str(request.url)}, headers={MARK: MARKED})

    runner = web.ServerRunner(web.Server(answer))  # type: ignore[arg-type]
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    await runner.cleanup()


async def test_a_request_goes_through_the_proxy(proxy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", proxy)

    async with service("http://app.invalid", "key") as api:
        assert (await api.jobs()).jobs == []


async def test_no_proxy_leads_to_the_storage_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    async def nothing(_: web.BaseRequest) -> web.Response:
        return web.Response(status=404, headers={"x-ms-error-code": "ContainerNotFound"})

    runner = web.ServerRunner(web.Server(nothing))
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    storage = f"http://127.0.0.1:{runner.addresses[0][1]}/account"
    monkeypatch.setenv("http_proxy", "http://proxy.invalid:3128")
    settings = {"SLIPWAY_STORAGE": f"AccountName=account;AccountKey=a2V5;BlobEndpoint={storage}"}

    try:
        assert not await has_container(Settings(settings), "scripts")
    finally:
        await runner.cleanup()


async def test_a_proxy_that_does_not_answer_is_blamed(monkeypatch: pytest.MonkeyPatch) -> None:
    server = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    server.close()
    await server.wait_closed()
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{port}")

    async with service("http://app.invalid", "key") as api:
        with pytest.raises(Failure, match="the proxy that HTTPS_PROXY or HTTP_PROXY names does not answer"):
            await api.jobs()
