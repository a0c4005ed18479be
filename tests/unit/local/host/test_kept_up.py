"""A listener that fails starts again."""

import asyncio
import logging

import pytest

from local.host import host
from local.host.triggers.outage import StorageAwayError


async def test_a_listener_that_fails_is_reported_and_starts_again(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(host, "_AGAIN", 0)
    runs: list[int] = []
    ended = asyncio.Event()

    async def listener() -> None:
        runs.append(1)
        if len(runs) < 3:
            raise KeyError("a defect")

    with caplog.at_level(logging.ERROR):
        await host.kept_up("queue jobs", listener, ended)

    assert len(runs) == 3
    assert not ended.is_set()
    assert [record.getMessage() for record in caplog.records] == [
        "the listener of queue jobs failed, and starts again in 0 s"
    ] * 2


async def test_a_listener_whose_storage_is_away_ends_the_host(caplog: pytest.LogCaptureFixture) -> None:
    ended = asyncio.Event()

    async def listener() -> None:
        raise StorageAwayError("queue jobs refuses for 24 s")

    with caplog.at_level(logging.ERROR):
        await host.kept_up("queue jobs", listener, ended)

    assert ended.is_set()
    assert [record.getMessage() for record in caplog.records] == [
        "the host ends: queue jobs refuses for 24 s"
    ]
