"""The bound on what the app holds for answers at once."""

from __future__ import annotations

import asyncio
from collections import deque

import pytest

from functions.allowance import BODIES, Allowance, Body, FileResponse
from functions.ranges import most_of, span_of
from shared.core.errors import Misuse
from shared.core.job import JobState
from shared.operate.files.output import MOST_BYTES
from tests.unit.functions.calls import call, use
from tests.unit.world import World, job_json


async def test_eight_callers_at_once_have_two_bodies_of_eight_mebibytes(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(world, monkeypatch)
    job = (await world.message(job_json())).job
    world.engine.output["large.bin"] = b"x" * MOST_BYTES
    world.engine.set_state(world.engine.started[0], JobState.RUNNING)
    await world.make_pass()
    address = f"/api/jobs/{job.id}/files/stdouterr/large.bin"
    before = BODIES.in_use

    tasks = deque(asyncio.create_task(call("GET", address)) for _ in range(8))
    while tasks:
        answers = [await tasks.popleft(), await tasks.popleft()]
        for _ in range(100):  # in which the others could end
            await asyncio.sleep(0)
        assert [len(answer.get_body()) for answer in answers] == [MOST_BYTES] * 2
        assert BODIES.in_use - before == 2 * MOST_BYTES
        assert not any(task.done() for task in tasks)
        answers.clear()

    assert BODIES.in_use == before


@pytest.mark.parametrize(
    ("header", "count"),
    [("", MOST_BYTES), ("bytes=0-", MOST_BYTES), ("bytes=-5", MOST_BYTES), ("bytes=10-19", 10)],
)
def test_a_request_takes_as_much_as_its_answer_may_hold(header: str, count: int) -> None:
    assert most_of(span_of(header)) == count
    assert most_of(span_of("bytes=0-99999999999")) == MOST_BYTES


async def test_a_body_counts_as_long_as_anything_refers_to_it() -> None:
    allowance = Allowance(10)
    async with allowance.share() as share:
        await share.take(10)
        answer = FileResponse(share.body(b"1234"), status_code=200, headers={}, mimetype="text/plain")
        assert allowance.in_use == 10

    body = answer.get_body()
    del answer
    assert (body, allowance.in_use) == (b"1234", 4)
    del body
    assert allowance.in_use == 0


async def test_a_share_without_a_body_goes_back_at_the_end_of_its_block() -> None:
    allowance = Allowance(10)
    async with allowance.share() as share:
        await share.take(4)

    assert allowance.in_use == 0


async def test_one_that_asks_for_more_than_there_is_has_all_of_it_alone() -> None:
    allowance = Allowance(10)

    assert await allowance.take(25) == 10
    with pytest.raises(Misuse):
        await Allowance.take(_impatient(allowance), 1)


async def test_those_that_wait_come_in_their_order_also_where_a_later_one_would_fit() -> None:
    allowance, order = Allowance(10), list[int]()

    async def one(count: int) -> None:
        await allowance.take(count)
        order.append(count)

    await allowance.take(8)
    large, small = asyncio.create_task(one(9)), asyncio.create_task(one(1))
    await asyncio.sleep(0)
    assert order == []
    allowance.give_back(8)
    await asyncio.gather(large, small)

    assert order == [9, 1]


async def test_one_that_waits_in_vain_is_asked_to_come_again() -> None:
    allowance = _impatient(Allowance(10))
    await allowance.take(10)

    with pytest.raises(Misuse) as refused:
        await allowance.take(1)

    assert (refused.value.status, refused.value.retry_after) == (503, 5)
    allowance.give_back(10)
    assert await allowance.take(10) == 10


async def test_one_that_is_cancelled_while_it_waits_takes_nothing_and_lets_the_next_one_in() -> None:
    allowance = Allowance(10)
    await allowance.take(5)
    large, small = (asyncio.create_task(allowance.take(count)) for count in (6, 5))
    await asyncio.sleep(0)
    large.cancel()

    assert await small == 5
    assert (large.cancelled(), allowance.in_use) == (True, 10)


async def test_what_another_thread_gives_back_lets_the_next_one_in() -> None:
    allowance = Allowance(10)
    held = Body(b"x")
    await allowance.take(10)
    waiting = asyncio.create_task(allowance.take(1))
    await asyncio.sleep(0)

    await asyncio.to_thread(allowance.give_back, 10)

    assert (await waiting, held) == (1, b"x")


def _impatient(allowance: Allowance) -> Allowance:
    allowance._patience = 0.01
    return allowance
