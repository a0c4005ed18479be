"""What the clients of Azure's SDKs send goes over our connections, and gets its own answer."""

from __future__ import annotations

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
