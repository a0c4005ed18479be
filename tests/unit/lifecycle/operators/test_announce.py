"""What operators learn: the beginning and the end of each condition, once, and again after every crash."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from shared.admission.pauses import pause, resume
from shared.core.engine import Why
from shared.core.errors import Misconfigured, Transient
from shared.core.job import JobState
from shared.core.notify.channels import Channel
from shared.core.pacing.memo import Memo
from shared.core.ports import Posted
from shared.operate.redeliver import redeliver_event
from shared.operate.redrive import listed
from tests.unit.world import World, job_json, rows_of

ADDRESS = "https://hooks.slack.com/services/Canary7Channel"
OPS = Channel("slack", ADDRESS, frozenset(), operators=True)
JOB = {"spec": job_json(), "notify": [{"url": "https://hooks.example.com"}]}


def titles(world: World) -> list[str]:
    """Those of the messages that came into the channel."""
    return [json.loads(body)["text"] for url, _, body in world.webhooks.posts if url == ADDRESS]


async def passes(world: World, minutes: int) -> None:
    for _ in range(minutes):
        await world.make_pass(60)


async def silent(world: World) -> None:
    world.engine.fail = [Transient("reset") for _ in range(1000)]


async def answers(world: World) -> None:
    world.engine.fail = []
    world.use(breaker=type(world.ports.breaker)())


async def paused(world: World) -> None:
    await pause(world.ports, "ann", "an upgrade")


async def resumed(world: World) -> None:
    await resume(world.ports, "ann")


def waits(why: Why | None) -> Callable[[World], Awaitable[None]]:
    async def act(world: World) -> None:
        world.engine.set_state(world.engine.started[-1], JobState.QUEUED, why=why)

    return act


CASES: dict[str, tuple[Any, Any, list[str]]] = {
    "silent": (silent, answers, ["The cluster dev does not answer", "The cluster dev answers again"]),
    "paused": (paused, resumed, ["Submissions are paused", "Submissions go on"]),
    "scarce": (
        waits(Why("Quota", "no cores", lacks_capacity=True)),
        waits(None),
        ["Jobs lack capacity on dev", "Jobs have capacity on dev again"],
    ),
}


@pytest.mark.parametrize("name", CASES)
async def test_a_condition_is_announced_when_it_has_lasted_and_when_it_is_over(
    world: World, name: str
) -> None:
    begin, end, expected = CASES[name]
    world.open_channels(ops=OPS, room=Channel("slack", "https://other.example.com"))
    await world.message(JOB)
    await passes(world, 2)
    assert titles(world) == []

    await begin(world)
    await passes(world, 30)
    assert titles(world) == expected[:1]
    await end(world)
    await passes(world, 30)

    assert titles(world) == expected
    assert len({identity for url, identity, _ in world.webhooks.posts if url == ADDRESS}) == 2
    assert "other.example.com" not in {url for url, _, _ in world.webhooks.posts}


@pytest.mark.parametrize("name", CASES)
async def test_a_condition_that_comes_again_is_announced_again(world: World, name: str) -> None:
    begin, end, expected = CASES[name]
    world.open_channels(ops=OPS)
    await world.message(JOB)
    await passes(world, 2)

    for _ in range(2):
        await begin(world)
        await passes(world, 30)
        await end(world)
        await passes(world, 30)

    assert titles(world) == [*expected, *expected]


async def test_a_short_silence_is_not_worth_a_message(world: World) -> None:
    world.open_channels(ops=OPS)
    await world.message(JOB)
    await passes(world, 2)
    await silent(world)
    await passes(world, 3)
    await answers(world)
    await passes(world, 10)

    assert titles(world) == []


async def test_a_deployment_that_has_to_be_mended_is_announced(world: World) -> None:
    world.open_channels(ops=OPS)
    world.engine.fail = [Misconfigured("no role on the workspace") for _ in range(99)]
    await world.message(JOB)
    await passes(world, 4)
    assert titles(world) == [], "it may be mended in a minute"
    await passes(world, 2)
    assert titles(world) == ["Jobs wait for the deployment to be mended"]

    world.engine.fail = []
    await passes(world, 30)
    assert titles(world)[1:] == ["The deployment is mended"]


async def test_another_process_announces_nothing_again_and_the_end_of_what_it_did_not_see(
    world: World,
) -> None:
    world.open_channels(ops=OPS)
    await paused(world)
    await passes(world, 1)
    assert titles(world) == ["Submissions are paused"]

    world.use(memo=Memo())
    await passes(world, 20)
    world.use(memo=Memo())
    await resumed(world)
    await passes(world, 2)

    assert titles(world) == ["Submissions are paused", "Submissions go on"]


async def test_a_message_that_fails_is_tried_again_and_given_up_ones_are_listed_and_sent_again(
    world: World,
) -> None:
    world.open_channels(ops=OPS)
    world.webhooks.answers = [Posted("retry", 500, "5xx", None, 1), Posted("refused", 413, "4xx", None, 1)]
    await paused(world)
    await passes(world, 20)

    (dead,) = await listed(world.ports)
    assert (dead.kind, dead.reason) == ("event", "channel:ops: 4xx")
    assert "Canary7" not in repr(rows_of(world))

    world.webhooks.answers = [Posted("delivered", 200, "2xx", None, 1)]
    await redeliver_event(world.ports, dead.id)
    await passes(world, 2)
    assert len({identity for _, identity, _ in world.webhooks.posts}) == 1
    assert await listed(world.ports) == []


async def test_without_a_channel_of_operators_nothing_is_read_or_written(world: World) -> None:
    world.open_channels(room=Channel("slack", ADDRESS))
    await paused(world)
    before = len(rows_of(world))

    await passes(world, 2)

    assert (titles(world), len(rows_of(world))) == ([], before)
