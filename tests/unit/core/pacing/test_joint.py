"""One act at a time for each key, shared by those who asked before it began."""

from __future__ import annotations

import asyncio

import pytest

from shared.core.pacing.shared_call import Joint


class Acts:
    """Counts the acts that began; each ends when it is let go."""

    def __init__(self) -> None:
        self.began = 0
        self.running = 0
        self.most = 0
        self.let_go = asyncio.Event()
        self.error: Exception | None = None

    async def __call__(self) -> int:
        self.began += 1
        self.running += 1
        number, self.most = self.began, max(self.most, self.running)
        await self.let_go.wait()
        self.running -= 1
        if self.error is not None:
            raise self.error
        return number


async def turns() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_all_who_come_while_an_act_runs_share_the_next_one() -> None:
    joint, acts = Joint(), Acts()
    first = asyncio.create_task(joint.run("a", acts))
    await turns()
    later = [asyncio.create_task(joint.run("a", acts)) for _ in range(50)]
    await turns()
    acts.let_go.set()

    assert await first == 1
    assert await asyncio.gather(*later) == [2] * 50
    assert (acts.began, acts.most) == (2, 1)


async def test_who_comes_while_the_next_act_runs_gets_one_that_begins_after_that() -> None:
    joint, acts = Joint(), Acts()
    acts.let_go.set()
    tasks = list[asyncio.Task[int]]()
    began_before = list[int]()
    for _ in range(20):
        began_before.append(acts.began)
        tasks.append(asyncio.create_task(joint.run("a", acts)))
        await asyncio.sleep(0)

    numbers = await asyncio.gather(*tasks)

    assert all(number > before for number, before in zip(numbers, began_before, strict=True))
    assert acts.most == 1


async def test_acts_of_different_keys_run_side_by_side() -> None:
    joint, acts = Joint(), Acts()
    tasks = [asyncio.create_task(joint.run(key, acts)) for key in "abc"]
    await turns()
    assert acts.running == 3
    acts.let_go.set()
    assert await asyncio.gather(*tasks) == [1, 2, 3]


async def test_an_error_reaches_all_who_share_the_act_and_no_one_after_them() -> None:
    joint, acts = Joint(), Acts()
    acts.error = ValueError("no")
    first = asyncio.create_task(joint.run("a", acts))
    await turns()
    later = [asyncio.create_task(joint.run("a", acts)) for _ in range(2)]
    await turns()
    acts.let_go.set()
    for task in (first, *later):
        with pytest.raises(ValueError, match="no"):
            await task
    acts.error = None
    assert await joint.run("a", acts) == 3


async def test_an_act_goes_on_for_the_others_when_one_caller_is_cancelled() -> None:
    joint, acts = Joint(), Acts()
    tasks = [asyncio.create_task(joint.run("a", acts)) for _ in range(3)]
    await turns()
    tasks[0].cancel()
    tasks[1].cancel()
    acts.let_go.set()
    assert await tasks[2] == 2
    assert [task.cancelled() for task in tasks] == [True, True, False]


async def test_nothing_is_kept_of_what_has_ended() -> None:
    joint, acts = Joint(), Acts()
    acts.let_go.set()
    for key in "abc":
        await asyncio.gather(*(joint.run(key, acts) for _ in range(3)))
    assert vars(joint) == {"_running": {}, "_next": {}}
