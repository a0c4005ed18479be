"""Requests that get no answer of the API are sent again: which, for how long, and what a person reads."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress

import pytest
from aiohttp import web

from slipway.client.calls.patience import patience
from slipway.client.calls.refusal import Absent, Silent, Stranger, Unanswered, Unreached
from slipway.client.service import Service, service
from slipway.failure import Failure
from tests.doubles.patience import Waits
from tests.doubles.server import answering
from tests.unit.slipway.client.calls.plan import FOREIGN, Page, Plan, cut, of_kind, ours, page, refusal


@pytest.mark.parametrize(
    "cold",
    [
        *(page(status) for status in (429, 500, 502, 503, 504)),
        *(page(status, "") for status in (404, 500, 503)),  # of the Functions host
        *(page(status) for status in (200, 400, 403, 404, 409, 421)),
        *(of_kind(kind, text) for kind, text in FOREIGN),
        page(204, ""),
        refusal(429),
        refusal(503, Retry_After="10"),
        cut,
    ],
)
async def test_a_cold_app_is_asked_again_and_a_submission_keeps_its_key(cold: Page) -> None:
    plan = Plan(cold, cold, ours)
    async with answering(plan.answer) as url, service(url) as api:
        assert (await api.job("j_1"))["id"] == "j_1"
        plan.pages = [cold, cold, ours]
        plan.keys = []
        assert (await api.submit(b"{}"))["id"] == "j_1"

    assert len(plan.keys) == 3
    assert len(set(plan.keys)) == 1
    assert plan.keys[0]


async def test_patience_counts_from_the_last_answer_and_ends(waits: Waits) -> None:
    bad = page(502)
    plan = Plan(*[*[bad] * 20, ours] * 4, bad)
    async with answering(plan.answer) as url, service(url) as api:
        for _ in range(4):
            await api.job("j_1")
        long = waits.now
        with pytest.raises(Unanswered, match="answered 502 Bad Gateway; try again, or ask its operator"):
            await api.job("j_1")

    assert long > 300
    assert 280 < waits.now - long <= 300
    assert waits.lines[0] == f"{url} answered 502 Bad Gateway; asking again for up to 5 min (Ctrl-C ends it)"
    assert len(waits.lines) < 20


@pytest.mark.parametrize(
    ("first", "kind", "seconds"),
    [
        (page(404, ""), Stranger, 60),
        (page(403), Stranger, 60),
        (page(200), Stranger, 60),
        (refusal(503), Unanswered, 120),
        (refusal(502), Silent, 0),
        (page(401, ""), Failure, 0),
        (page(401), Failure, 0),
        (page(413, ""), Failure, 0),
        (page(302, Location="https://elsewhere.example"), Failure, 0),
        (refusal(500), Failure, 0),
        (refusal(404), Failure, 0),
    ],
)
async def test_what_will_not_pass_is_not_waited_for(
    first: Page, kind: type[Failure], seconds: int, waits: Waits
) -> None:
    async with answering(Plan(first).answer) as url, service(url) as api:
        with pytest.raises(kind) as failure:
            await api.job("j_1")

    assert isinstance(failure.value, Unanswered) is issubclass(kind, Unanswered)
    assert seconds * 0.8 <= waits.now <= seconds


async def test_an_address_where_nothing_listens_is_an_error_at_once_unless_it_has_answered_before(
    waits: Waits,
) -> None:
    async with answering(Plan(ours).answer) as url, service(url) as before:
        await before.job("j_1")

        async def is_unanswered(api: Service) -> None:
            with pytest.raises(Unanswered, match="nothing listens there"):
                await api.job("j_1")

        away = url
    async with service(away) as api:
        with pytest.raises(Unreached):
            await api.job("j_1")
    assert not waits.slept
    async with service(away, met=True) as api:
        await is_unanswered(api)
    assert waits.now > 280


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("7", 7.0),
        ("Fri, 01 Jan 2100 00:00:00 GMT", 60.0),
        ("Sunday, 06-Nov-94 08:49:37 GMT", 0.0),
        ("Sun Nov  6 08:49:37 1994", 0.0),
        ("99999999", 60.0),
        ("soon", 0.0),
    ],
)
@pytest.mark.parametrize("answer", [page, refusal])
async def test_a_requested_wait_is_kept_within_bounds(
    text: str, seconds: float, answer: Callable[..., Page], waits: Waits
) -> None:
    async with answering(Plan(answer(429, Retry_After=text), ours).answer) as url, service(url) as api:
        await api.job("j_1")

    assert waits.slept == [seconds]


async def test_a_submission_without_an_answer_says_how_to_repeat_it() -> None:
    async with answering(Plan(page(503)).answer) as url, service(url) as api:
        with pytest.raises(
            Unanswered, match=r"with --idempotency-key k-7 \(in Python, idempotency_key\), which joins"
        ):
            await api.submit(b"{}", "k-7")
        own = b'{"idempotencyKey": "mine", "spec": {}}'
        with pytest.raises(Unanswered, match="send the same document again, which joins"):
            await api.submit(own)


async def test_a_wait_that_is_ended_says_how_to_repeat_the_submission(waits: Waits) -> None:
    arrived = asyncio.Event()

    async def never(request: web.Request) -> web.Response:
        arrived.set()
        await asyncio.Event().wait()
        raise AssertionError

    async with answering(never) as url, service(url) as api:
        sending = asyncio.create_task(api.submit(b"{}", "k-7"))
        await arrived.wait()
        sending.cancel()
        with suppress(asyncio.CancelledError):
            await sending

    assert waits.lines == [
        "it may have been accepted all the same: send it again with --idempotency-key k-7 "
        "(in Python, idempotency_key), which joins what was accepted"
    ]


@pytest.mark.parametrize(
    "document",
    [
        b'{"idempotencyKey": "mine", "spec": {"properties": {}}}',
        b'{"specversion": "1.0", "id": "1", "source": "/x", "type": "io.slipway.job.submit.v1", "data": {}}',
    ],
)
async def test_a_document_with_a_key_of_its_own_keeps_it(document: bytes) -> None:
    plan = Plan(ours)
    async with answering(plan.answer) as url, service(url) as api:
        await api.submit(document)
        await api.submit(document, "chosen")

    assert plan.keys == [None, "chosen"]


@pytest.mark.parametrize(
    "health",
    [
        lambda: web.json_response({"status": "ok", "storage": "ok"}),
        lambda: web.json_response({"detail": "x"}, status=503, content_type="application/problem+json"),
    ],
    ids=["ok", "not ready"],
)
async def test_a_call_that_an_older_app_does_not_have_is_not_waited_for(
    health: Callable[[], web.Response], waits: Waits
) -> None:
    async def older(request: web.Request) -> web.Response:
        return health() if request.path == "/api/health" else web.Response(status=404)

    async with answering(older) as url, service(url) as api:
        with pytest.raises(Absent, match=r"does not know this call \(404\)"):
            await api.settings()
    assert not waits.slept


async def test_without_patience_nothing_is_repeated(waits: Waits) -> None:
    plan = Plan(page(502), ours)
    async with answering(plan.answer) as url, service(url) as api:
        with patience(waits.patience(0.0)), pytest.raises(Unanswered):
            await api.job("j_1")
    assert len(plan.keys) == 1
