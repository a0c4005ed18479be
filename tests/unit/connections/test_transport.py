"""What the clients of Azure's SDKs send goes over our connections, and gets its own answer."""

from __future__ import annotations

from pathlib import Path

import pytest
from aiohttp import web
from azure.core.exceptions import ServiceResponseError
from azure.core.rest import HttpRequest

from shared.connections.connector import Connector
from shared.connections.transport import Transport
from tests.doubles.server import answering

ID = "x-ms-client-request-id"


async def test_a_client_of_an_sdk_connects_as_every_session_does() -> None:
    async def answer(request: web.Request) -> web.Response:
        return web.Response(text="yes", headers={ID: request.headers[ID]})

    transport = Transport()
    async with answering(answer) as url, transport:
        answered = await transport.send(HttpRequest("GET", url, headers={ID: "mine"}))
        assert answered.text() == "yes"
        assert transport.session is not None
        assert isinstance(transport.session.connector, Connector)
    with pytest.raises(ValueError, match="already been closed"):
        await transport.send(HttpRequest("GET", url))


async def test_an_answer_that_names_another_request_is_none() -> None:
    async def answer(request: web.Request) -> web.Response:
        return web.Response(text="yes", headers={ID: "another's"})

    async with answering(answer) as url, Transport() as transport:
        with pytest.raises(ServiceResponseError):
            await transport.send(HttpRequest("GET", url, headers={ID: "mine"}))
        assert (await transport.send(HttpRequest("GET", url))).status_code == 200


async def test_a_proxy_of_the_environment_is_used_but_where_it_is_told_not_to(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    addresses: list[tuple[str, str | None]] = []

    async def answer(request: web.Request) -> web.Response:
        addresses.append((str(request.url), request.headers.get("Proxy-Authorization")))
        return web.Response()

    async with answering(answer) as url:
        monkeypatch.setenv("http_proxy", url.replace("http://", "http://us:them@"))
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        async with Transport() as through, Transport(use_env_settings=False) as own:
            await through.send(HttpRequest("GET", "http://far.invalid/a"))
            await through.send(HttpRequest("GET", f"{url}/b"))
            await own.send(HttpRequest("GET", f"{url}/c"))

    login = "Basic dXM6dGhlbQ=="
    assert addresses == [("http://far.invalid/a", login), (f"{url}/b", None), (f"{url}/c", None)]


async def test_logins_of_a_netrc_are_for_other_programs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    logins = []

    async def answer(request: web.Request) -> web.Response:
        logins.append(request.headers.get("Authorization"))
        return web.Response()

    netrc = tmp_path / "netrc"
    netrc.write_text("default login someone password secret\n")
    monkeypatch.setenv("NETRC", str(netrc))
    async with answering(answer) as url, Transport() as transport:
        await transport.send(HttpRequest("GET", url, headers={"Authorization": "Bearer own"}))
        await transport.send(HttpRequest("GET", url))

    assert logins == ["Bearer own", None]
