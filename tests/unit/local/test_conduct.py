"""The loop of the emulators' conductors."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from local.conduct import conduct


def clock() -> datetime:
    return datetime.now(UTC)


@pytest.mark.parametrize("steps", range(6))
async def test_an_end_that_comes_with_news_is_an_end(steps: int) -> None:
    """Python 3.11's `wait_for` lost it: the emulator went on for good, with no one to talk to."""
    news = asyncio.Event()
    task = asyncio.create_task(conduct(lambda: clock() + timedelta(seconds=60), news, clock))
    for _ in range(5):
        await asyncio.sleep(0)

    news.set()
    for _ in range(steps):
        await asyncio.sleep(0)
    task.cancel()

    await asyncio.wait({task}, timeout=60)
    assert task.cancelled()


async def test_news_that_each_look_makes_keep_nothing_else_from_running() -> None:
    news, looks, others = asyncio.Event(), 0, 0

    def review() -> None:
        nonlocal looks
        looks += 1
        if looks > 1_000:
            raise asyncio.CancelledError
        news.set()

    task = asyncio.create_task(conduct(review, news, clock))
    while not task.done():
        others += 1
        await asyncio.sleep(0)
    assert others > 900
