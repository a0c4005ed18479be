"""The same event once more: the same id, the same bytes; and a test of an address."""

from __future__ import annotations

import json

import pytest

from shared.adapters.storage.outbox import TableOutbox
from shared.core.caller import READ_ALL, SUBMIT, Caller
from shared.core.errors import Misuse
from shared.core.job import Job, JobState
from shared.core.notify.events import Notice
from shared.core.notify.receivers import Disabled
from shared.core.ports import Posted
from shared.operate.redeliver import events_of, redeliver_event, redeliver_job, send_test, shown
from tests.unit.world import World, job_json

HOOK = {"url": "https://hooks.example.com/slipway"}
OK = Posted("delivered", 204, "2xx", None, 7)
RECEIVER_GONE = Posted("gone", 410, "410", None, 3)


async def _ended(world: World, *answers: Posted) -> Job:
    world.webhooks.answers = list(answers)
    accepted = await world.message({"spec": job_json(), "notify": [HOOK]})
    world.engine.set_state(world.engine.started[-1], JobState.SUCCEEDED)
    await world.make_pass()
    return await world.job(accepted.job.id)


async def test_a_delivered_event_goes_out_again_with_the_same_id_and_bytes(world: World) -> None:
    job = await _ended(world, OK)
    ((_, identity, body),) = world.webhooks.posts
    world.pass_time(30 * 24 * 3600)

    notice = await redeliver_event(world.ports, identity)
    await world.wake()

    assert notice.job_id == job.id
    assert [(i, b) for _, i, b in world.webhooks.posts] == [(identity, body)] * 2
    (event,) = [shown(one) for one in await events_of(world.ports, job.id)]
    assert (event.state, event.targets[0].state) == ("delivered", "delivered")
    assert [one.ms for one in event.targets[0].tries] == [7, 7]


async def test_all_events_of_a_job_go_out_again(world: World) -> None:
    hook = {**HOOK, "events": ["queued", "succeeded"]}
    accepted = await world.message({"spec": job_json(), "notify": [hook]})
    await world.wake()
    world.engine.set_state(world.engine.started[0], JobState.SUCCEEDED)
    await world.make_pass()
    first = list(world.webhooks.posts)

    again = await redeliver_job(world.ports, accepted.job.id)
    await world.wake()

    assert len(again) == 2
    assert sorted(world.webhooks.posts[2:]) == sorted(first)


async def test_a_lost_message_of_a_redelivery_is_made_up_by_the_sweep(world: World) -> None:
    job = await _ended(world, OK)
    await redeliver_job(world.ports, job.id)
    world.queues.messages.clear()

    await world.make_pass()

    assert len(world.webhooks.posts) == 2


async def test_a_dead_letter_has_all_its_attempts_again(world: World) -> None:
    job = await _ended(world, RECEIVER_GONE)
    await send_test_ok(world)

    await redeliver_job(world.ports, job.id)
    assert await world.outbox.dead() == []
    world.webhooks.answers = [Posted("retry", 503, "5xx", None, 1), OK]
    await world.wake()
    await world.make_pass(60)

    (event,) = await events_of(world.ports, job.id)
    assert event.state == "delivered"
    assert [one.status for one in event.deliveries[1].tries] == [410, 503, 204]


async def send_test_ok(world: World) -> Posted:
    world.webhooks.answers = [OK]
    return await send_test(world.ports, HOOK["url"], "", "k")


async def test_a_test_that_is_answered_enables_a_disabled_address(world: World) -> None:
    await _ended(world, RECEIVER_GONE)
    assert len(await world.outbox.disabled()) == 1

    assert (await send_test_ok(world)).outcome == "delivered"

    assert await world.outbox.disabled() == []
    event = json.loads(world.webhooks.posts[-1][2])
    assert (event["type"], event["id"]) == ("io.slipway.test.v1", world.webhooks.posts[-1][1])


async def test_another_address_that_is_shown_alike_and_is_disabled_keeps_no_event_back(world: World) -> None:
    job = await _ended(world, OK)
    shown = (await events_of(world.ports, job.id))[0].deliveries[-1].url
    await world.outbox.disable(Disabled("0" * 32, shown, world.now, "410"))
    assert len(await redeliver_job(world.ports, job.id)) == 1


async def test_a_test_that_fails_changes_nothing(world: World) -> None:
    await _ended(world, RECEIVER_GONE)
    assert (await send_test(world.ports, HOOK["url"], "", "k")).outcome == "gone"
    assert len(await world.outbox.disabled()) == 1


@pytest.mark.parametrize(("url", "secret"), [("https://127.0.0.1/x", ""), (HOOK["url"], "nobody")])
async def test_a_test_passes_the_same_gates_as_a_job(world: World, url: str, secret: str) -> None:
    with pytest.raises(Misuse):
        await send_test(world.ports, url, secret, "k")
    assert world.webhooks.posts == []


async def test_what_is_not_there_is_a_404_with_a_remedy(world: World) -> None:
    quiet = (await world.message({"spec": job_json()})).job
    for request in (
        redeliver_event(world.ports, "evt_nothing"),
        redeliver_job(world.ports, "j_nothing"),
        redeliver_job(world.ports, quiet.id),
        events_of(world.ports, "j_nothing"),
    ):
        with pytest.raises(Misuse) as error:
            await request
        assert (error.value.status, bool(error.value.remedy)) == (404, True)


async def test_who_may_not_change_a_job_learns_nothing_of_its_events(world: World) -> None:
    job = await _ended(world, OK)
    ((_, identity, _),) = world.webhooks.posts

    with pytest.raises(Misuse) as of_another:
        await redeliver_event(world.ports, identity, Caller("mallory", frozenset({SUBMIT})))
    with pytest.raises(Misuse) as absent:
        await redeliver_event(world.ports, "evt_none", Caller("mallory", frozenset({SUBMIT})))
    assert str(of_another.value) == str(absent.value).replace("evt_none", identity)
    assert job.id not in str(of_another.value)


@pytest.mark.parametrize("event", ["evt_none", None])
async def test_who_may_only_read_has_nothing_looked_for(world: World, event: str | None) -> None:
    await _ended(world, OK)

    class Closed(TableOutbox):
        async def find(self, event_id: str) -> Notice | None:
            raise AssertionError("looked for")

    identity = event or world.webhooks.posts[0][1]
    world.use(outbox=Closed(world.ledger.store))
    with pytest.raises(Misuse) as refused:
        await redeliver_event(world.ports, identity, Caller("auditor", frozenset({READ_ALL})))
    assert refused.value.status == 403


async def test_nothing_is_promised_to_an_address_that_is_disabled(world: World) -> None:
    job = await _ended(world, RECEIVER_GONE)
    ((_, identity, _),) = world.webhooks.posts

    for again in (redeliver_job(world.ports, job.id), redeliver_event(world.ports, identity)):
        with pytest.raises(Misuse, match="the address is disabled, because it answered 410") as caught:
            await again
        assert (caught.value.status, "receivers/test" in caught.value.remedy) == (409, True)
    assert [event.event_id for event in await world.outbox.dead()] == [identity]
