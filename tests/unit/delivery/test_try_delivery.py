"""One try of one event at one receiver: what goes out, and what each answer makes of the delivery."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from shared.core.errors import DEFECT, Misconfigured, Unavailable
from shared.core.job import JobState
from shared.core.notify.events import NOTICES, RECEIPT, Delivery, Notice, Try
from shared.core.notify.receivers import Disabled, receiver_id
from shared.core.ports import Posted
from shared.delivery.try_delivery import try_delivery
from tests.unit.lifecycle.test_meter import Counting
from tests.unit.recorded import RUN, Recorded, Written, job_of
from tests.unit.world import World

URL = "https://hooks.example.com/x"
OK = Posted("delivered", 204, "2xx", None, 7)
RECEIVER_DOWN = Posted("retry", 503, "5xx", None, 8)
BUSY = Posted("busy", None, "not sent: enough is under way", None, 0)
RECEIVER_GONE = Posted("gone", 410, "410 Gone", None, 9)
REFUSED = Posted("refused", None, "not sent: 10.0.0.1 is private", None, 0)


@dataclass
class Hooks:
    """Answers one thing, or raises it; keeps what was asked."""

    answer: Posted | Exception = OK
    posts: list[tuple[str, str, bytes, tuple[str, ...], datetime]] = field(default_factory=list)

    async def post(
        self, url: str, webhook_id: str, body: bytes, secrets: Sequence[str], now: datetime
    ) -> Posted:
        self.posts.append((url, webhook_id, body, tuple(secrets), now))
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.fixture
def hooks(world: World) -> Hooks:
    receiver_hooks = Hooks()
    world.use(webhooks=receiver_hooks, secrets={"default": ("a",), "team": ("b", "c")})
    return receiver_hooks


def notice_for(world: World, delivery: Delivery, **members: Any) -> Notice:
    named = {"job_id": "j_x", "sequence": 3, "event_id": "evt_1", "type": "t", "body": "größer"}
    times = {"due": world.now, "since": world.now}
    return Notice(**{**named, **times, "deliveries": (delivery,), **members})


def delivery_of(world: World, **members: Any) -> Delivery:
    return Delivery(**{"url": URL, "due": world.now, **members})


async def tried(world: World, delivery: Delivery, **members: Any) -> Delivery:
    return await try_delivery(world.ports, notice_for(world, delivery, **members), delivery, world.now)


# Whether it is tried


@pytest.mark.parametrize(
    ("state", "try_count", "ahead", "posted"),
    [
        ("pending", 0, 0.0, True),
        ("pending", 0, 3600.0, True),  # held, and asked for again: the breaker decides
        ("pending", 1, 0.0, True),
        ("pending", 1, -1.0, True),
        ("pending", 1, 1.0, False),
        ("pending", 9, 3600.0, False),
        ("pending", 1, 30 * 86_400.0, True),  # written by a clock that was wrong
        ("delivered", 0, 0.0, False),
        ("delivered", 1, 0.0, False),
        ("dead", 1, 0.0, False),
    ],
)
async def test_a_delivery_is_tried_when_it_is_pending_and_its_time_has_come(
    world: World, hooks: Hooks, state: str, try_count: int, ahead: float, posted: bool
) -> None:
    delivery = delivery_of(world, state=state, try_count=try_count, due=world.now + timedelta(seconds=ahead))
    after = await tried(world, delivery)
    assert (len(hooks.posts), after is delivery) == (posted, not posted)


# What goes out


@pytest.mark.parametrize(("name", "secrets"), [(None, ("a",)), ("team", ("b", "c"))])
async def test_the_frozen_body_goes_out_with_its_id_and_the_secrets_of_its_name(
    world: World, hooks: Hooks, name: str | None, secrets: tuple[str, ...]
) -> None:
    after = await tried(world, delivery_of(world, secret=name, try_count=2))
    assert hooks.posts == [(URL, "evt_1", "größer".encode(), secrets, world.now)]
    assert (after.state, after.last, after.try_count) == ("delivered", "2xx", 3)
    assert after.tries == (Try(at=world.now, status=204, ms=7, detail="2xx"),)


async def test_a_sealed_address_is_opened_at_its_place_and_never_stored(world: World, hooks: Hooks) -> None:
    sealed = world.ports.seal.seal(f"{URL}?code=canary-7", "k/notify/0")
    after = await tried(world, delivery_of(world, url=URL, sealed=sealed, context="k/notify/0"))
    assert hooks.posts[0][0] == f"{URL}?code=canary-7"
    assert "canary-7" not in after.model_dump_json()


async def test_a_receipt_is_written_and_a_notice_is_queued(
    world: World, hooks: Hooks, drops: Written
) -> None:
    job = job_of(*RUN, (2, JobState.SUCCEEDED))
    world.use(ledger=Recorded(job), drops=drops)
    receipt = await tried(world, delivery_of(world, url=RECEIPT), job_id=job.id)
    notice = await tried(world, delivery_of(world, url=NOTICES))

    assert list(drops.receipt_files) == ["default/r/receipt.json"]
    assert world.queues.messages == [("job-notices", "größer", 0)]
    assert [(one.state, one.last, one.try_count) for one in (receipt, notice)] == [
        ("delivered", "stored", 1)
    ] * 2
    assert hooks.posts == []


# What an answer makes of the delivery


@pytest.mark.parametrize(
    ("answer", "state", "try_count", "wait"),
    [
        (RECEIVER_DOWN, "pending", 3, 1800),  # the third wait of the schedule
        (replace(RECEIVER_DOWN, retry_after=7200.0), "pending", 3, 7200),
        (replace(RECEIVER_DOWN, retry_after=60.0), "pending", 3, 1800),
        (BUSY, "pending", 2, 5 * 1.25),
        (replace(BUSY, retry_after=60.0), "pending", 2, 60 * 1.25),
        (RECEIVER_GONE, "dead", 3, 0),
        (REFUSED, "dead", 3, 0),
    ],
)
async def test_an_answer_that_is_none_says_when_it_is_tried_again(
    world: World, hooks: Hooks, answer: Posted, state: str, try_count: int, wait: float
) -> None:
    hooks.answer = answer
    delivery = delivery_of(world, try_count=2)
    after = await tried(world, delivery)
    due = world.now + timedelta(seconds=wait) if state == "pending" else delivery.due
    assert (after.state, after.try_count, after.due, after.last) == (state, try_count, due, answer.detail)
    expected = (Try(at=world.now, status=answer.status, ms=answer.milliseconds, detail=answer.detail),)
    assert after.tries == (() if answer.outcome == "busy" else expected)


async def test_the_place_within_the_spread_is_drawn_by_chance(world: World, hooks: Hooks) -> None:
    hooks.answer = RECEIVER_DOWN
    world.use(jitter=lambda: 0.0)
    assert (await tried(world, delivery_of(world, try_count=2))).due == world.now + timedelta(
        seconds=0.8 * 1800
    )
    hooks.answer = replace(BUSY, retry_after=60.0)
    world.ports.receivers.enable(URL)
    assert (await tried(world, delivery_of(world))).due == world.now + timedelta(seconds=60)


async def test_the_last_try_that_fails_makes_it_dead(world: World, hooks: Hooks) -> None:
    hooks.answer = RECEIVER_DOWN
    tries = world.ports.policy.schedule.tries
    after = await tried(world, delivery_of(world, try_count=tries - 1))
    assert (after.state, after.last, after.try_count) == ("dead", "5xx", tries)


@pytest.mark.parametrize(("beyond", "state"), [(0.0, "pending"), (1.0, "dead")])
async def test_an_event_that_was_held_for_longer_than_its_life_is_given_up(
    world: World, hooks: Hooks, beyond: float, state: str
) -> None:
    hooks.answer = BUSY
    since = world.now - world.ports.policy.schedule.life - timedelta(seconds=beyond)
    after = await tried(world, delivery_of(world), since=since)
    assert (after.state, after.last, after.try_count) == (state, BUSY.detail, 0)


# Errors


async def test_settings_that_do_not_fit_cost_no_try_and_one_line(
    world: World, hooks: Hooks, caplog: pytest.LogCaptureFixture
) -> None:
    world.use(secrets={"default": ()})
    for secret in (None, None, "nobody"):
        after = await tried(world, delivery_of(world, secret=secret))
        why = f"SLIPWAY_WEBHOOK_SECRETS names no secret {secret or 'default'!r}"
        assert after.last == f"waits for the deployment to be mended: {why}"
        assert (after.state, after.try_count) == ("pending", 0)
        assert after.due == world.now + timedelta(seconds=300 * 1.25)
        assert world.ports.troubles.reasons("settings") == {"deliveries": why}
    assert [record.levelno for record in caplog.records] == [logging.ERROR] * 2
    assert hooks.posts == []


@pytest.mark.parametrize(
    ("error", "try_count", "wait", "last"),
    [
        (Misconfigured("x" * 300), 2, 375, f"waits for the deployment to be mended: {'x' * 200}"),
        (Unavailable("x" * 300), 3, 1800, "x" * 200),
        (RuntimeError("a defect that may show what is secret"), 3, 1800, DEFECT),
    ],
    ids=["settings", "storage", "defect"],
)
async def test_an_error_is_an_outcome_and_its_words_are_cut(
    world: World, hooks: Hooks, error: Exception, try_count: int, wait: float, last: str
) -> None:
    hooks.answer = error
    after = await tried(world, delivery_of(world, try_count=2))
    due = world.now + timedelta(seconds=wait)
    assert (after.state, after.try_count, after.due, after.last) == ("pending", try_count, due, last)


# What is learnt of the receiver


async def test_a_receiver_that_does_not_answer_is_left_alone_from_the_end_of_its_fifth_try(
    world: World, hooks: Hooks
) -> None:
    hooks.answer = RECEIVER_DOWN
    for _ in range(5):
        await tried(world, delivery_of(world))
    after = await tried(world, delivery_of(world, try_count=2))

    assert len(hooks.posts) == 5
    assert (after.try_count, after.last) == (2, "not sent: the receiver does not answer")
    assert after.due == world.now + timedelta(seconds=30 * 1.25)


async def test_the_pause_that_a_receiver_asks_for_begins_with_its_answer(world: World, hooks: Hooks) -> None:
    begun = world.now
    world.use(clock=lambda: begun + timedelta(seconds=15))  # what is slow answers later than it was asked
    hooks.answer = replace(RECEIVER_DOWN, retry_after=60.0)
    delivery = delivery_of(world)
    await try_delivery(world.ports, notice_for(world, delivery), delivery, begun)
    assert world.ports.receivers.breaker.wait(URL, begun + timedelta(seconds=15)) == 60


@pytest.mark.parametrize("answer", [OK, RECEIVER_GONE, REFUSED], ids=lambda answer: answer.outcome)
async def test_any_other_answer_says_that_it_is_there(world: World, hooks: Hooks, answer: Posted) -> None:
    for output in (RECEIVER_DOWN, RECEIVER_DOWN, RECEIVER_DOWN, RECEIVER_DOWN, answer, RECEIVER_DOWN):
        world.ports.receivers.learn([])
        hooks.answer = output
        await tried(world, delivery_of(world))
    assert not world.ports.receivers.breaker.open(URL, world.now)


async def test_a_receiver_that_is_gone_is_disabled_here_and_for_all(
    world: World, hooks: Hooks, caplog: pytest.LogCaptureFixture
) -> None:
    whole = f"{URL}?code=canary-7"
    sealed = {"sealed": world.ports.seal.seal(whole, "p"), "place": "p"}
    disabled = Disabled(receiver_id(whole), URL, world.now, "410 Gone")
    hooks.answer = RECEIVER_GONE
    await tried(world, delivery_of(world, **sealed))
    assert world.ports.receivers.disabled(whole) == disabled
    assert await world.outbox.disabled() == [disabled]

    after = await tried(world, delivery_of(world, **sealed))
    assert len(hooks.posts) == 1
    assert (after.state, after.try_count) == ("dead", 0)
    assert after.last == "not sent: disabled since 2026-01-01T12:00:00+00:00 (410 Gone)"
    assert "canary-7" not in caplog.text + str(world.ledger.rows)


@pytest.mark.parametrize("answer", [OK, RECEIVER_DOWN, REFUSED])
async def test_no_other_answer_disables_a_receiver(world: World, hooks: Hooks, answer: Posted) -> None:
    hooks.answer = answer
    await tried(world, delivery_of(world))
    assert world.ports.receivers.disabled(URL) is None
    assert await world.outbox.disabled() == []


# what is reported


@pytest.mark.parametrize(
    ("answer", "level"),
    [(OK, logging.DEBUG), (RECEIVER_DOWN, logging.INFO), (BUSY, None), (RECEIVER_GONE, logging.INFO)],
)
async def test_each_post_is_counted_and_told_in_a_line_that_matters_if_it_failed(
    world: World, hooks: Hooks, caplog: pytest.LogCaptureFixture, answer: Posted, level: int | None
) -> None:
    caplog.set_level(logging.DEBUG, logger="shared.delivery.try_delivery")
    world.use(meter=(meter := Counting()))
    hooks.answer = answer
    await tried(world, delivery_of(world))

    reports = [record for record in caplog.records if record.getMessage().startswith("webhook ")]
    assert [record.levelno for record in reports] == ([level] if level else [])
    assert meter.counts == ({("slipway.deliveries", answer.outcome): 1} if level else {})
    assert [vars(one)["outcome"] for one in reports] == ([answer.outcome] if level else [])
