"""The local webhook receiver as a process, fed by the real sender and by forgers."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp.test_utils import TestServer

from local.receiver import Receiver
from shared.adapters.webhook.signing import signature_headers
from tests.contract.webhooks.webhook_world import BODY, SECRET, sender

OTHER_SECRET = "whsec_" + "b" * 32


@asynccontextmanager
async def process(*arguments: str) -> AsyncIterator[asyncio.subprocess.Process]:
    one = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "local.receiver", "--secret-env", "HOOK_SECRET", *arguments,
        env={**os.environ, "HOOK_SECRET": SECRET},
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        yield one
    finally:
        if one.returncode is None:
            one.send_signal(signal.SIGTERM)
        # A wait, not communicate(): the test may still want to read what was written.
        await asyncio.wait_for(one.wait(), 30)


@asynccontextmanager
async def receiver(*arguments: str) -> AsyncIterator[str]:
    async with process("--port", "0", *arguments) as one:
        assert one.stdout is not None
        word, address = (await asyncio.wait_for(one.stdout.readline(), 30)).decode().split()
        assert word == "ready"
        yield address


async def deliver(
    url: str, times: int = 1, total_seconds: float = 15
) -> list[tuple[str, int | None, float | None]]:
    async with sender(total_seconds=total_seconds) as one:
        deliveries = [await one.post(url, "evt_abc", BODY, [SECRET], datetime.now(UTC)) for _ in range(times)]
    return [(delivery.outcome, delivery.status, delivery.retry_after) for delivery in deliveries]


async def received(address: str) -> list[dict[str, Any]]:
    async with aiohttp.ClientSession() as session, session.get(f"{address}/received") as response:
        listed = await response.json()
    assert isinstance(listed, list)
    return listed


@asynccontextmanager
async def in_process(lines: list[str]) -> AsyncIterator[str]:
    async with TestServer(Receiver(SECRET, lines.append).app()) as server:
        yield str(server.make_url("/hooks/mine"))


async def raw_post(url: str, body: bytes, headers: dict[str, str]) -> int:
    async with aiohttp.ClientSession() as session, session.post(url, data=body, headers=headers) as response:
        return response.status


def signed(body: bytes = BODY, secrets: Sequence[str] = (SECRET,), at: int | None = None) -> dict[str, str]:
    return signature_headers(
        "evt_abc", int(datetime.now(UTC).timestamp()) if at is None else at, body, secrets
    )


async def test_a_signed_event_is_verified_listed_and_logged(tmp_path: Path) -> None:
    log = tmp_path / "deliveries.jsonl"
    async with receiver("--log", str(log)) as address:
        outcomes = await deliver(f"{address}/hooks/mine", times=2)
        listed = await received(address)

    assert outcomes == [("delivered", 204, None)] * 2
    assert [one["duplicate"] for one in listed] == [False, True]
    assert all(one["verified"] for one in listed)
    assert {key: listed[0][key] for key in ("hook", "id", "type", "subject")} == {
        "hook": "mine", "id": "evt_abc", "type": "io.slipway.job.succeeded.v1", "subject": "jobs/j_1",
    }  # fmt: skip
    assert [json.loads(line) for line in log.read_text().splitlines()] == listed


FORGED: list[Callable[[], dict[str, str]]] = [
    lambda: {},
    lambda: {**signed(), "webhook-id": "evt_other"},
    lambda: signed(body=b"{}"),
    lambda: signed(secrets=[OTHER_SECRET]),
    lambda: signed(at=1_600_000_000),
    lambda: {**signed(), "webhook-timestamp": "now"},
    lambda: {**signed(), "webhook-timestamp": "1e999"},
    lambda: {**signed(), "webhook-signature": "v1"},
    lambda: {**signed(), "webhook-signature": "v1,a,b"},
    lambda: {**signed(), "webhook-signature": "v1,not base64!"},
    lambda: {**signed(), "webhook-signature": "v1,é"},
    lambda: {**signed(), "webhook-signature": signed()["webhook-signature"].replace("v1,", "v2,")},
]


@pytest.mark.parametrize("forged", FORGED)
async def test_what_does_not_verify_is_answered_401_and_told_without_content(
    forged: Callable[[], dict[str, str]],
) -> None:
    lines: list[str] = []
    async with in_process(lines) as url:
        status = await raw_post(url, BODY, forged())

    reports = json.loads(lines[0])
    assert status == 401
    assert (reports["verified"], reports["type"], reports["subject"], reports["status"]) == (
        False,
        None,
        None,
        401,
    )


@pytest.mark.parametrize("body", [b"\xff\xfe", b"not json", b"[1]", b'"text"'])
async def test_a_signed_body_that_is_no_event_is_answered_401(body: bytes) -> None:
    async with in_process([]) as url:
        assert await raw_post(url, body, signed(body)) == 401


async def test_a_body_that_no_event_can_have_is_not_read() -> None:
    body = b'{"x":"' + b"x" * 100_000 + b'"}'
    async with in_process([]) as url:
        assert await raw_post(url, body, signed(body)) == 413


async def test_trouble_can_be_asked_for_by_the_address() -> None:
    async with receiver() as address:
        hook = f"{address}/hooks/"
        assert await deliver(hook + "a?status=410") == [("gone", 410, None)]
        assert await deliver(hook + "b?reset=1") == [("retry", None, None)]
        assert await deliver(hook + "c?hang=60", total_seconds=0.3) == [("retry", None, None)]
        assert await deliver(hook + "d?status=503&retry_after=7&times=2", times=3) == [
            ("retry", 503, 7.0),
            ("retry", 503, 7.0),
            ("delivered", 204, None),
        ]
        listed = [(one["status"], one["duplicate"]) for one in await received(address) if one["hook"] == "d"]

    # `c` was accepted, though too late for its sender: from then on the event is a duplicate.
    assert listed == [(503, True), (503, True), (204, True)]


@pytest.mark.parametrize("unusual", ["header=9000", "headers=150", "lengths=1"])
async def test_an_answer_that_strict_clients_refuse_is_one_answer(unusual: str) -> None:
    lines: list[str] = []
    async with in_process(lines) as url:
        with pytest.raises(aiohttp.ClientError):
            await raw_post(f"{url}?{unusual}", BODY, signed())
        assert await deliver(f"{url}?{unusual}") == [("delivered", 204, None)]
        assert await deliver(f"{url}?{unusual}&status=429&retry_after=7") == [("retry", 429, 7.0)]

    assert len(lines) == 3


async def test_an_event_that_was_answered_with_an_error_is_no_duplicate_later() -> None:
    async with receiver() as address:
        await deliver(f"{address}/hooks/a?status=503&times=1", times=3)
        listed = await received(address)

    assert [(one["status"], one["duplicate"]) for one in listed] == [(503, False), (204, False), (204, True)]


async def test_without_a_log_file_deliveries_are_lines_on_stdout() -> None:
    async with process() as one:
        assert one.stdout is not None
        address = (await one.stdout.readline()).decode().split()[1]
        await deliver(f"{address}/hooks/mine")
        line = json.loads(await asyncio.wait_for(one.stdout.readline(), 30))

    assert (line["id"], line["verified"]) == ("evt_abc", True)
    assert one.returncode == 0


async def test_a_busy_port_is_one_clear_line() -> None:
    busy = socket.create_server(("127.0.0.1", 0))
    async with process("--port", str(busy.getsockname()[1])) as one:
        _, errors = await asyncio.wait_for(one.communicate(), 30)
    busy.close()

    assert one.returncode == 1
    assert errors.decode().count("\n") == 1
    assert "--port" in errors.decode()


async def test_a_missing_secret_is_named_and_not_shown() -> None:
    one = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "local.receiver", "--secret-env", "HOOK_SECRET",
        env={**os.environ, "HOOK_SECRET": "Canary4Secret"}, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    _, errors = await asyncio.wait_for(one.communicate(), 30)

    assert one.returncode == 2
    assert b"HOOK_SECRET" in errors
    assert b"Canary4Secret" not in errors
