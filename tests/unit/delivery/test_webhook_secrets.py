"""Whose webhook secret signs: asked at every door when a job comes, and again at each signature."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from shared.core.caller import SUBMIT, Caller
from shared.core.errors import Misuse
from shared.core.job import JobState, Receiver
from shared.core.notify.events import Delivery, Notice
from shared.core.teams.document import Teams
from shared.delivery.try_delivery import try_delivery
from shared.intake.drops.drop import look_at_folder
from shared.intake.message import read_request
from shared.intake.request_door import request_arrived, request_explained, request_validated, sweep_requested
from shared.intake.rerun import rerun
from shared.intake.teams import with_teams
from shared.lifecycle.current_teams import forget_teams
from shared.operate.redeliver import send_test
from tests.unit.world import World, job_json

SEES = Caller("ann", frozenset({SUBMIT}))
URL = "https://hooks.example.com"
Problems = list[tuple[str, str]]


async def share(world: World, **owners: list[str]) -> None:
    """Two teams, ann's vision and speech; each owns these secrets."""
    stored = await world.ports.teams.get()
    teams = {
        "vision": {"members": [{"user": "ann"}], "folders": ["vision"]},
        "speech": {"members": [{"user": "bob"}], "folders": ["speech"]},
    }
    document = {name: {**team, "webhookSecrets": owners.get(name, [])} for name, team in teams.items()}
    put = await world.ports.teams.put(
        Teams.model_validate({"teams": document}), stored.etag if stored else ""
    )
    assert put is not None
    forget_teams(world.ports.memo)


def receiver_of(name: str, url: str = URL) -> dict[str, str]:
    """An address with the secret of that name; or a channel."""
    return {"url": name} if name.startswith("channel:") else {"url": url, "secret": name}


def asks(secret: str, url: str = URL, **members: Any) -> bytes:
    envelope = {"spec": job_json(), "notify": [receiver_of(secret, url)], **members}
    return json.dumps(envelope).encode()


def found_in(job: Any) -> Problems:
    return [(one["code"], one["message"]) for one in job.problems if one["severity"] == "error"]


async def by_http(world: World, secret: str) -> Any:
    request = read_request(asks(secret), world.ports.policy.limits)
    who = await with_teams(world.ports, SEES)
    key = world.ports.token()
    return (await request_arrived(world.ports, request, door="http", source=who.source, key=key, who=who)).job


async def by_queue(world: World, secret: str) -> Any:
    return (await world.message(json.loads(asks(secret, team="vision")), world.ports.token())).job


async def by_drop(world: World, secret: str) -> Any:
    folder = f"vision/{world.ports.token()}/"
    world.drops.upload(f"{folder}job.json", json.dumps(job_json()).encode())
    world.drops.upload(f"{folder}slipway.json", json.dumps({"notify": [receiver_of(secret)]}).encode())
    world.pass_time(60)
    (accepted,) = (await look_at_folder(world.ports, folder)).accepted
    return accepted.job


async def by_sweep(world: World, secret: str) -> Any:
    request = read_request(asks(secret, sweep={"lr": [1, 2]}), world.ports.policy.limits)
    who = await with_teams(world.ports, SEES)
    result = await sweep_requested(
        world.ports, request, door="http", source=who.source, key=world.ports.token(), name="", who=who
    )
    return result.rejected.job if result.rejected else result.accepted


ROADS: dict[str, Callable[[World, str], Awaitable[Any]]] = {
    "http": by_http,
    "queue": by_queue,
    "drop": by_drop,
    "sweep": by_sweep,
}


@pytest.mark.parametrize("road", ROADS)
async def test_a_secret_of_another_team_is_as_unknown_as_one_that_is_not_there(
    world: World, road: str
) -> None:
    await share(world, speech=["team"])

    theirs, none = await ROADS[road](world, "team"), await ROADS[road](world, "nobody")

    text = "there is no webhook secret named '{}' for jobs of this team"
    assert found_in(theirs) == [("SW104", text.format("team"))]
    assert found_in(none) == [("SW104", text.format("nobody"))]
    assert "default" not in json.dumps(theirs.problems)


@pytest.mark.parametrize("road", ROADS)
@pytest.mark.parametrize("owners", [{}, {"vision": ["team"]}, {"vision": ["team"], "speech": ["team"]}])
async def test_secrets_of_the_team_and_of_the_deployment_sign(
    world: World, road: str, owners: dict[str, list[str]]
) -> None:
    await share(world, **owners)

    job = await ROADS[road](world, "team")

    assert [one.secret for one in job.notify] == ["team"]
    assert (await signed(world, job.id, job.notify[0])).state == "delivered"


@pytest.mark.parametrize("road", ROADS)
async def test_each_signature_is_checked_again(world: World, road: str) -> None:
    await share(world, vision=["team"])
    job = await ROADS[road](world, "team")
    assert (await signed(world, job.id, job.notify[0])).state == "delivered"

    await share(world, speech=["team"])
    posts = len(world.webhooks.posts)
    after = await signed(world, job.id, job.notify[0])

    why = "not sent: there is no webhook secret named 'team' for jobs of this team"
    assert (after.state, after.last, len(world.webhooks.posts)) == ("dead", why, posts)
    world.policy(secret_hosts={"default": frozenset({"other.example.com"})})
    default = await signed(world, job.id, job.notify[0].model_copy(update={"secret": None}))
    assert (default.state, default.last) == (
        "dead",
        "not sent: the webhook secret 'default' is not for this address",
    )
    assert len(world.webhooks.posts) == posts


async def test_a_rerun_by_another_team_is_not_signed_by_the_secret_of_the_first(world: World) -> None:
    await share(world, vision=["team"])
    job = await by_http(world, "team")
    world.engine.set_state(world.engine.started[-1], JobState.SUCCEEDED)
    await world.make_pass()
    await share(world, speech=["team"])
    who = await with_teams(world.ports, SEES)

    again = (await rerun(world.ports, job.id, world.receipt(job), who=who, key="k")).job

    assert [code for code, _ in found_in(again)] == ["SW104"]


async def test_validate_and_explain_say_it(world: World) -> None:
    await share(world, speech=["team"])
    who = await with_teams(world.ports, SEES)
    request = read_request(asks("team"), world.ports.policy.limits)

    validated = await request_validated(world.ports, request, who)
    explained = await request_explained(world.ports, request, source=who.source, key=None, who=who)

    assert [one.code for one in validated.problems if one.severity == "error"] == ["SW104"]
    assert [one["code"] for one in explained["problems"] if one["severity"] == "error"] == ["SW104"]


async def test_a_wrong_team_shows_nothing_of_secrets(world: World) -> None:
    await share(world, speech=["team"])
    who = await with_teams(world.ports, SEES)
    shown = []
    for secret in ("team", "nobody"):
        request = read_request(asks(secret, team="speech"), world.ports.policy.limits)
        draft = await request_validated(world.ports, request, who)
        shown.append([one.code for one in draft.problems if one.severity == "error"])

    assert shown[0] == shown[1]


async def test_the_default_receivers_are_for_every_job(world: World) -> None:
    await share(world, speech=["team"])
    world.policy(default_notify=({"url": URL, "secret": "team"},))
    request = read_request(json.dumps({"spec": job_json()}).encode(), world.ports.policy.limits)
    who = await with_teams(world.ports, SEES)

    job = (await request_arrived(world.ports, request, door="http", source=who.source, key="k", who=who)).job

    assert (found_in(job), [one.secret for one in job.notify]) == ([], ["team"])
    assert (await signed(world, job.id, job.notify[0])).state == "delivered"


@pytest.mark.parametrize(
    ("url", "fits"), [(URL, True), ("https://HOOKS.example.com", True), ("https://a.example.com", False)]
)
async def test_a_secret_may_be_for_some_hosts_alone(world: World, url: str, fits: bool) -> None:
    world.policy(secret_hosts={"team": frozenset({"hooks.example.com"})})
    request = read_request(asks("team", url), world.ports.policy.limits)

    draft = await request_validated(world.ports, request)

    messages = [one.message for one in draft.problems if one.severity == "error"]
    assert messages == ([] if fits else ["the webhook secret 'team' is not for this address"])


async def test_only_an_operator_gets_the_names(world: World) -> None:
    with pytest.raises(Misuse) as refused:
        await send_test(world.ports, URL, "nobody", "k")
    assert str(refused.value.remedy).endswith("default, team")


async def signed(world: World, identity: str, receiver: Receiver) -> Delivery:
    """The delivery of an event of that job, or sweep, to its receiver."""
    named = receiver.model_dump(include={"url", "secret", "sealed", "context"})
    delivery = Delivery(**named, due=world.now)
    notice = Notice(
        job_id=identity,
        sequence=1,
        event_id="evt_1",
        type="t",
        body='{"type": "t", "subject": "jobs/j", "data": {}}',
        deliveries=(delivery,),
        due=world.now,
        since=world.now,
    )
    return await try_delivery(world.ports, notice, delivery, world.now)
