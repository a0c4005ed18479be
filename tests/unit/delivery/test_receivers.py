"""Receivers that hang, fail and leave: they delay no one, and what is learnt of them is kept."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from shared.adapters.storage.rows import notice_of_row
from shared.core.job import JobState
from shared.core.notify.receivers import Receivers
from shared.core.notify.webhook_url import safe_url
from shared.core.ports import Posted
from shared.delivery.deliver import deliver, finish
from tests.doubles.memory import MemoryWebhooks
from tests.unit.delivery.test_deliver import HOOK, OK, RECEIVER_DOWN, ended, next_try
from tests.unit.world import World, job_json


class Hanging(MemoryWebhooks):
    """Receivers whose name holds `hang` never answer."""

    def __init__(self) -> None:
        super().__init__()
        self.held = asyncio.Event()
        self.hanging = 0

    async def post(self, url: str, *args: Any, **named: Any) -> Posted:
        if "hang" in url:
            self.hanging += 1
            await self.held.wait()
            return Posted("retry", None, "timeout", None, 15_000)
        return await super().post(url, *args, **named)


async def jobs_that_end(world: World, hosts: list[str]) -> list[str]:
    results = []
    for n, host in enumerate(hosts):
        notify = [{"url": f"https://{host}.example.com/x", "events": ["succeeded"]}]
        results.append((await world.message({"spec": job_json(), "notify": notify}, f"m{n}")).job.id)
    for name in world.engine.started:
        world.engine.set_state(name, JobState.SUCCEEDED)
    return results


async def test_a_wake_up_does_not_wait_for_a_receiver_that_hangs(world: World) -> None:
    (job,) = await jobs_that_end(world, ["hang"])
    world.policy(deliver_deadline=0, deliver_patience=0.01)
    world.use(webhooks=(hooks := Hanging()))
    await world.make_pass()

    assert await deliver(world.ports, job, (await world.job(job)).sequence) is None

    assert hooks.hanging == 1
    hooks.held.set()
    await finish(world.ports)


async def test_a_pass_leaves_alone_what_an_earlier_one_is_still_sending(world: World) -> None:
    world.use(webhooks=(hooks := Hanging()))
    world.policy(deliver_patience=0.01)
    await jobs_that_end(world, ["hang"])

    for _ in range(3):
        await world.make_pass(60)

    assert hooks.hanging == 1
    hooks.held.set()
    await finish(world.ports)


async def test_a_receiver_that_fails_on_and_on_is_left_alone_until_one_probe_gets_through(
    world: World,
) -> None:
    world.webhooks.answers = [RECEIVER_DOWN]
    await jobs_that_end(world, ["down"] * 12)
    world.policy(deliver_batch=1)

    await world.make_pass()

    assert len(world.webhooks.posts) == 5
    waiting = [
        row
        for n in range(4)
        for row in await world.outbox.undelivered(n, world.now + timedelta(hours=1), timedelta(days=9))
    ]
    untried = [row.deliveries[1] for row in waiting if not row.deliveries[1].try_count]
    assert len(untried) == 7  # which cost them no try
    assert all(target.due > world.now for target in untried)

    world.webhooks.answers = [OK]
    for _ in range(12):
        await world.make_pass(60)
    assert len({identity for _, identity, _ in world.webhooks.posts}) == 12
    assert not any(key.startswith("o|") for _, key in world.ledger.rows)


async def test_who_asks_for_a_pause_gets_it_for_every_event(world: World) -> None:
    world.webhooks.answers = [replace(RECEIVER_DOWN, status=429, retry_after=600.0), OK]
    await jobs_that_end(world, ["busy"] * 3)
    world.policy(deliver_batch=1)

    await world.make_pass()
    assert len(world.webhooks.posts) == 1
    await world.make_pass(120)
    assert len(world.webhooks.posts) == 1
    for _ in range(10):
        await world.make_pass(120)
    assert len(world.webhooks.posts) == 4


@pytest.mark.long
async def test_an_event_that_could_not_even_be_tried_for_days_is_given_up(world: World) -> None:
    world.webhooks.answers = [RECEIVER_DOWN]
    await jobs_that_end(world, ["down"] * 8)
    for _ in range(4 * 24 * 8):
        await world.make_pass(15 * 60)

    assert len(await world.outbox.dead()) == 8
    assert not any(key.startswith("o|") for _, key in world.ledger.rows)


async def test_410_disables_the_address_for_every_event_and_every_process(world: World) -> None:
    await ended(world, Posted("gone", 410, "410", None, 1), OK)
    (disabled,) = await world.outbox.disabled()
    assert (disabled.url, disabled.why) == (safe_url(HOOK["url"]), "410")

    world.use(receivers=Receivers())  # another process
    accepted = await world.message({"spec": job_json(), "notify": [HOOK]}, "m2")
    world.engine.set_state(world.engine.started[1], JobState.SUCCEEDED)
    await world.make_pass()

    assert len(world.webhooks.posts) == 1
    dead = {row.job_id: row.deliveries[1].last for row in await world.outbox.dead()}
    assert "disabled since" in dead[accepted.job.id]


async def test_busy_slots_cost_no_try(world: World) -> None:
    job = await ended(world, Posted("busy", None, "not sent", None, 0), OK)
    notice = await world.outbox.notice(job.id, job.sequence)
    assert notice is not None
    assert (notice.deliveries[1].try_count, notice.deliveries[1].tries) == (0, ())

    await next_try(world)
    assert len(world.webhooks.posts) == 2
    assert await world.outbox.notice(job.id, job.sequence) is None


async def test_each_try_is_kept_with_its_time_its_answer_and_its_length(world: World) -> None:
    job = await ended(world, RECEIVER_DOWN, replace(OK, milliseconds=42))
    await next_try(world)

    (row,) = [row for (_, key), row in world.ledger.rows.items() if key.startswith("e|")]
    tries = notice_of_row(row).deliveries[1].tries
    assert [(one.status, one.ms, one.detail) for one in tries] == [(503, 1, "5xx"), (204, 42, "2xx")]
    assert tries[0].at < tries[1].at
    assert job.state is JobState.SUCCEEDED
