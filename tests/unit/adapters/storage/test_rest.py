"""Requests to storage: signed as documented, repeated when that says nothing, and only so often."""

from __future__ import annotations

import pytest
from aiohttp import web

from shared.adapters.storage.wire.connection import Account, Connection
from shared.adapters.storage.wire.rest import OTHERS, Answer, Connections, NoAnswer, Request, Rest
from shared.adapters.storage.wire.sign import SharedKey
from shared.core.errors import Misconfigured, Misuse, Unavailable
from tests.doubles.server import answering

KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="


class Service:
    """Gives the answers of a test, in turn."""

    def __init__(self, *answers: Answer | NoAnswer) -> None:
        self.answers = list(answers)
        self.requests: list[Request] = []

    async def send(self, request: Request) -> Answer:
        self.requests.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, NoAnswer):
            raise answer
        return answer

    def rest(self) -> Rest:
        return Rest("http://h/acct", SharedKey("acct", KEY), self.send, version=OTHERS, backoff=0)


def says(status: int, **headers: str) -> Answer:
    own = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer(status, {"x-ms-request-id": "r"} | own, b"")


@pytest.mark.parametrize("trouble", [says(429), says(503, retry_after="0"), says(500), NoAnswer("reset")])
async def test_what_says_nothing_about_the_request_is_tried_again(trouble: Answer | NoAnswer) -> None:
    service = Service(trouble, trouble, says(201))
    assert (await service.rest().call("PUT", "/q")).status == 201
    assert len(service.requests) == 3


async def test_it_gives_up_after_five_tries() -> None:
    service = Service(*[says(503)] * 9)
    with pytest.raises(Unavailable, match="503"):
        await service.rest().call("PUT", "/q")
    assert len(service.requests) == 5


async def test_a_service_that_asks_for_too_much_patience_is_left_to_the_next_trigger() -> None:
    service = Service(says(503, retry_after="60"))
    with pytest.raises(Unavailable):
        await service.rest().call("PUT", "/q")
    assert len(service.requests) == 1


async def test_an_answer_about_the_request_is_reported_at_once() -> None:
    service = Service(says(403, x_ms_error_code="AuthenticationFailed"), says(404), says(413))
    with pytest.raises(Unavailable, match="403 AuthenticationFailed"):
        await service.rest().call("PUT", "/q")
    assert (await service.rest().call("PUT", "/q", expected=(404,))).status == 404
    with pytest.raises(Misuse):
        await service.rest().call("PUT", "/q")


#: What a proxy, a gateway or a portal answers in the place of storage.
PAGES = [
    Answer(status, {"server": "nginx", "content-type": kind}, b"<html>Access denied</html>")
    for status in (200, 302, 403, 404, 409, 412, 413, 502)
    for kind in ("text/html", "text/plain", "application/json")
]


@pytest.mark.parametrize("page", PAGES, ids=lambda one: f"{one.status} {one.headers['content-type']}")
async def test_a_page_of_something_else_is_no_answer_of_storage(page: Answer) -> None:
    service = Service(page, page, says(201))
    assert (await service.rest().call("PUT", "/q", expected=(404, 409, 412))).body == b""

    service = Service(*[page] * 9)
    with pytest.raises(Unavailable, match=f"^something between here and storage answered {page.status}$"):
        await service.rest().call("PUT", "/q", expected=(404, 409, 412))
    assert len(service.requests) == 5


@pytest.mark.parametrize(
    "header",
    [
        *(("x-ms-error-code", "X"), ("x-ms-version", "2021-12-02"), ("server", "Microsoft-HTTPAPI/2.0")),
        *(("server", "Azurite-Table/3.35.0"), ("server", "Windows-Azure-Table/1.0 Microsoft-HTTPAPI/2.0")),
    ],
    ids="-".join,
)
async def test_an_answer_of_storage_has_one_of_its_headers(header: tuple[str, str]) -> None:
    service = Service(Answer(404, dict([header]), b""))
    assert (await service.rest().call("GET", "/q", expected=(404,))).status == 404


async def test_the_key_itself_travels_nowhere() -> None:
    service = Service(says(201))
    await service.rest().call("PUT", "/q", {"a": "b c"}, body=b"text")
    (request,) = service.requests
    assert request.url == "http://h/acct/q?a=b%20c"
    assert KEY not in str(request)
    assert request.headers["Authorization"].startswith("SharedKey acct:")


async def test_the_signature_is_the_documented_one() -> None:
    headers = {"x-ms-date": "Sun, 11 Oct 2026 19:52:39 GMT", "x-ms-version": "2021-12-02"}
    result = await SharedKey("acct", KEY).authorization(
        "GET", "/acct/q/messages", {"b": "2"}, headers, table=False
    )
    # Computed with openssl over the string of the documentation's example for these fields.
    assert result == "SharedKey acct:rkt3ATBm/OCk3a2nJD2nwdhvqMncrxkVghNNdEjecr4="


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("AccountName=a;AccountKey=aw==;EndpointSuffix=core.windows.net", "https://a.queue.core.windows.net"),
        ("AccountName=a;AccountKey=aw==;QueueEndpoint=http://127.0.0.1:1/a/;", "http://127.0.0.1:1/a"),
    ],
)
def test_addresses_come_from_the_connection_string(text: str, address: str) -> None:
    assert Account(Connection(text)).queues.base == address


def test_a_connection_string_without_a_key_is_a_clear_error() -> None:
    with pytest.raises(Misconfigured, match="AccountKey"):
        Account(Connection("BlobEndpoint=https://a.blob.core.windows.net;SharedAccessSignature=sv=x"))


async def test_an_answer_to_another_request_is_none_and_its_connection_is_closed() -> None:
    names: list[str] = []
    ways = set()

    async def answer(request: web.Request) -> web.Response:
        names.append(request.headers["x-ms-client-request-id"])
        ways.add(request.transport)
        return web.Response(text=names[-1], headers={"x-ms-client-request-id": names[0]})

    connections = Connections()
    async with answering(answer) as url:
        rest = Rest(url, SharedKey("acct", KEY), connections.send, version=OTHERS, backoff=0)
        assert (await rest.call("GET", "/q")).body.decode() == names[0]
        with pytest.raises(Unavailable, match="what it sent answers another request"):
            await rest.call("GET", "/q")
        await connections.close()
    assert len(names) == 6
    assert len(ways) == 5  # the first connection served two requests
