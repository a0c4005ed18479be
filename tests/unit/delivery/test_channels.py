"""Channels of messages: named by jobs at every door, for their teams, and never with their address."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest

from shared.core.caller import SUBMIT, Caller
from shared.core.errors import Misuse
from shared.core.job import JobState
from shared.core.notify.channels import Channel
from shared.core.ports import Posted
from shared.core.trouble import OPERATOR_NEEDED
from shared.core.view import whole
from shared.intake.rerun import rerun
from shared.intake.teams import with_teams
from shared.operate.receivers import receivers
from shared.operate.redeliver import events_of, send_test, shown
from tests.unit.delivery.test_webhook_secrets import ROADS, found_in, share, signed
from tests.unit.world import World, job_json, rows_of

ADDRESS = "https://hooks.slack.com/services/Canary7Channel"
OPEN = Channel("slack", ADDRESS)
OWN = Channel("teams", ADDRESS, frozenset({"vision"}))
OF_OTHERS = Channel("slack", ADDRESS, frozenset({"speech"}))
CLOSED = Channel("slack", ADDRESS, frozenset())
UNKNOWN = "there is no channel named 'room' for jobs of this team"


@pytest.mark.parametrize("road", ROADS)
@pytest.mark.parametrize("channel", [OPEN, OWN], ids=["open", "own"])
async def test_a_job_names_a_channel_by_each_door(world: World, road: str, channel: Channel) -> None:
    await share(world)
    world.open_channels(room=channel)

    job = await ROADS[road](world, "channel:room")

    assert [(one.url, one.secret, one.sealed) for one in job.notify] == [("channel:room", None, None)]
    assert (await signed(world, job.id, job.notify[0])).state == "delivered"
    url, identity, body = world.webhooks.posts[-1]
    assert (url, identity) == (ADDRESS, "evt_1")
    assert json.loads(body)


@pytest.mark.parametrize("road", ROADS)
@pytest.mark.parametrize(
    "channels", [{}, {"room": OF_OTHERS}, {"room": CLOSED}], ids=["none", "theirs", "no jobs"]
)
async def test_a_channel_of_another_team_is_as_unknown_as_one_that_is_not_there(
    world: World, road: str, channels: dict[str, Channel]
) -> None:
    await share(world)
    world.open_channels(**channels)

    job = await ROADS[road](world, "channel:room")

    assert found_in(job) == [("SW104", UNKNOWN)]
    assert "Canary7" not in json.dumps(job.problems)


async def test_each_message_is_checked_again(world: World) -> None:
    await share(world)
    world.open_channels(room=OWN)
    job = await ROADS["http"](world, "channel:room")

    world.open_channels(room=OF_OTHERS)
    after = await signed(world, job.id, job.notify[0])

    assert (after.state, after.last, world.webhooks.posts) == ("dead", f"not sent: {UNKNOWN}", [])


async def test_a_channel_that_left_the_settings_costs_no_event(world: World) -> None:
    await share(world)
    world.open_channels(room=OPEN)
    job = await ROADS["http"](world, "channel:room")

    world.open_channels()
    after = await signed(world, job.id, job.notify[0])

    assert (after.state, after.try_count) == ("pending", 0)
    assert after.last == f"{OPERATOR_NEEDED}: SLIPWAY_CHANNELS does not name the channel 'room'"


async def test_the_default_receivers_are_for_every_job(world: World) -> None:
    await share(world)
    world.open_channels(room=CLOSED)
    world.policy(default_notify=({"url": "channel:room"},))

    job = (await world.message({"spec": job_json()}, "plain")).job

    assert [one.url for one in job.notify] == ["channel:room"]
    assert (await signed(world, job.id, job.notify[0])).state == "delivered"


async def test_the_whole_way_of_an_end_shows_no_address(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    await share(world)
    world.open_channels(room=OPEN)
    world.webhooks.answers = [Posted("retry", 500, "5xx", None, 1), Posted("gone", 410, "410", None, 1)]
    job = await ROADS["http"](world, "channel:room")
    world.engine.set_state(world.engine.started[-1], JobState.SUCCEEDED)
    await world.make_pass()
    world.pass_time(3600)
    await world.make_pass()

    (event,) = await events_of(world.ports, job.id)
    stored = await world.ports.ledger.get(job.id)
    assert stored is not None
    shown_texts = [
        repr(rows_of(world)),
        repr(stored.job),
        json.dumps(whole(stored.job)),
        shown(event).model_dump_json(),
        "".join(one.model_dump_json() for one in await receivers(world.ports)),
        caplog.text,
        repr(world.queues.messages),
    ]
    assert [url for url, _, _ in world.webhooks.posts] == [ADDRESS, ADDRESS]
    assert not [text for text in shown_texts if "Canary7" in text]


async def test_a_room_that_is_opened_again_gets_its_events(world: World) -> None:
    await share(world)
    world.open_channels(room=OPEN)
    world.webhooks.answers = [Posted("gone", 410, "410", None, 1), Posted("delivered", 200, "2xx", None, 1)]
    job = await ROADS["http"](world, "channel:room")
    world.engine.set_state(world.engine.started[-1], JobState.SUCCEEDED)
    await world.make_pass()
    world.pass_time(3600)
    await world.make_pass()

    (event,) = await events_of(world.ports, job.id)
    assert (event.deliveries[0].state, len(world.webhooks.posts)) == ("delivered", 2)
    assert await world.ports.outbox.disabled() == []
    with pytest.raises(Misuse, match="no channel named 'other'"):
        await send_test(world.ports, "channel:other", "", "k")


async def test_a_rerun_names_the_same_channel(world: World) -> None:
    await share(world)
    world.open_channels(room=OPEN)
    job = await ROADS["http"](world, "channel:room")
    world.engine.set_state(world.engine.started[-1], JobState.SUCCEEDED)
    await world.make_pass()

    who = await with_teams(world.ports, Caller("ann", frozenset({SUBMIT})))
    again: Any = await rerun(world.ports, job.id, world.receipt(job), who=who, key="k")

    assert [one.url for one in again.job.notify] == ["channel:room"]
