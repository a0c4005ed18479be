"""Events reach those who asked, late or never, always with one id and one body."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

from shared.deliver import deliver, finish
from shared.job import Job, JobState
from shared.memory import MemoryWebhooks
from shared.ports import Posted
from shared.receivers import Receivers
from shared.storage.rows import notice_of_row
from shared.webhook_url import shown
from tests.unit.dispatcher.world import World, job_json

HOOK = {"url": "https://hooks.example.com/slipway"}
OK = Posted("delivered", 204, "2xx", None, 1)
DOWN = Posted("retry", 503, "5xx", None, 1)


async def _ended(world: World, *answers: Posted, notify: object = None) -> Job:
    world.webhooks.answers = list(answers)
    accepted = await world.message({"spec": job_json(), "notify": notify or [HOOK]})
    world.engine.turn(world.engine.started[0], JobState.SUCCEEDED)
    await world.sweep()
    return await world.job(accepted.job.id)


async def _next_try(world: World) -> None:
    """Time passes until the wake-up message is visible, and it is delivered."""
    queue, body, delay = next(
        message for message in reversed(world.queues.sent) if message[0] == "job-events"
    )
    assert queue == "job-events"
    world.queues.sent.clear()
    world.pass_time(delay + 0.001)
    wake = json.loads(body)
    await deliver(world.ports, wake["job"], wake["sequence"])


async def test_a_receiver_that_is_down_gets_the_same_bytes_later(world: World) -> None:
    await _ended(world, DOWN, DOWN, OK)
    assert len(world.webhooks.posts) == 1

    await _next_try(world)
    await _next_try(world)

    assert len(world.webhooks.posts) == 3
    assert len(set(world.webhooks.posts)) == 1
    assert world.queues.sent == []


async def test_a_lost_wake_up_is_made_up_by_the_sweep(world: World) -> None:
    await _ended(world, DOWN, OK)
    world.queues.sent.clear()

    for _ in range(3):
        await world.sweep(60)

    assert len(world.webhooks.posts) == 2


async def test_retry_after_is_honoured(world: World) -> None:
    await _ended(world, replace(DOWN, retry_after=1234.0), OK)
    assert max(delay for _, _, delay in world.queues.sent) >= 1234


async def test_a_receiver_that_never_answers_ends_as_a_dead_letter(world: World) -> None:
    job = await _ended(world, DOWN)
    tries = 1
    while any(queue == "job-events" for queue, _, _ in world.queues.sent):
        await _next_try(world)
        tries += 1

    (dead,) = await world.outbox.dead()
    assert tries == 10
    assert (dead.job_id, dead.targets[1].state, dead.targets[1].last) == (job.id, "dead", "5xx")
    assert dead.targets[0].state == "delivered"


async def test_410_and_a_gate_that_refuses_end_the_delivery_at_once(world: World) -> None:
    await _ended(world, Posted("gone", 410, "410 Gone", None, 1))
    (dead,) = await world.outbox.dead()
    assert dead.targets[1].last == "410 Gone"
    assert all(queue != "job-events" for queue, _, _ in world.queues.sent)


async def test_only_the_events_that_were_asked_for_are_sent(world: World) -> None:
    await _ended(world, OK, notify=[{**HOOK, "events": ["failed"]}, {**HOOK, "events": ["queued"]}])
    assert [event["data"]["state"] for event in world.events()] == ["queued"]


async def test_an_address_with_a_query_stands_sealed_in_the_ledger_and_is_posted_whole(world: World) -> None:
    await _ended(world, OK, notify=[{"url": "https://hooks.example.com/x?code=canary-42"}])
    assert world.webhooks.posts[0][0] == "https://hooks.example.com/x?code=canary-42"
    assert "canary-42" not in str(world.ledger.rows) + str(world.drops.answers)


async def test_a_refused_address_rejects_the_job_and_names_the_place(world: World) -> None:
    accepted = await world.message({"spec": job_json(), "notify": [HOOK, {"url": "https://127.0.0.1/x"}]})
    await world.wake()
    assert accepted.job.state is JobState.REJECTED
    assert "/notify/1/url" in {p["pointer"] for p in accepted.job.problems}
    assert [post[0] for post in world.webhooks.posts] == [HOOK["url"]]


async def test_an_unknown_secret_rejects_the_job(world: World) -> None:
    accepted = await world.message({"spec": job_json(), "notify": [{**HOOK, "secret": "nobody"}]})
    assert "/notify/0/secret" in {p["pointer"] for p in accepted.job.problems}


async def test_a_job_that_names_nobody_tells_the_default_subscription(world: World) -> None:
    world.policy(default_notify=(HOOK,))
    await world.message(job_json(nodeCount=0))
    await world.wake()
    assert world.events()[0]["data"]["state"] == "rejected"


async def test_notices_go_to_their_queue(world: World) -> None:
    world.policy(notices=True)
    await world.message(job_json())
    await world.wake()
    states = [
        json.loads(body)["data"]["state"] for queue, body, _ in world.queues.sent if queue == "job-notices"
    ]
    assert sorted(states) == ["accepted", "queued"]  # receivers order by sequence


async def test_a_wake_up_for_a_delivered_event_does_nothing(world: World) -> None:
    job = await _ended(world, OK)
    assert await deliver(world.ports, job.id, job.sequence) is None
    assert len(world.webhooks.posts) == 1


async def test_events_beyond_the_deadline_of_a_sweep_are_queued(world: World) -> None:
    for n in range(4):
        await world.message({"spec": job_json(), "notify": [HOOK]}, f"m{n}")
    for name in world.engine.started:
        world.engine.turn(name, JobState.FAILED)
    world.policy(deliver_batch=2, deliver_deadline=0)

    await world.sweep()

    assert [queue for queue, _, _ in world.queues.sent] == ["job-events"] * 4


async def test_a_door_tells_at_once_without_a_message(world: World) -> None:
    accepted = await world.message({"spec": job_json(nodeCount=0), "notify": [HOOK]})

    assert accepted.job.state is JobState.REJECTED
    assert world.receipt(accepted.job)["state"] == "rejected"
    assert len(world.webhooks.posts) == 1
    assert world.queues.sent == []


async def test_a_receiver_that_hangs_keeps_no_door_waiting(world: World) -> None:
    class Hangs(MemoryWebhooks):
        async def post(self, *args: Any, **named: Any) -> Posted:
            await answered.wait()
            return await super().post(*args, **named)

    answered = asyncio.Event()
    world.use(webhooks=(hooks := Hangs()))
    world.policy(deliver_patience=0)

    accepted = await world.message({"spec": job_json(nodeCount=0), "notify": [HOOK]})
    assert await world.outbox.notice(accepted.job.id, 1) is not None  # who dies now leaves it to the sweep

    answered.set()
    for _ in range(50):  # turns of the loop, until what went on has come to its end
        await asyncio.sleep(0)
    assert await world.outbox.notice(accepted.job.id, 1) is None
    assert len(hooks.posts) == 1


async def test_a_job_that_tells_somebody_needs_no_receipt(world: World) -> None:
    world.policy(receipts=False)
    told = await _ended(world, OK)
    await world.message({"spec": job_json(), "notify": []}, "m2")
    world.engine.turn(world.engine.started[1], JobState.SUCCEEDED)
    await world.sweep()

    assert [name.partition("/")[0] for name in world.drops.answers] == ["default"]
    assert f"{told.receipt}/receipt.json" not in world.drops.answers


async def test_a_sealed_address_behind_a_refused_one_still_opens(world: World) -> None:
    good = {"url": "https://hooks.example.com/x?token=canary-43"}
    await world.message({"spec": job_json(), "notify": [{"url": "https://10.0.0.1/x"}, good]})
    await world.wake()
    assert [url for url, _, _ in world.webhooks.posts] == [good["url"]]


async def test_one_event_that_cannot_be_delivered_stops_no_other(world: World) -> None:
    class Breaks(MemoryWebhooks):
        async def post(self, url: str, *args: Any, **named: Any) -> Posted:
            if "broken" in url:
                raise RuntimeError("a defect")
            return await super().post(url, *args, **named)

    world.ports = replace(world.ports, webhooks=(hooks := Breaks()))
    for n, host in enumerate(("broken", "fine")):
        notify = [{"url": f"https://{host}.example.com/x"}]
        await world.message({"spec": job_json(), "notify": notify}, f"m{n}")
    for name in world.engine.started:
        world.engine.turn(name, JobState.FAILED)

    await world.sweep()

    assert [url for url, _, _ in hooks.posts] == ["https://fine.example.com/x"]


# Receivers that hang, fail and leave


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


async def _jobs_that_end(world: World, hosts: list[str]) -> list[str]:
    found = []
    for n, host in enumerate(hosts):
        notify = [{"url": f"https://{host}.example.com/x", "events": ["succeeded"]}]
        found.append((await world.message({"spec": job_json(), "notify": notify}, f"m{n}")).job.id)
    for name in world.engine.started:
        world.engine.turn(name, JobState.SUCCEEDED)
    return found


async def test_two_hundred_hanging_receivers_hold_neither_the_sweep_nor_the_others(world: World) -> None:
    world.use(webhooks=(hooks := Hanging()))
    world.policy(deliver_patience=0.05)
    await _jobs_that_end(world, [*(f"hang{n}" for n in range(200)), *(f"fine{n}" for n in range(20))])

    await world.sweep()  # comes back although nobody has let the hanging ones go

    assert hooks.hanging == 200
    assert {url for url, _, _ in hooks.posts} == {f"https://fine{n}.example.com/x" for n in range(20)}
    assert not any(key.startswith("a|") for _, key in world.ledger.rows)
    hooks.held.set()
    await finish()
    waiting = [
        row for n in range(4) for row in await world.outbox.undelivered(n, world.now + timedelta(hours=1))
    ]
    assert len(waiting) == 200
    assert {target.tries[0].said for row in waiting for target in row.targets if target.webhook} == {
        "timeout"
    }


async def test_one_hanging_receiver_of_many_events_holds_its_own_lane_only(world: World) -> None:
    world.use(webhooks=(hooks := Hanging()))
    world.policy(deliver_patience=0.05, deliver_batch=4)
    await _jobs_that_end(world, ["hang"] * 50 + ["fine"] * 10)

    await world.sweep()

    assert (hooks.hanging, len(hooks.posts)) == (4, 10)
    assert len([queue for queue, _, _ in world.queues.sent if queue == "job-events"]) == 46
    hooks.held.set()
    await finish()


async def test_a_wake_up_does_not_wait_for_a_receiver_that_hangs(world: World) -> None:
    (job,) = await _jobs_that_end(world, ["hang"])
    world.policy(deliver_deadline=0, deliver_patience=0.01)
    world.use(webhooks=(hooks := Hanging()))
    await world.sweep()

    assert await deliver(world.ports, job, (await world.job(job)).sequence) is None

    assert hooks.hanging == 1
    hooks.held.set()
    await finish()


async def test_a_receiver_that_fails_on_and_on_is_left_alone_until_one_probe_gets_through(
    world: World,
) -> None:
    world.webhooks.answers = [DOWN]
    await _jobs_that_end(world, ["down"] * 12)
    world.policy(deliver_batch=1)

    await world.sweep()

    assert len(world.webhooks.posts) == 5
    waiting = [
        row for n in range(4) for row in await world.outbox.undelivered(n, world.now + timedelta(hours=1))
    ]
    untried = [row.targets[1] for row in waiting if not row.targets[1].attempts]
    assert len(untried) == 7  # which cost them no attempt
    assert all(target.due > world.now for target in untried)

    world.webhooks.answers = [OK]
    for _ in range(12):
        await world.sweep(60)
    assert len({identity for _, identity, _ in world.webhooks.posts}) == 12
    assert not any(key.startswith("o|") for _, key in world.ledger.rows)


async def test_who_asks_for_a_pause_gets_it_for_every_event(world: World) -> None:
    world.webhooks.answers = [replace(DOWN, status=429, retry_after=600.0), OK]
    await _jobs_that_end(world, ["busy"] * 3)
    world.policy(deliver_batch=1)

    await world.sweep()
    assert len(world.webhooks.posts) == 1
    await world.sweep(120)
    assert len(world.webhooks.posts) == 1
    for _ in range(10):
        await world.sweep(120)
    assert len(world.webhooks.posts) == 4


async def test_an_event_that_could_not_even_be_tried_for_days_is_given_up(world: World) -> None:
    world.webhooks.answers = [DOWN]
    await _jobs_that_end(world, ["down"] * 8)
    for _ in range(4 * 24 * 8):
        await world.sweep(15 * 60)

    assert len(await world.outbox.dead()) == 8
    assert not any(key.startswith("o|") for _, key in world.ledger.rows)


async def test_410_disables_the_address_for_every_event_and_every_process(world: World) -> None:
    await _ended(world, Posted("gone", 410, "410", None, 1), OK)
    (disabled,) = await world.outbox.disabled()
    assert (disabled.url, disabled.why) == (shown(HOOK["url"]), "410")

    world.use(receivers=Receivers())  # another process
    accepted = await world.message({"spec": job_json(), "notify": [HOOK]}, "m2")
    world.engine.turn(world.engine.started[1], JobState.SUCCEEDED)
    await world.sweep()

    assert len(world.webhooks.posts) == 1
    dead = {row.job_id: row.targets[1].last for row in await world.outbox.dead()}
    assert "disabled since" in dead[accepted.job.id]


async def test_busy_slots_cost_no_attempt(world: World) -> None:
    job = await _ended(world, Posted("busy", None, "not sent", None, 0), OK)
    notice = await world.outbox.notice(job.id, job.sequence)
    assert notice is not None
    assert (notice.targets[1].attempts, notice.targets[1].tries) == (0, ())

    await _next_try(world)
    assert len(world.webhooks.posts) == 2
    assert await world.outbox.notice(job.id, job.sequence) is None


async def test_each_try_is_kept_with_its_time_its_answer_and_its_length(world: World) -> None:
    job = await _ended(world, DOWN, replace(OK, milliseconds=42))
    await _next_try(world)

    (row,) = [row for (_, key), row in world.ledger.rows.items() if key.startswith("e|")]
    tries = notice_of_row(row).targets[1].tries
    assert [(one.status, one.ms, one.said) for one in tries] == [(503, 1, "5xx"), (204, 42, "2xx")]
    assert tries[0].at < tries[1].at
    assert job.state is JobState.SUCCEEDED
