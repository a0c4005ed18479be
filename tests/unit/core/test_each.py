"""Acts on many items, some at once: their order, their number, and the first error."""

from __future__ import annotations

import asyncio

import pytest

from shared.core.each import each


@pytest.mark.parametrize("number", [0, 1, 2, 40])
async def test_results_are_in_the_order_of_the_items_and_no_more_than_some_act_at_once(number: int) -> None:
    acting, most = 0, 0

    async def act(item: int) -> int:
        nonlocal acting, most
        acting += 1
        most = max(most, acting)
        for _ in range(1 + item % 5):  # later items may be done first
            await asyncio.sleep(0)
        acting -= 1
        return item * item

    assert await each(range(number), act, 4) == [item * item for item in range(number)]
    assert most == min(number, 4)


@pytest.mark.parametrize("failing", [{1}, set(range(9))])
async def test_the_first_error_is_raised_at_once_and_every_item_is_tried(failing: set[int]) -> None:
    tried, go_on = [], asyncio.Event()

    async def act(item: int) -> None:
        tried.append(item)
        if item > 1:
            await go_on.wait()
        if item in failing:
            raise ValueError(item)

    with pytest.raises(ValueError, match=str(min(failing))):
        await each(range(9), act, 3)
    assert len(tried) < 9
    go_on.set()
    for _ in range(20):
        await asyncio.sleep(0)
    assert tried == list(range(9))


async def test_who_gives_up_ends_every_act() -> None:
    started, ended = [], []

    async def act(item: int) -> None:
        started.append(item)
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(item)

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await each(range(9), act, 3)
    assert started == ended == [0, 1, 2]
