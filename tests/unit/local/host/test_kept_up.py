"""A listener that fails starts again."""

import logging

import pytest

from local.host import host


async def test_a_listener_that_fails_is_reported_and_starts_again(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(host, "_AGAIN", 0)
    runs: list[int] = []

    async def listener() -> None:
        runs.append(1)
        if len(runs) < 3:
            raise KeyError("a defect")

    with caplog.at_level(logging.ERROR):
        await host.kept_up("queue jobs", listener)

    assert len(runs) == 3
    assert [record.getMessage() for record in caplog.records] == [
        "the listener of queue jobs failed, and starts again in 0 s"
    ] * 2
