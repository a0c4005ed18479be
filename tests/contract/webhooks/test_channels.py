"""Messages for Slack and Teams at a real receiver: what arrives, and that what a job wrote stays text."""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime
from typing import Any

import pytest

from shared.adapters.webhook.channels import ChannelSender
from shared.core.errors import Misconfigured
from shared.core.notify.channels import Channel, Kind
from shared.core.notify.webhook_url import UrlPolicy
from shared.core.ports import Posted
from tests.contract.webhooks.webhook_world import CANARY, LOCAL, Answer, Receiver, receiver, reply, sender

PAGE = "https://app.example.com/api/ui/"
#: Markup of each service, as the name of a job and in what it printed.
HOSTILE = (
    "<!channel> <@U1> <https://evil.example.com|safe> *b* `c` [x](https://evil.example.com) <at>Ann</at> "
    '**b** # h {"type": "Action.OpenUrl"} ${x} {{DATE(2026-01-01T00:00:00Z)}} \u202e\r\n- i'
)
KINDS: list[Kind] = ["slack", "teams"]


def event(**data: Any) -> str:
    return json.dumps(
        {"type": "io.slipway.job.failed.v1", "subject": "jobs/j_1", "data": {"name": "mnist-2", **data}}
    )


async def posted_to(
    kind: Kind, answer: Answer, written: str, *, policy: UrlPolicy = LOCAL, url: str = ""
) -> tuple[Posted, Receiver]:
    async with receiver(answer) as remote, sender(policy) as webhooks:
        address = url or f"{remote.url}?sig={CANARY}"
        channels = ChannelSender(webhooks, {"ops": Channel(kind, address)}, PAGE)
        return await channels.send("ops", "evt_abc", written, datetime.now(UTC)), remote


def every(value: Any, name: str) -> list[Any]:
    """Each member of this name, at any depth."""
    if isinstance(value, list):
        return [one for item in value for one in every(item, name)]
    if not isinstance(value, dict):
        return []
    own = [value[name]] if name in value else []
    return own + [one for item in value.values() for one in every(item, name)]


@pytest.mark.parametrize("kind", KINDS)
async def test_a_message_arrives_with_its_facts_a_link_and_the_id_of_the_event(kind: Kind) -> None:
    posted, remote = await posted_to(kind, reply(202), event(lastError="ValueError: x"))

    assert (posted.outcome, posted.status) == ("delivered", 202)
    (body,) = remote.bodies
    assert remote.headers()["content-type"] == "application/json; charset=utf-8"
    assert remote.headers()["webhook-id"] == "evt_abc"
    assert "webhook-signature" not in remote.headers()
    texts = json.dumps(every(json.loads(body), "text"))
    for text in ("mnist-2: failed", "j_1", "ValueError: x"):
        assert text in texts
    assert every(json.loads(body), "url") == [f"{PAGE}#/jobs/j_1"]


@pytest.mark.parametrize("kind", KINDS)
async def test_what_a_job_wrote_is_shown_as_it_is_and_no_more(kind: Kind) -> None:
    hostile = dict.fromkeys(("name", "experiment", "message", "lastError"), HOSTILE * 60)

    _, remote = await posted_to(kind, reply(200), event(**hostile))

    (body,) = remote.bodies
    assert len(body) < 28_000  # what Teams takes
    document = json.loads(body)
    # plain text of Slack and runs of Teams have no markup; Slack reads the short form of the title
    types = {"plain_text", "TextRun"}
    holders = [one for one in _objects(document) if isinstance(one.get("text"), str) and one is not document]
    assert holders
    assert {one["type"] for one in holders} <= types
    assert every(document, "url") == [f"{PAGE}#/jobs/j_1"]
    assert not {"TextBlock", "FactSet", "mrkdwn"} & {str(one) for one in every(document, "type")}
    assert not set("<>") & set(document.get("text", ""))
    assert all(len(one["text"]) <= 3000 for one in holders)


def _objects(value: Any) -> list[dict[str, Any]]:
    if isinstance(value, list):
        return [one for item in value for one in _objects(item)]
    if not isinstance(value, dict):
        return []
    return [value, *(one for item in value.values() for one in _objects(item))]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("answer", "outcome"),
    [(reply(410), "retry"), (reply(429, "Retry-After: 7\r\n"), "retry"), (reply(500), "retry")],
)
async def test_answers_mean_what_those_of_webhooks_mean(
    kind: Kind, answer: Answer, outcome: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)

    posted, _ = await posted_to(kind, answer, event())

    assert posted.outcome == outcome
    assert posted.retry_after == (7 if posted.status == 429 else None)
    assert CANARY not in f"{posted}{caplog.text}"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("url", ["http://127.0.0.1:{}/", "https://10.0.0.1/", "https://localhost/"])
async def test_an_address_of_an_inner_network_is_not_called(kind: Kind, url: str) -> None:
    posted, remote = await posted_to(kind, reply(200), event(), policy=UrlPolicy(), url=url.format(9))

    assert (posted.outcome, remote.connections) == ("refused", 0)


async def test_a_channel_that_the_settings_do_not_have_is_named() -> None:
    async with sender() as webhooks:
        with pytest.raises(Misconfigured, match="SLIPWAY_CHANNELS does not name the channel 'ops'"):
            await ChannelSender(webhooks, {}, PAGE).send("ops", "evt_abc", event(), datetime.now(UTC))
