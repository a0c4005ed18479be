"""redeliver: shows the events of a job, sends them again, and tests an address."""

from __future__ import annotations

import hashlib
import json
from datetime import datetime, timedelta
from typing import NamedTuple

from shared.answers.events import DeliveryTry, EventDelivery, JobEvent
from shared.core.caller import ADMIN, KEY_HOLDER, SUBMIT, Caller
from shared.core.errors import Misuse
from shared.core.notify import webhook_url
from shared.core.notify.cloudevents import cloud_event
from shared.core.notify.events import OF_OPERATORS, Delivery, Notice
from shared.core.notify.receivers import receiver_id
from shared.core.notify.webhook_url import DEFAULT, why_unsigned
from shared.core.policy import Policy
from shared.core.ports import Ports, Posted
from shared.delivery.deliver import QUEUE
from shared.jobspec import channel_of
from shared.lifecycle.lookup import archived
from shared.lifecycle.lookup import job as job_of
from shared.operate.receivers import address_of

_TEST = "io.slipway.test.v1"


async def events_of(ports: Ports, job_id: str, who: Caller = KEY_HOLDER) -> list[Notice]:
    """Every event of a job that has a receiver, in order, archived or not. Raises Misuse (404, 410)."""
    job = (await job_of(ports, job_id, who)).job
    if job.archived:
        return list((await archived(ports.archive, job)).events)
    return await ports.outbox.events(job_id)


async def redeliver_job(ports: Ports, job_id: str, who: Caller = KEY_HOLDER) -> list[Notice]:
    """Send every event of a job again, as `redeliver_event` does. Raises Misuse (404, 403, 409, 410)."""
    job = (await job_of(ports, job_id, who)).job
    who.may_change(job)
    if job.archived:
        raise Misuse(
            f"the events of {job_id} are archived, and are not sent again",
            status=410,
            remedy="read them: GET /api/jobs/{id}/events",
        )
    events = await ports.outbox.events(job_id)
    again = [notice for notice in events if any(map(_is_redelivered, notice.deliveries))]
    if not again:
        raise Misuse(f"{job_id} does not have a receiver", status=404, remedy="name one in `notify`")
    again = await _with_receivers(ports, again)
    for notice in again:
        await _restart(ports, notice)
    return again


async def redeliver_event(ports: Ports, event_id: str, who: Caller = KEY_HOLDER) -> Notice:
    """Send one event again, with the same id and bytes, to each of its addresses.

    A missing receipt or push notice is made up for. Raises Misuse (404, 403, 409).
    """
    who.needs(SUBMIT)  # before the search through the whole outbox
    notice = await ports.outbox.find(event_id)
    stored = await ports.ledger.get(notice.job_id) if notice is not None else None
    of_operators = notice is not None and notice.job_id.startswith(OF_OPERATORS)
    visible = ADMIN in who.roles if of_operators else stored is not None and who.sees(stored.job)
    if stored is not None and visible:
        who.may_change(stored.job)
    if notice is None or not visible or not any(map(_is_redelivered, notice.deliveries)):
        raise Misuse(
            f"there is no event {event_id[:80]}", status=404, remedy="list a job's: GET /api/jobs/{id}/events"
        )
    await _with_receivers(ports, [notice])
    await _restart(ports, notice)
    return notice


def _is_redelivered(delivery: Delivery) -> bool:
    """Whether a redelivery goes to this target: to any address, and to undelivered targets of Slipway's own.

    Delivered addresses are included, because a redelivery whose answer was lost may be repeated.
    """
    return delivery.webhook or delivery.state != "delivered"


async def _with_receivers(ports: Ports, notices: list[Notice]) -> list[Notice]:
    """The events with a receiver that is not disabled. Raises Misuse (409) if there is none."""
    disabled = {one.id for one in await ports.outbox.disabled()}
    notices_left = [
        notice
        for notice in notices
        if any(
            _is_redelivered(one) and receiver_id(address_of(ports.seal, one)) not in disabled
            for one in notice.deliveries
        )
    ]
    if not notices_left:
        raise Misuse(
            "the address is disabled, because it answered 410",
            status=409,
            remedy="first let it answer a test: POST /api/receivers/test",
        )
    return notices_left


async def _restart(ports: Ports, notice: Notice) -> None:
    now = ports.clock()
    deliveries = tuple(
        delivery.model_copy(update={"state": "pending", "try_count": 0, "due": now})
        if _is_redelivered(delivery)
        else delivery
        for delivery in notice.deliveries
    )
    # If the message is lost, the sweeper finds the event.
    due = now + timedelta(seconds=ports.policy.deliver_grace)
    await ports.outbox.revive(notice.model_copy(update={"deliveries": deliveries, "due": due, "since": now}))
    await ports.queues.send(QUEUE, json.dumps({"job": notice.job_id, "sequence": notice.sequence}))


async def send_test(ports: Ports, url: str, secret: str, key: str) -> Posted:
    """Send one signed event to an address now. An answer of 2xx enables an address that was disabled.

    The same `key` sends the same event, so that its receiver knows a repetition by the id. Raises Misuse for
    an address that no job may name, or a secret that is not configured.
    """
    if channel := channel_of(url):
        return await _test_channel(ports, url, channel, key)
    if (problem := webhook_url.refusal(url, ports.policy.urls)) is not None:
        raise Misuse(problem, remedy="see the rules for addresses in docs/reference/webhooks.md")
    if (why := why_unsigned(ports, secret or DEFAULT, url)) is not None:
        names = ", ".join(sorted(ports.secrets)) or "none"
        raise Misuse(why, remedy=f"name one of SLIPWAY_WEBHOOK_SECRETS, for its own hosts: {names}")
    secrets = ports.secrets[secret or DEFAULT]
    now = ports.clock()
    identity, body = _test_event(ports.policy, url, key, now)
    posted = await ports.webhooks.post(url, identity, body, secrets, now)
    await _enabled_by(ports, url, posted)
    return posted


async def _test_channel(ports: Ports, url: str, name: str, key: str) -> Posted:
    if name not in ports.policy.channels:
        names = ", ".join(sorted(ports.policy.channels)) or "none"
        raise Misuse(f"there is no channel named {name!r}", remedy=f"name one of SLIPWAY_CHANNELS: {names}")
    now = ports.clock()
    identity, body = _test_event(ports.policy, url, key, now)
    posted = await ports.channels.send(name, identity, body.decode(), now)
    await _enabled_by(ports, url, posted)
    return posted


async def _enabled_by(ports: Ports, url: str, posted: Posted) -> None:
    if posted.outcome == "delivered":
        await ports.outbox.enable(receiver_id(url))
        ports.receivers.enable(url)


class _TestEvent(NamedTuple):
    """An event that belongs to no job."""

    id: str
    body: bytes


def _test_event(policy: Policy, url: str, key: str, now: datetime) -> _TestEvent:
    identity = "evt_" + hashlib.sha256(f"{url}|{key}".encode()).hexdigest()[:26]
    data = {"message": "a test of this address"}
    subject = f"receivers/{receiver_id(url)}"
    body = cloud_event(id=identity, source=policy.source, type=_TEST, subject=subject, time=now, data=data)
    return _TestEvent(identity, body)


def shown(notice: Notice) -> JobEvent:
    """An event as the API shows it: each delivery with its receiver, time and answer."""
    targets = tuple(_delivery(delivery) for delivery in notice.deliveries if delivery.webhook)
    return JobEvent(
        id=notice.event_id,
        job=notice.job_id,
        sequence=notice.sequence,
        type=notice.type,
        state=notice.state,
        targets=targets,
    )


def _delivery(delivery: Delivery) -> EventDelivery:
    return EventDelivery(
        url=delivery.url,
        state=delivery.state,
        try_count=delivery.try_count,
        last=delivery.last,
        tries=tuple(
            DeliveryTry(at=one.at, status=one.status, ms=one.ms, detail=one.detail) for one in delivery.tries
        ),
        next=delivery.due if delivery.state == "pending" else None,
    )
