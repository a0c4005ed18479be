"""What is not of the API does not count: it is asked again, and a submission keeps its key."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from slipway.client.calls.refusal import Stranger, Unanswered
from slipway.client.service import service
from slipway.commands.enqueue import enqueue
from slipway.failure import Failure
from tests.doubles.patience import Waits
from tests.doubles.server import answering
from tests.unit.slipway.client.calls.plan import (
    FOREIGN,
    LOGIN,
    STATUSES,
    Page,
    Plan,
    cut,
    of_kind,
    ours,
    page,
    refusal,
)


@pytest.mark.parametrize("status", STATUSES)
async def test_where_slipway_has_answered_before_any_page_that_may_pass_is_waited_for(status: int) -> None:
    away = page(status, **LOGIN) if 300 <= status < 400 else page(status)
    plan = Plan(ours, *[away] * 30, ours)
    async with answering(plan.answer) as url, service(url) as api:
        await api.job("j_1")
        assert (await api.job("j_1"))["id"] == "j_1"


@pytest.mark.parametrize("status", STATUSES)
async def test_a_submission_that_meets_a_page_of_any_status_is_sent_again_with_its_key(
    status: int, waits: Waits
) -> None:
    away = page(status, **LOGIN) if 300 <= status < 400 else page(status)
    plan = Plan(away, ours)
    async with answering(plan.answer) as url, service(url) as api:
        assert (await api.submit(b"{}"))["id"] == "j_1"
    assert len(plan.keys) == 2
    assert len(set(plan.keys)) == 1

    async with answering(Plan(away).answer) as url, service(url) as api:
        began = waits.now
        with pytest.raises(Unanswered, match="send it again with --idempotency-key k-7 "):
            await api.submit(b"{}", "k-7")
    assert 0 < waits.now - began <= 300


@pytest.mark.parametrize(
    ("first", "words"),
    [
        (page(401, ""), "a function key is needed"),
        (page(413, ""), "is too large"),
        (page(414, ""), "is too long"),
        (page(431, ""), "are too large"),
        (page(308, Location="https://app.example/api/jobs"), "redirects to https://app.example; if that is"),
    ],
)
async def test_what_refuses_a_submission_before_the_app_is_said_at_once_without_a_key(
    first: Page, words: str, waits: Waits
) -> None:
    async with answering(Plan(first).answer) as url, service(url) as api:
        with pytest.raises(Failure, match=words) as failure:
            await api.submit(b"{}", "k-7")

    assert "k-7" not in str(failure.value)
    assert not waits.slept


@pytest.mark.parametrize("then", [page(401, ""), refusal(401), page(401), page(302, **LOGIN)])
async def test_a_refused_repetition_does_not_hide_that_the_first_may_have_been_accepted(then: Page) -> None:
    async with answering(Plan(cut, then).answer) as url, service(url) as api:
        with pytest.raises(Unanswered, match="send it again with --idempotency-key k-7 "):
            await api.submit(b"{}", "k-7")


@pytest.mark.parametrize(("kind", "text"), FOREIGN)
async def test_what_something_else_answers_with_200_is_no_answer_to_any_call(kind: str, text: str) -> None:
    async with answering(Plan(of_kind(kind, text)).answer) as url, service(url) as api:
        for ask in (
            lambda: api.content("j_1", "OUT", "a.bin", 0, 2),
            lambda: api.content("j_1", "OUT", "empty.bin", 0, -1),
            lambda: api.receipt("j_1"),
            lambda: api.log("j_1"),
            lambda: api.explain(b"{}", {}),
            lambda: api.pause(""),
            api.usage,
        ):
            with pytest.raises(Stranger, match="something else answers there, not Slipway"):
                await ask()


@pytest.mark.parametrize("key", ["\n", "a\rb", " ", "k ", "\x00", "\udc80"])
async def test_a_key_that_no_header_carries_is_refused_by_name_before_anything_is_sent(key: str) -> None:
    plan = Plan(ours)
    async with answering(plan.answer) as url, service(url) as api:
        asks: tuple[Callable[[], Awaitable[Any]], ...] = (
            lambda: api.submit(b"{}", key),
            lambda: api.submit_sweep(b"{}", key),
            lambda: api.rerun("j_1", b"{}", key),
        )
        for ask in asks:
            with pytest.raises(Failure) as failure:
                await ask()
            assert str(failure.value).startswith(f"the idempotency key {key!r} cannot be sent: ")

    assert not plan.keys
    with pytest.raises(Failure, match="cannot be sent: "):
        enqueue.run(Path("message.json"), None, once=key)
