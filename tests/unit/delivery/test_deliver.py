"""Events reach those who asked, late or never, always with one id and one body."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import Any

from shared.core.job import Job, JobState
from shared.core.ports import Posted
from shared.delivery.deliver import deliver
from tests.doubles.memory import MemoryWebhooks
from tests.unit.world import World, job_json

HOOK = {"url": "https://hooks.example.com/slipway"}
OK = Posted("delivered", 204, "2xx", None, 1)
RECEIVER_DOWN = Posted("retry", 503, "5xx", None, 1)


async def ended(world: World, *answers: Posted, notify: object = None) -> Job:
    world.webhooks.answers = list(answers)
    accepted = await world.message({"spec": job_json(), "notify": notify or [HOOK]})
    world.engine.set_state(world.engine.started[0], JobState.SUCCEEDED)
    await world.make_pass()
    return await world.job(accepted.job.id)


async def next_try(world: World, longest: float = 1e9) -> None:
    """Time passes until the wake-up message is visible, after `longest` seconds if not before."""
    queue, body, delay = next(
        message for message in reversed(world.queues.messages) if message[0] == "job-events"
    )
    assert queue == "job-events"
    world.queues.messages.clear()
    world.pass_time(min(delay, longest) + 0.001)
    wake = json.loads(body)
    await deliver(world.ports, wake["job"], wake["sequence"])


async def test_a_receiver_that_is_down_gets_the_same_bytes_later(world: World) -> None:
    await ended(world, RECEIVER_DOWN, RECEIVER_DOWN, OK)
    assert len(world.webhooks.posts) == 1

    await next_try(world)
    await next_try(world)

    assert len(world.webhooks.posts) == 3
    assert len(set(world.webhooks.posts)) == 1
    assert world.queues.messages == []


async def test_a_lost_wake_up_is_made_up_by_the_sweep(world: World) -> None:
    await ended(world, RECEIVER_DOWN, OK)
    world.queues.messages.clear()

    for _ in range(3):
        await world.make_pass(60)

    assert len(world.webhooks.posts) == 2


async def test_retry_after_is_honoured(world: World) -> None:
    await ended(world, replace(RECEIVER_DOWN, retry_after=1234.0), OK)
    assert max(delay for _, _, delay in world.queues.messages) >= 1234


async def test_a_receiver_that_never_answers_ends_as_a_dead_letter(world: World) -> None:
    job = await ended(world, RECEIVER_DOWN)
    tries = 1
    while any(queue == "job-events" for queue, _, _ in world.queues.messages):
        await next_try(world)
        tries += 1

    (dead,) = await world.outbox.dead()
    assert tries == world.ports.policy.schedule.tries
    assert (dead.job_id, dead.deliveries[1].state, dead.deliveries[1].last) == (job.id, "dead", "5xx")
    assert dead.deliveries[0].state == "delivered"


async def test_410_and_a_gate_that_refuses_end_the_delivery_at_once(world: World) -> None:
    await ended(world, Posted("gone", 410, "410 Gone", None, 1))
    (dead,) = await world.outbox.dead()
    assert dead.deliveries[1].last == "410 Gone"
    assert all(queue != "job-events" for queue, _, _ in world.queues.messages)


async def test_only_the_events_that_were_asked_for_are_sent(world: World) -> None:
    await ended(world, OK, notify=[{**HOOK, "events": ["failed"]}, {**HOOK, "events": ["queued"]}])
    assert [event["data"]["state"] for event in world.events()] == ["queued"]


async def test_an_address_with_a_query_stands_sealed_in_the_ledger_and_is_posted_whole(world: World) -> None:
    await ended(world, OK, notify=[{"url": "https://hooks.example.com/x?code=canary-42"}])
    assert world.webhooks.posts[0][0] == "https://hooks.example.com/x?code=canary-42"
    assert "canary-42" not in str(world.ledger.rows) + str(world.drops.receipt_files)


async def test_a_refused_address_rejects_the_job_and_names_the_place(world: World) -> None:
    accepted = await world.message({"spec": job_json(), "notify": [HOOK, {"url": "https://127.0.0.1/x"}]})
    await world.wake()
    assert accepted.job.state is JobState.REJECTED
    assert "/notify/1/url" in {p["pointer"] for p in accepted.job.problems}
    assert [post[0] for post in world.webhooks.posts] == [HOOK["url"]]


async def test_an_unknown_secret_rejects_the_job(world: World) -> None:
    accepted = await world.message({"spec": job_json(), "notify": [{**HOOK, "secret": "nobody"}]})
    assert "/notify/0/secret" in {p["pointer"] for p in accepted.job.problems}


async def test_a_job_that_names_no_one_tells_the_default_subscription(world: World) -> None:
    world.policy(default_notify=(HOOK,))
    await world.message(job_json(nodeCount=0))
    await world.wake()
    assert world.events()[0]["data"]["state"] == "rejected"


async def test_notices_go_to_their_queue(world: World) -> None:
    world.policy(notices=True)
    await world.message(job_json())
    await world.wake()
    states = [
        json.loads(body)["data"]["state"]
        for queue, body, _ in world.queues.messages
        if queue == "job-notices"
    ]
    assert sorted(states) == ["accepted", "queued"]  # receivers order by sequence


async def test_a_wake_up_for_a_delivered_event_does_nothing(world: World) -> None:
    job = await ended(world, OK)
    assert await deliver(world.ports, job.id, job.sequence) is None
    assert len(world.webhooks.posts) == 1


async def test_events_beyond_the_deadline_of_a_pass_are_queued(world: World) -> None:
    for n in range(4):
        await world.message({"spec": job_json(), "notify": [HOOK]}, f"m{n}")
    for name in world.engine.started:
        world.engine.set_state(name, JobState.FAILED)
    world.policy(deliver_batch=2, deliver_deadline=0)

    await world.make_pass()

    assert [queue for queue, _, _ in world.queues.messages] == ["job-events"] * 4


async def test_a_door_tells_at_once_without_a_message(world: World) -> None:
    accepted = await world.message({"spec": job_json(nodeCount=0), "notify": [HOOK]})

    assert accepted.job.state is JobState.REJECTED
    assert world.receipt(accepted.job)["state"] == "rejected"
    assert len(world.webhooks.posts) == 1
    assert world.queues.messages == []


async def test_a_receiver_that_hangs_keeps_no_door_waiting(world: World) -> None:
    class Hangs(MemoryWebhooks):
        async def post(self, *args: Any, **named: Any) -> Posted:
            await answered.wait()
            return await super().post(*args, **named)

    answered = asyncio.Event()
    world.use(webhooks=(hooks := Hangs()))
    world.policy(deliver_patience=0)

    accepted = await world.message({"spec": job_json(nodeCount=0), "notify": [HOOK]})
    assert await world.outbox.notice(accepted.job.id, 1) is not None  # who dies now leaves it to the sweeper

    answered.set()
    for _ in range(50):  # turns of the loop, until what went on has come to its end
        await asyncio.sleep(0)
    assert await world.outbox.notice(accepted.job.id, 1) is None
    assert len(hooks.posts) == 1


async def test_a_job_that_tells_someone_needs_no_receipt(world: World) -> None:
    world.policy(receipts=False)
    reports = await ended(world, OK)
    await world.message({"spec": job_json(), "notify": []}, "m2")
    world.engine.set_state(world.engine.started[1], JobState.SUCCEEDED)
    await world.make_pass()

    assert [name.partition("/")[0] for name in world.drops.receipt_files] == ["default"]
    assert f"{reports.receipt}/receipt.json" not in world.drops.receipt_files


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
        world.engine.set_state(name, JobState.FAILED)

    await world.make_pass()

    assert [url for url, _, _ in hooks.posts] == ["https://fine.example.com/x"]


async def test_a_target_that_meets_a_defect_does_not_make_the_others_hear_again(world: World) -> None:
    class Breaks(MemoryWebhooks):
        async def post(self, url: str, *args: Any, **named: Any) -> Posted:
            posted = await super().post(url, *args, **named)
            if "broken" in url:
                raise RuntimeError("a defect")
            return posted

    world.ports = replace(world.ports, webhooks=(hooks := Breaks()))
    notify = [{"url": f"https://{host}.example.com/x"} for host in ("broken", "fine")]
    await ended(world, notify=notify)

    for _ in range(10):
        await world.make_pass(3600)

    assert [url for url, _, _ in hooks.posts].count("https://fine.example.com/x") == 1
