"""The webhook sender against real sockets: what arrives, what answers mean, and receivers that misbehave."""

from __future__ import annotations

import asyncio
import gzip
import logging
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from standardwebhooks.webhooks import Webhook

from tests.contract.webhooks.webhook_world import (
    BODY,
    CANARY,
    NOW,
    SECRET,
    Answer,
    hang,
    post,
    receiver,
    reply,
    sender,
)

# What arrives


async def test_the_receiver_gets_the_very_bytes_with_a_signature_that_verifies() -> None:
    async with receiver(reply(200, body=b"thanks")) as remote:
        delivery = await post(remote.url + "/%7Ea%2Fb;c/../d?token=x%20%41&z")

    assert (delivery.outcome, delivery.status, delivery.detail) == ("delivered", 200, "2xx")
    assert remote.bodies == [BODY]
    assert Webhook(SECRET).verify(remote.bodies[0], remote.headers())["id"] == "evt_abc"
    assert remote.heads[0].startswith("POST /hook/%7Ea%2Fb;c/../d?token=x%20%41&z HTTP/1.1\r\n")
    assert remote.headers()["host"] == f"127.0.0.1:{remote.port}"
    assert remote.headers()["content-type"] == "application/cloudevents+json; charset=utf-8"
    assert remote.headers()["accept-encoding"] == "identity"
    assert not {"cookie", "authorization", "proxy-authorization"} & remote.headers().keys()


async def test_a_second_try_has_the_same_id_and_bytes_and_a_time_of_its_own() -> None:
    first = datetime(2026, 11, 20, 12, tzinfo=UTC)
    async with receiver(reply(503)) as remote, sender() as one:
        for minutes in (0, 5):
            await one.post(remote.url, "evt_abc", BODY, [SECRET], first + timedelta(minutes=minutes))

    assert remote.bodies == [BODY, BODY]
    assert [remote.headers(n)["webhook-id"] for n in (0, 1)] == ["evt_abc", "evt_abc"]
    times = [int(remote.headers(n)["webhook-timestamp"]) for n in (0, 1)]
    assert times == [int(first.timestamp()), int(first.timestamp()) + 300]


async def test_a_connection_is_kept_for_the_same_address_only_and_no_cookie_is() -> None:
    answer = reply(204, "Set-Cookie: a=b; Path=/\r\nConnection: keep-alive\r\n")
    async with receiver(answer, keeps=True) as remote, sender() as one:
        url = remote.url.replace("127.0.0.1", "localhost")  # cookie jars take no cookie from a bare address
        for address, connections in ((url, 1), (url, 1), (url + "?other", 2), (url + "/other", 3), (url, 3)):
            await one.post(address, "evt_abc", BODY, [SECRET], datetime.now(UTC))
            assert remote.connections == connections

    assert len(remote.bodies) == 5
    assert "cookie" not in remote.headers()


async def test_a_kept_connection_that_is_gone_costs_no_try() -> None:
    async with receiver(reply(204, "Connection: keep-alive\r\n")) as remote, sender() as one:
        output = [await one.post(remote.url, "evt_abc", BODY, [SECRET], datetime.now(UTC)) for _ in range(3)]

    assert [posted.outcome for posted in output] == ["delivered"] * 3
    assert remote.bodies == [BODY] * 3


async def test_a_connection_whose_answer_was_not_read_to_its_end_is_not_used_again() -> None:
    async def half(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nHTTP/1.1 410 Gone\r\n")

    async with receiver(half, keeps=True) as remote, sender() as one:
        output = [await one.post(remote.url, "evt_abc", BODY, [SECRET], datetime.now(UTC)) for _ in range(2)]

    assert [posted.outcome for posted in output] == ["delivered"] * 2
    assert remote.connections == 2


async def test_capital_letters_in_scheme_and_host_make_no_difference() -> None:
    async with receiver(reply()) as remote:
        delivery = await post(remote.url.replace("http://127.0.0.1", "HTTP://LocalHost"))

    assert delivery.outcome == "delivered"


async def test_a_closed_sender_opens_again() -> None:
    async with receiver(reply()) as remote, sender() as one:
        await one.close()
        await one.post(remote.url, "evt_abc", BODY, [SECRET], datetime.now(UTC))
        await one.close()
        delivery = await one.post(remote.url, "evt_abc", BODY, [SECRET], datetime.now(UTC))

    assert delivery.outcome == "delivered"


# What the answer means


@pytest.mark.parametrize("status", [200, 201, 202, 204, 299])
async def test_any_2xx_is_success(status: int) -> None:
    async with receiver(reply(status)) as remote:
        delivery = await post(remote.url)

    assert (delivery.outcome, delivery.status) == ("delivered", status)


@pytest.mark.parametrize(
    "status", [300, 301, 302, 303, 307, 308, 400, 401, 403, 404, 415, 429, 500, 502, 503, 504, 599]
)
async def test_everything_else_is_tried_again(status: int) -> None:
    async with receiver(reply(status, "Location: /elsewhere\r\n", body=b"secret of the receiver")) as remote:
        delivery = await post(remote.url)

    assert (delivery.outcome, delivery.status, delivery.detail) == ("retry", status, f"{status // 100}xx")
    assert remote.connections == 1


async def test_410_ends_the_subscription() -> None:
    async with receiver(reply(410, "Retry-After: 5\r\n")) as remote:
        delivery = await post(remote.url)

    assert (delivery.outcome, delivery.status, delivery.retry_after) == ("gone", 410, None)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("", None),
        ("Retry-After: 120\r\n", 120),
        (f"Retry-After: {format_datetime(NOW + timedelta(seconds=90), usegmt=True)}\r\n", 90),
        ("Retry-After: 99999999\r\n", 86400),
        ("Retry-After: whenever\r\n", None),
    ],
)
async def test_the_receiver_may_ask_for_a_pause_in_both_forms(header: str, seconds: float | None) -> None:
    async with receiver(reply(429, header)) as remote, sender() as one:
        delivery = await one.post(remote.url, "evt_abc", BODY, [SECRET], NOW)

    assert delivery.retry_after == seconds


# Receivers that misbehave


async def repeat_100(writer: asyncio.StreamWriter) -> None:
    while True:
        writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        await writer.drain()
        await asyncio.sleep(0.02)


def raw(data: bytes) -> Answer:
    async def answer(writer: asyncio.StreamWriter) -> None:
        writer.write(data)

    return answer


@pytest.mark.parametrize("answer", [hang, repeat_100], ids=["hangs", "says 100 for ever"])
async def test_a_receiver_that_never_answers_is_stopped_by_the_total_timeout(answer: Answer) -> None:
    async with receiver(answer) as remote:
        delivery = await post(remote.url, total_seconds=0.2)

    assert (delivery.outcome, delivery.status, delivery.detail) == (
        "retry",
        None,
        "it took longer than 0.2 s",
    )


@pytest.mark.parametrize(
    "answer",
    [
        raw(b""),
        raw(b"SSH-2.0-OpenSSH_9.2\r\n"),
        raw(b"HTTP/1.1 2000 OK\r\n\r\n"),
        raw(b"HTTP/1.1 20 OK\r\n\r\n"),
        raw(b"HTTP/1.1 099 OK\r\n\r\n"),
        raw(b"HTTP/1.1 2x0 OK\r\n\r\n"),
        raw(b"HTTP/1.1 20"),
        raw(b"HTTP/1.1 100 Continue\r\n\r\n"),
        raw(b"HTTP/1.1 100 Continue\r\n\r\n" * 20_000),
        raw(b"200 OK\r\n\r\n"),
        raw(b"\r\n" * 200_000),
        raw(b"\x16\x03\x01\x02\x00"),
        raw(b"HTTP/1.1 101 Switching Protocols\r\n\r\n"),
    ],
)
async def test_an_answer_that_is_no_answer_is_tried_again(answer: Answer) -> None:
    async with receiver(answer) as remote:
        delivery = await post(remote.url, total_seconds=0.5)

    assert delivery.outcome == "retry"


async def test_a_receiver_that_listens_no_more_is_tried_again() -> None:
    async with receiver(reply()) as remote:
        pass

    assert (await post(remote.url)).detail == "it refuses the connection"


async def test_a_body_is_neither_unpacked_nor_read_to_its_end() -> None:
    size, messages, cut = 256 * 1024 * 1024, 0, asyncio.Event()

    async def bomb(writer: asyncio.StreamWriter) -> None:
        nonlocal messages
        chunk = gzip.compress(b"\0" * 50_000_000)
        writer.write(f"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {size}\r\n\r\n".encode())
        try:
            while messages < size:
                writer.write(chunk)
                await writer.drain()
                messages += len(chunk)
        finally:
            cut.set()

    async with receiver(bomb) as remote:
        delivery = await post(remote.url)
        await asyncio.wait_for(cut.wait(), 20)

    assert delivery.outcome == "delivered"
    assert messages < size // 4  # what fits into the buffers of two sockets


async def test_a_body_that_is_dripped_does_not_hold_the_sender() -> None:
    async def drip(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
        await writer.drain()
        await asyncio.sleep(3600)

    async with receiver(drip) as remote:
        assert (await post(remote.url, total_seconds=20)).outcome == "delivered"


# Many at once


async def test_four_at_once_go_to_one_receiver_and_others_are_not_delayed() -> None:
    release, full = asyncio.Event(), asyncio.Event()

    async def wait(writer: asyncio.StreamWriter) -> None:
        if slow.active == 4:
            full.set()
        await release.wait()
        await reply()(writer)

    async with receiver(wait) as slow, receiver(reply()) as quick, sender() as one:
        posts = [asyncio.create_task(one.post(slow.url, "evt_abc", BODY, [SECRET], NOW)) for _ in range(12)]
        await asyncio.wait_for(full.wait(), 10)
        other = await one.post(quick.url, "evt_abc", BODY, [SECRET], NOW)
        held = slow.active
        release.set()
        outcomes = [delivery.outcome for delivery in await asyncio.gather(*posts)]

    assert (other.outcome, held) == ("delivered", 4)
    assert slow.busiest == 4
    assert outcomes == ["delivered"] * 12


async def test_those_who_wait_for_a_hanging_receiver_time_out_too_and_no_slot_is_lost() -> None:
    async with receiver(hang) as remote, sender(total_seconds=0.2) as one:
        posts = (one.post(remote.url, "evt_abc", BODY, [SECRET], NOW) for _ in range(9))
        deliveries = await asyncio.gather(*posts)
        remote.answer = reply()
        after = await one.post(remote.url, "evt_abc", BODY, [SECRET], NOW)

    assert {delivery.detail for delivery in deliveries} == {"it took longer than 0.2 s"}
    assert after.outcome == "delivered"


# Secrets


async def test_no_secret_query_or_signature_reaches_a_log_or_a_repr(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    asyncio.get_running_loop().set_debug(True)
    broken_answer = reply(500, "X: \x00\r\n", body=CANARY.encode())
    async with receiver(broken_answer) as broken, receiver(hang) as slow, sender(total_seconds=1.0) as one:
        urls = [broken.url, slow.url, "http://127.0.0.1:1/", f"https://user:{CANARY}@example.com/"]
        deliveries = [await one.post(f"{u}?{CANARY}", "evt_abc", BODY, [SECRET], NOW) for u in urls]
        observation = caplog.text + repr(deliveries) + repr(one) + str(vars(one))
        signatures = [remote.headers()["webhook-signature"] for remote in (broken, slow)]

    for word in (SECRET, SECRET.removeprefix("whsec_"), CANARY, *signatures):
        assert word not in observation


async def test_who_gets_no_slot_in_time_gets_that_answer_and_nothing_was_sent() -> None:
    bounds: dict[str, Any] = {"total_seconds": 2, "slot_seconds": 0.05, "per_host": 1, "at_once": 2}
    full = asyncio.Event()

    async def times(writer: asyncio.StreamWriter) -> None:
        full.set()
        await hang(writer)

    async with receiver(times) as slow, receiver(reply()) as quick, sender(**bounds) as one:
        held = asyncio.create_task(one.post(slow.url, "evt_abc", BODY, [SECRET], NOW))
        await asyncio.wait_for(full.wait(), 10)
        second = await one.post(slow.url, "evt_abc", BODY, [SECRET], NOW)
        other = await one.post(quick.url, "evt_abc", BODY, [SECRET], NOW)
        held.cancel()

    assert (second.outcome, other.outcome) == ("busy", "delivered")
    assert slow.connections == 1


async def test_names_are_looked_up_although_every_thread_of_the_process_is_taken() -> None:
    release, loop = threading.Event(), asyncio.get_running_loop()
    loop.set_default_executor(ThreadPoolExecutor(1))
    times = loop.run_in_executor(None, release.wait)
    async with receiver(reply()) as remote:
        delivery = await post(remote.url.replace("127.0.0.1", "localhost"), connect_seconds=5)
    release.set()
    await times

    assert delivery.outcome == "delivered"
