"""Answers out of the ordinary, over real sockets: the status line decides, and nothing behind it does."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import pytest

from tests.contract.webhooks.webhook_world import BODY, NOW, SECRET, Answer, post, receiver, sender
from tests.unusual_answers import UNUSUAL, answer


def raw(*parts: bytes) -> Answer:
    async def write(writer: asyncio.StreamWriter) -> None:
        for part in parts:
            writer.write(part)
            await writer.drain()
            await asyncio.sleep(0)

    return write


@pytest.mark.parametrize("name", UNUSUAL)
async def test_the_status_line_decides_and_nothing_behind_it_does(name: str) -> None:
    output = []
    async with receiver(raw(), keeps=True) as remote, sender(total_seconds=20) as one:
        for status in (200, 204, 410, 429):
            remote.answer = raw(answer(status, UNUSUAL[name], b"Retry-After: 77\r\n"))
            posted = await one.post(remote.url, "evt_abc", BODY, [SECRET], NOW)
            output.append((posted.outcome, posted.status, posted.retry_after))

    assert output == [
        ("delivered", 200, None),
        ("delivered", 204, None),
        ("gone", 410, None),
        ("retry", 429, 77),
    ]
    assert len(remote.bodies) == 4


@pytest.mark.parametrize("start", [b"HTTP/2", b"ICY", b"http/1.1"])
async def test_a_status_line_of_another_protocol_decides_too(start: bytes) -> None:
    outcomes = []
    async with receiver(raw()) as remote, sender(total_seconds=20) as one:
        for status in (200, 410, 503):
            remote.answer = raw(start + b" %d OK\r\nContent-Length: 2\r\n\r\nok" % status)
            posted = await one.post(remote.url, "evt_abc", BODY, [SECRET], NOW)
            outcomes.append((posted.outcome, posted.status))

    assert outcomes == [("delivered", 200), ("gone", 410), ("retry", 503)]


@pytest.mark.parametrize("name", UNUSUAL)
async def test_it_decides_although_the_receiver_closes_in_the_middle_or_behind(name: str) -> None:
    whole = answer(200, UNUSUAL[name])
    outcomes = set()
    async with receiver(raw()) as remote, sender(total_seconds=20) as one:
        for end in (len(b"HTTP/1.1 200 "), len(whole) // 2, len(whole)):
            remote.answer = raw(whole[:end])
            posted = await one.post(remote.url, "evt_abc", BODY, [SECRET], NOW)
            outcomes.add((posted.outcome, posted.status))

    assert outcomes == {("delivered", 200)}


async def test_a_head_that_never_ends_is_read_no_longer_than_a_try_takes() -> None:
    async def drip(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n")
        while True:
            writer.write(b"X-Slow: 1\r\n")
            await writer.drain()
            await asyncio.sleep(0.02)

    async with receiver(drip) as remote:
        posted = await post(remote.url, total_seconds=0.3)

    assert (posted.outcome, posted.status, posted.detail) == ("delivered", 200, "2xx")


@pytest.mark.parametrize("line", [b"X: y\r\n", b"x" * 1000], ids=["fields", "one line"])
async def test_a_head_without_an_end_is_read_up_to_a_limit(line: bytes) -> None:
    written, cut = 0, asyncio.Event()

    async def flood(writer: asyncio.StreamWriter) -> None:
        nonlocal written
        writer.write(b"HTTP/1.1 200 OK\r\nX: ")
        try:
            while written < 256 * 1024 * 1024:
                writer.write(line * 1000)
                await writer.drain()
                written += len(line) * 1000
        finally:
            cut.set()

    async with receiver(flood) as remote:
        posted = await post(remote.url)
        await asyncio.wait_for(cut.wait(), 20)

    assert (posted.outcome, posted.status) == ("delivered", 200)
    assert written < 64 * 1024 * 1024  # what fits into the buffers of two sockets


@pytest.mark.parametrize("name", UNUSUAL)
async def test_what_stands_behind_an_answer_answers_no_later_event(name: str) -> None:
    smuggled = b"HTTP/1.1 410 Gone\r\nContent-Length: 0\r\n\r\n"
    async with receiver(raw(answer(200, UNUSUAL[name]) + smuggled), keeps=True) as remote, sender() as one:
        first = await one.post(remote.url, "evt_abc", BODY, [SECRET], datetime.now(UTC))
        remote.answer = raw(b"HTTP/1.1 204 No Content\r\n\r\n")
        second = await one.post(remote.url, "evt_abd", BODY, [SECRET], datetime.now(UTC))

    assert (first.status, second.status, len(remote.bodies)) == (200, 204, 2)


async def test_an_ordinary_answer_in_chunks_keeps_the_connection() -> None:
    chunks = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"
    async with receiver(raw(chunks), keeps=True) as remote, sender() as one:
        for _ in range(3):
            posted = await one.post(remote.url, "evt_abc", BODY, [SECRET], datetime.now(UTC))

    assert (posted.outcome, remote.connections) == ("delivered", 1)


async def test_an_answer_that_comes_unasked_answers_no_later_event() -> None:
    late = asyncio.Event()

    async def twice(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 204 No Content\r\n\r\n")
        await writer.drain()
        await late.wait()
        writer.write(b"HTTP/1.1 410 Gone\r\nContent-Length: 0\r\n\r\n")

    async with receiver(twice, keeps=True) as remote, sender() as one:
        first = await one.post(remote.url, "evt_abc", BODY, [SECRET], datetime.now(UTC))
        late.set()
        await remote.idle()
        second = await one.post(remote.url, "evt_abd", BODY, [SECRET], datetime.now(UTC))

    assert (first.outcome, second.outcome, remote.connections) == ("delivered", "delivered", 2)


async def test_an_answer_before_the_request_is_none() -> None:
    async def early(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        await reader.read()
        writer.close()

    server = await asyncio.start_server(early, "127.0.0.1", 0)
    async with server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/hook"
        posted = await post(url, total_seconds=0.5)

    # It may arrive before or after the request is sent, so nothing else is promised.
    assert posted.outcome in {"retry", "delivered"}


async def test_a_long_interim_answer_is_skipped() -> None:
    hints = b"HTTP/1.1 103 Early Hints\r\n" + b"Link: </x>; rel=preload\r\n" * 400 + b"\r\n"
    async with receiver(raw(hints, hints, b"HTTP/1.1 410 Gone\r\nContent-Length: 0\r\n\r\n")) as remote:
        posted = await post(remote.url)

    assert (posted.outcome, posted.status) == ("gone", 410)
