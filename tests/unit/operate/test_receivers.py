"""What an operator sees of receivers: which take nothing, since when, what was given up."""

from __future__ import annotations

from datetime import timedelta

from shared.adapters.sealing import AesSeal
from shared.answers.events import ReceiverBreaker
from shared.core.job import JobState
from shared.core.ports import Posted
from shared.operate.receivers import receivers
from shared.operate.redeliver import redeliver_event
from tests.unit.world import World, job_json

URL = "https://hooks.example.com/slipway"
OK = Posted("delivered", 204, "2xx", None, 7)
BUSY = Posted("retry", 503, "503", None, 7)
RECEIVER_GONE = Posted("gone", 410, "410", None, 3)


async def end_job(world: World, *answers: Posted, url: str = URL) -> None:
    """A job whose end is told to the receiver, which answers so."""
    world.webhooks.answers = list(answers)
    await world.message({"spec": job_json(), "notify": [{"url": url}]}, f"m{world.now.isoformat()}")
    world.engine.set_state(world.engine.started[-1], JobState.SUCCEEDED)
    await world.make_pass()


async def test_a_receiver_that_took_everything_is_not_listed(world: World) -> None:
    await end_job(world, OK)

    assert len(world.webhooks.posts) == 1
    assert await receivers(world.ports) == []


async def test_a_receiver_that_fails_has_the_time_of_its_first_failure_and_of_its_next_try(
    world: World,
) -> None:
    start = world.now
    await end_job(world, *[BUSY] * 99)
    world.pass_time(60)
    await end_job(world, *[BUSY] * 99)

    (one,) = await receivers(world.ports)

    assert (one.state, one.pending, one.dead, one.last) == ("failing", 2, 0, "503")
    assert one.url.startswith("https://hooks.example.com")
    assert one.since == start + timedelta(minutes=1)  # a pass here takes a minute
    assert one.next is not None
    assert one.next > one.since


async def test_events_that_were_given_up_are_named_and_can_be_sent_again(world: World) -> None:
    await end_job(world, *[BUSY] * 99)
    for _ in range(40):
        world.pass_time(24 * 3600)
        await world.wake()
        await world.make_pass()
    (one,) = await receivers(world.ports)
    assert (one.state, one.pending, one.dead, one.next) == ("dead", 0, 1, None)

    world.webhooks.answers = [OK]
    (dead,) = one.dead_events
    await redeliver_event(world.ports, dead)
    (again,) = await receivers(world.ports)
    await world.wake()

    assert (again.state, again.pending, again.dead) == ("waiting", 1, 0)
    assert await receivers(world.ports) == []


async def test_a_disabled_receiver_is_listed_although_nothing_is_on_its_way(world: World) -> None:
    await end_job(world, RECEIVER_GONE)

    (one,) = await receivers(world.ports)

    assert one.state == "disabled"
    assert one.since == world.now
    assert one.next is None


async def test_receivers_stand_by_address_and_each_has_its_own_events(world: World) -> None:
    for host in ("b", "a"):
        await end_job(world, *[BUSY] * 99, url=f"https://{host}.example.com/x")
        world.pass_time(timedelta(minutes=1).total_seconds())

    listed = await receivers(world.ports)

    assert [one.url.split("/")[2] for one in listed] == ["a.example.com", "b.example.com"]
    assert [one.pending for one in listed] == [1, 1]


async def test_the_breaker_of_this_process_is_shown_by_the_whole_address(world: World) -> None:
    url = f"{URL}?token=1"
    await end_job(world, *[BUSY] * 99, url=url)
    assert (await receivers(world.ports))[0].breaker is None
    while (state := world.ports.receivers.breaker.state(url, world.now)) is None:
        await end_job(world, *[BUSY] * 99, url=url)

    (one,) = await receivers(world.ports)

    assert (state.state, state.since) == ("open", world.now)
    breaker = ReceiverBreaker(state="open", since=state.since, until=state.until)
    assert one.breaker == breaker
    assert "token=1" not in one.url
    world.pass_time(3600)
    (one,) = await receivers(world.ports)
    assert one.breaker == breaker.model_copy(update={"state": "half-open"})


async def test_where_the_address_cannot_be_opened_any_more_the_receiver_is_listed_all_the_same(
    world: World,
) -> None:
    await end_job(world, *[BUSY] * 99, url=f"{URL}?token=1")
    world.use(seal=AesSeal([]))

    (one,) = await receivers(world.ports)

    assert (one.state, one.breaker) == ("failing", None)
