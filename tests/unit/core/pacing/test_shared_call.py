"""One call serves all callers that come while it is in progress."""

from __future__ import annotations

import asyncio

import pytest

from shared.core.pacing.shared_call import SharedCall


class Work:
    """A call that ends when it may."""

    def __init__(self) -> None:
        self.begun, self.may_end = 0, asyncio.Event()
        self.error: Exception | None = None

    async def __call__(self) -> int:
        self.begun += 1
        number = self.begun
        await self.may_end.wait()
        if self.error is not None:
            raise self.error
        return number


async def test_callers_share_the_call_that_is_in_progress_and_the_next_one_makes_a_new_one() -> None:
    work = Work()
    call = SharedCall(work)
    callers = [asyncio.create_task(call.result()) for _ in range(5)]
    await asyncio.sleep(0)
    work.may_end.set()

    assert await asyncio.gather(*callers) == [1] * 5
    assert await call.result() == 2


async def test_each_caller_gets_the_error_and_no_later_one() -> None:
    work = Work()
    call, work.error = SharedCall(work), OSError("down")
    callers = [asyncio.create_task(call.result()) for _ in range(3)]
    await asyncio.sleep(0)
    work.may_end.set()

    assert await asyncio.gather(*callers, return_exceptions=True) == [work.error] * 3
    work.error = None
    assert await call.result() == 2


async def test_a_caller_that_is_cancelled_leaves_the_call_to_the_others() -> None:
    work = Work()
    call = SharedCall(work)
    first, second = (asyncio.create_task(call.result()) for _ in range(2))
    await asyncio.sleep(0)
    first.cancel()
    await asyncio.sleep(0)
    work.may_end.set()

    assert await second == 1
    assert first.cancelled()


async def test_who_can_do_without_the_result_begins_it_and_waits_only_if_first() -> None:
    work = Work()
    call, work.error = SharedCall(work), OSError("down")
    first = asyncio.create_task(call.begin(60))
    await asyncio.sleep(0)
    await call.begin(60)
    assert not first.done()
    work.may_end.set()
    await first
    assert work.begun == 1


async def test_a_call_that_is_stopped_is_over() -> None:
    work = Work()
    call = SharedCall(work)
    await call.begin(0)
    await call.stop()
    await call.stop()
    work.may_end.set()

    assert await call.result() == 2 - (work.begun == 1)


async def test_an_error_that_no_caller_waits_for_is_not_reported_by_the_loop() -> None:
    work, reports = Work(), []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: reports.append(context))
    call, work.error = SharedCall(work), OSError("down")
    caller = asyncio.create_task(call.result())
    await asyncio.sleep(0)
    caller.cancel()
    work.may_end.set()
    with pytest.raises(asyncio.CancelledError):
        await caller
    await asyncio.sleep(0)
    assert reports == []
