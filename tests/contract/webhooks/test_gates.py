"""The gates in front of every webhook, with each connection of the process watched by an audit hook."""

from __future__ import annotations

import asyncio
import errno
import socket
import sys
from collections.abc import Iterator
from contextlib import AsyncExitStack, suppress
from typing import Any

import aiohttp
import pytest
from aiohttp.abc import ResolveResult

from shared.core.notify.webhook_url import UrlPolicy
from tests.contract.webhooks.webhook_world import (
    BODY,
    CANARY,
    LOCAL,
    NOW,
    PUBLIC,
    SECRET,
    Names,
    post,
    receiver,
    reply,
    sender,
)
from tests.unit.core.notify.webhook_addresses import INNER_NAMES, LITERALS

# The oracle. An audit hook cannot be removed, so it looks only while a test switches it on. It stops every
# connection that would leave this machine, after noting where it would have gone.
_dialled: list[str] | None = None


def _watch(event: str, arguments: tuple[Any, ...]) -> None:
    if _dialled is not None and event == "socket.connect":
        sock, address = arguments
        if sock.family in {socket.AF_INET, socket.AF_INET6}:
            _dialled.append(address[0])
            if address[0] not in {"127.0.0.1", "::1"}:
                raise OSError(errno.ENETUNREACH, "stopped by the test")


sys.addaudithook(_watch)


@pytest.fixture(autouse=True)
def public_is_meant(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look-ups and connects to public addresses are what is watched here; the hook above stops them."""
    monkeypatch.setenv("DIALLED_PUBLIC", "1")


@pytest.fixture
def dialled() -> Iterator[list[str]]:
    """Where connections went, in order."""
    global _dialled  # noqa: PLW0603 - an audit hook has no other state to look at
    _dialled = []
    yield _dialled
    _dialled = None


# The gates


@pytest.mark.parametrize("url", [f"https://{host}/?{CANARY}" for host in (*LITERALS, *INNER_NAMES)])
async def test_what_the_url_gate_refuses_is_never_dialled(url: str, dialled: list[str]) -> None:
    delivery = await post(url, policy=UrlPolicy())

    assert (delivery.outcome, delivery.status) == ("refused", None)
    assert CANARY not in delivery.detail
    assert dialled == []


@pytest.mark.parametrize("host", LITERALS)
@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_without_the_url_gate_no_address_literal_is_dialled_either(
    scheme: str, host: str, dialled: list[str]
) -> None:
    async with sender(UrlPolicy(), connect_seconds=2) as one:
        session = one._session(loopback=False)
        with suppress(aiohttp.ClientError, OSError, ValueError):
            async with session.get(f"{scheme}://{host}/", allow_redirects=False):
                pass

    assert set(dialled) <= {"8.8.8.8", "2606:4700:4700::1111"}  # the two public ones of the table


@pytest.mark.parametrize(
    "answer",
    [
        ["127.0.0.1"], ["::1"], ["10.0.0.5"], ["169.254.169.254"], ["168.63.129.16"], ["100.64.0.1"],
        ["224.0.0.1"], ["0.0.0.0"], ["::ffff:127.0.0.1"], ["64:ff9b::7f00:1"], ["2002:7f00:1::"],
        ["fd00:ec2::254"], ["fe80::1%lo"], ["2600::5efe:a00:1"], ["not-an-address"], [PUBLIC, "10.0.0.5"],
        ["10.0.0.5", PUBLIC], [PUBLIC, "::1"], ["2606:4700:4700::1111", "fc00::1"],
    ],
)  # fmt: skip
@pytest.mark.parametrize("policy", [UrlPolicy(), LOCAL])
async def test_a_name_with_any_inner_address_is_not_dialled_and_is_tried_again(
    answer: list[str], policy: UrlPolicy, dialled: list[str]
) -> None:
    delivery = await post("https://hooks.example.com/x", policy=policy, resolver=Names(answer))

    assert (delivery.outcome, delivery.status) == ("retry", None)
    assert not any(address in delivery.detail for address in answer)
    assert dialled == []


async def test_a_name_is_looked_up_once_and_its_checked_address_is_dialled(dialled: list[str]) -> None:
    names = Names([PUBLIC], ["127.0.0.1"])
    async with sender(UrlPolicy(), resolver=names) as one:
        first = await one.post("https://rebind.example.com/", "evt_abc", BODY, [SECRET], NOW)
        observation = list(dialled)
        second = await one.post("https://rebind.example.com/", "evt_abc", BODY, [SECRET], NOW)

    assert (first.outcome, observation) == ("retry", [PUBLIC])
    assert (second.outcome, dialled) == ("retry", [PUBLIC])
    assert second.detail.startswith("not sent: its name leads to an address that is not public")
    assert names.hosts == ["rebind.example.com"] * 2  # nothing is cached


async def test_all_public_addresses_of_a_name_are_tried(dialled: list[str]) -> None:
    names = Names([PUBLIC, "2606:4700:4700::1111"])

    delivery = await post("https://hooks.example.com/", policy=UrlPolicy(), resolver=names)

    assert delivery.outcome == "retry"
    assert set(dialled) == {PUBLIC, "2606:4700:4700::1111"}


async def test_a_name_without_an_address_is_tried_again_later(dialled: list[str]) -> None:
    delivery = await post("https://hooks.example.com/", policy=UrlPolicy(), resolver=Names([]))

    assert (delivery.outcome, delivery.status, dialled) == ("retry", None, [])


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_to_an_inner_address_is_not_followed(status: int, dialled: list[str]) -> None:
    async with receiver(reply()) as trap, AsyncExitStack() as stack:
        for target in (trap.url, "http://169.254.169.254/metadata", "http://localhost:1/"):
            remote = await stack.enter_async_context(receiver(reply(status, f"Location: {target}\r\n")))
            assert (await post(remote.url)).outcome == "retry"

    assert trap.connections == 0
    assert dialled == ["127.0.0.1"] * 3


async def test_proxies_in_the_environment_are_not_used(
    monkeypatch: pytest.MonkeyPatch, dialled: list[str]
) -> None:
    async with receiver(reply()) as trap, receiver(reply()) as remote:
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{trap.port}")
            monkeypatch.setenv(name.lower(), f"http://127.0.0.1:{trap.port}")
        delivered = await post(remote.url)
        outside = await post("https://hooks.example.com/", policy=UrlPolicy(), resolver=Names([PUBLIC]))

    assert (delivered.outcome, outside.outcome) == ("delivered", "retry")
    assert trap.connections == 0
    assert dialled == ["127.0.0.1", PUBLIC]


async def test_a_name_server_that_hangs_is_stopped_by_the_connect_timeout(dialled: list[str]) -> None:
    class Hanging(Names):
        async def resolve(
            self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
        ) -> list[ResolveResult]:
            await asyncio.sleep(3600)
            return []

    delivery = await post(
        "https://hooks.example.com/",
        policy=UrlPolicy(),
        resolver=Hanging([]),
        connect_seconds=0.1,
        total_seconds=3600,
    )

    assert (delivery.outcome, delivery.detail) == ("retry", "no connection to it was made in time")
    assert dialled == []


async def test_a_bad_secret_is_the_callers_mistake_and_nothing_is_sent(dialled: list[str]) -> None:
    async with sender() as one:
        with pytest.raises(ValueError, match="openssl"):
            await one.post("http://127.0.0.1:1/", "evt_abc", BODY, ["whsec_short"], NOW)

    assert dialled == []


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]"])
async def test_without_the_url_gate_this_machine_is_not_dialled_where_the_policy_does_not_allow_it(
    host: str, dialled: list[str]
) -> None:
    async with sender(UrlPolicy(), connect_seconds=2) as one:
        with suppress(aiohttp.ClientError, OSError):
            await one._answer(f"http://{host}:9/", b"", {})

    assert dialled == []
