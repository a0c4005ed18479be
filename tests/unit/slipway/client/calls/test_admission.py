"""Each reason for which a deployment does not know its caller is said, with its own remedy."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from aiohttp import web

from functions.problem import problem
from shared.adapters import entra
from shared.adapters.named_keys import named_keys
from shared.core.errors import Misuse
from slipway.client.calls.refusal import too_large
from slipway.client.service import service
from slipway.failure import Failure
from tests.doubles.server import answering

KEY, TOKEN = "k" * 40, "eyJhbGciOiJub25lIn0.eyJzdWIiOiJ4In0.c2ln"
Page = Callable[[web.Request], web.Response]


def of_app(detail: str, challenge: str) -> Page:
    refused = problem(401, detail, "a remedy for programs")
    headers = {**refused.headers, "WWW-Authenticate": challenge}
    kind = "application/problem+json"
    body = refused.get_body()
    return lambda _: web.Response(status=401, body=body, content_type=kind, headers=headers)


def of_host(_: web.Request) -> web.Response:
    return web.Response(status=401)


def of_gateway(_: web.Request) -> web.Response:
    return web.Response(status=401, text="<h1>Sign in</h1>", content_type="text/html")


async def refusal(page: Page, key: str) -> str:
    async def answer(request: web.Request) -> web.Response:
        return page(request)

    async with answering(answer) as url, service(url, key) as api:
        with pytest.raises(Failure) as failure:
            await api.jobs()
        return str(failure.value).replace(url, "URL")


@pytest.mark.parametrize(
    ("key", "reason", "remedy"),
    [
        ("", "a function key is needed;", "ask its operator for one; give it with --key"),
        (KEY, "URL does not know the function key;", "copy it again from its operator, or from App keys"),
        (TOKEN, "a function key is needed, and an access token was sent;", "ask its operator for one"),
    ],
)
async def test_the_host_refuses_a_key_without_a_word_and_the_command_says_it(
    key: str, reason: str, remedy: str
) -> None:
    shown = await refusal(of_host, key)

    assert shown.startswith(f"refused (401): {reason}")
    assert remedy in shown
    assert shown.endswith("`slipway login URL`")
    assert not key or key not in shown


@pytest.mark.parametrize(
    "why", [*entra._WHY.values(), "its key is not one of the tenant's", "it is too long"]
)
async def test_every_reason_for_which_a_token_is_refused_is_said(why: str) -> None:
    shown = await refusal(of_app(str(entra._refused(why)), "Bearer"), TOKEN)

    assert shown.startswith(f"refused (401): the access token is refused: {why}; get a new one")
    assert "az account get-access-token" in shown
    assert "`slipway login URL --scope api://APP/.default`" in shown
    assert "programs" not in shown


@pytest.mark.parametrize(("key", "mistaken"), [("", ""), (KEY, ", and a function key was sent")])
async def test_a_deployment_that_takes_tokens_says_so(key: str, mistaken: str) -> None:
    shown = await refusal(of_app("an access token is needed", "Bearer"), key)

    assert shown.startswith(f"refused (401): an access token is needed{mistaken}; get one (`az account")


@pytest.mark.parametrize(("key", "mistaken"), [("", ""), (TOKEN, ", and an access token was sent")])
async def test_a_deployment_that_knows_its_callers_by_keys_says_so(key: str, mistaken: str) -> None:
    with pytest.raises(Misuse) as misuse:
        named_keys({}).holder("")
    shown = await refusal(of_app(str(misuse.value), "FunctionKey"), key)

    assert shown.startswith(f"refused (401): {misuse.value}{mistaken}; ask its operator for one; give it")


async def test_a_page_that_is_not_of_the_app_is_not_taken_for_a_wrong_key() -> None:
    shown = await refusal(of_gateway, KEY)

    assert shown == (
        "URL answered 401, but not as Slipway does: a gateway, or the platform's own sign-in, asks for "
        "credentials; ask its operator"
    )
    assert "function key" not in shown


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (413, "what was sent is too large for 127.0.0.1 (413): 2,000 bytes; move data out of the document"),
        (414, "the address is too long for 127.0.0.1 (414): ask for less in one call, or by shorter names"),
        (431, "the headers of the request are too large for 127.0.0.1 (431), which takes about 32 KiB;"),
    ],
)
async def test_what_is_too_large_for_the_host_is_named(status: int, expected: str) -> None:
    """The host's own answers are empty."""

    async def answer(request: web.Request) -> web.Response:
        await request.read()
        return web.Response(status=status)

    async with answering(answer) as url, service(url) as api:
        with pytest.raises(Failure) as failure:
            await api.put_teams(bytes(2000), "")

    assert str(failure.value).startswith(expected)


def test_the_host_answers_a_body_over_its_limit_as_if_the_app_had_failed() -> None:
    def refused(count: int) -> str:
        request = SimpleNamespace(headers={"Content-Length": str(count)})
        answer: Any = SimpleNamespace(status=500, url="http://x", host="x", request_info=request)
        return too_large(answer)

    assert refused((100 << 20) + 1) == (
        "what was sent is too large for x (500): 104,857,601 bytes; the Functions host takes 104,857,600 in "
        "one request; move data out of the document (`slipway data put`)"
    )
    assert refused(100 << 20) == ""
