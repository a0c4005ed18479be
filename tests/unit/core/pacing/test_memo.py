"""What a process remembers of its questions, and what others get while one of them asks again."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from shared.core.pacing.memo import Memo

NOW = datetime(2026, 1, 1, tzinfo=UTC)
LATER = NOW + timedelta(seconds=10)


class Question:
    """Asked once for each answer, which comes when it is let go."""

    def __init__(self) -> None:
        self.count = 0
        self.let_go = asyncio.Event()

    async def __call__(self) -> dict[str, int]:
        self.count += 1
        number = self.count
        await self.let_go.wait()
        return {"number": number}


async def test_an_answer_is_good_for_its_seconds() -> None:
    memo, question = Memo(), Question()
    question.let_go.set()

    answers = [await memo.get("a", at, 10.0, question) for at in (NOW, LATER - timedelta(seconds=1), LATER)]

    assert [one["number"] for one in answers] == [1, 1, 2]


async def test_without_an_answer_all_ask() -> None:
    memo, question = Memo(), Question()

    both = [asyncio.create_task(memo.get_or_last("a", NOW, 10.0, question)) for _ in range(2)]
    await asyncio.sleep(0)
    question.let_go.set()

    assert sorted([(await one)["number"] for one in both]) == [1, 2]


@pytest.mark.parametrize("asked_before", [True, False])
async def test_while_one_asks_others_have_the_last_answer_or_the_one_before_any(asked_before: bool) -> None:
    memo, question = Memo(), Question()
    if asked_before:
        question.let_go.set()
        await memo.get("a", NOW, 10.0, question)
        question.let_go.clear()

    asking = asyncio.create_task(memo.get_or_last("a", LATER, 10.0, question, before={"number": 0}))
    await asyncio.sleep(0)
    other = await memo.get_or_last("a", LATER, 10.0, question, before={"number": 0})
    question.let_go.set()

    assert other == {"number": 1 if asked_before else 0}
    assert (await asking)["number"] == question.count == 1 + asked_before
    assert memo.latest("a") == await asking


async def test_an_answer_that_does_not_come_is_not_remembered() -> None:
    memo, question = Memo(), Question()
    question.let_go.set()

    async def fail() -> dict[str, int]:
        raise OSError("no answer")

    with pytest.raises(OSError, match="no answer"):
        await memo.get_or_last("a", NOW, 10.0, fail, before={"number": 0})

    assert memo.latest("a") == {}
    assert await memo.get("a", NOW, 10.0, question) == {"number": 1}


async def test_what_was_added_before_the_clock_went_back_is_not_kept_beside_a_later_answer() -> None:
    memo, question = Memo(), Question()
    question.let_go.set()
    await memo.get("a", NOW, 10.0, question)
    memo.add("a", NOW, "wrong", 7)

    before = NOW - timedelta(days=1)

    assert await memo.get("a", before, 10.0, question) == {"number": 2}
    memo.add("a", before, "young", 7)
    assert memo.added("a") == 1


async def test_what_is_added_while_one_asks_is_in_the_answer() -> None:
    memo, question = Memo(), Question()
    asking = asyncio.create_task(memo.get_or_last("a", NOW, 10.0, question, before={"number": 0}))
    await asyncio.sleep(0)
    memo.add("a", NOW, "young", 7)
    question.let_go.set()

    assert await asking == {"number": 1, "young": 7}
    assert memo.added("a") == 1
