"""try_delivery: one try to deliver an event to one receiver, or the reason why none is made now."""

from __future__ import annotations

import logging
from collections.abc import Collection
from datetime import datetime, timedelta

from shared.core.errors import DEFECT, Misconfigured, SlipwayError, Unreadable
from shared.core.meter import timed
from shared.core.notify.channels import why_closed
from shared.core.notify.events import NOTICES, OF_OPERATORS, RECEIPT, Delivery, Notice, Try
from shared.core.notify.receivers import Disabled, receiver_id
from shared.core.notify.webhook_url import DEFAULT, why_unsigned
from shared.core.pacing.wait_kinds import WaitKind
from shared.core.ports import Ports, Posted
from shared.core.teams.teams_store import latest_teams
from shared.core.trouble import OPERATOR_NEEDED
from shared.delivery.receipt_files import put_final
from shared.jobspec import channel_of

log = logging.getLogger(__name__)

#: Seconds until the next try of a busy receiver, and of a delivery that only an operator can help.
_BUSY, _PARKED = 5.0, 300.0


async def try_delivery(ports: Ports, notice: Notice, delivery: Delivery, now: datetime) -> Delivery:
    """The delivery after a try, or after a reason against one. Storage and network errors are outcomes."""
    if delivery.state != "pending":
        return delivery
    if delivery.try_count and not ports.policy.is_over(WaitKind.TRY, delivery.due, now):
        return delivery
    try:
        if delivery.url == RECEIPT:
            await put_final(ports, notice.job_id)
        elif delivery.url == NOTICES:
            await ports.queues.send("job-notices", notice.body)
        else:
            return await _webhook(ports, notice, delivery, now)
    except Misconfigured as error:
        return _parked(ports, notice, delivery, now, str(error)[:200])
    except SlipwayError as error:
        return _retry(ports, notice, _count_try(delivery), now, str(error)[:200], None)
    except Exception:
        # Our own defect costs this delivery a try; if it were raised, the other deliveries would be lost.
        log.exception("event %s: a delivery failed", notice.event_id, extra={"job": notice.job_id})
        return _retry(ports, notice, _count_try(delivery), now, DEFECT, None)
    return _count_try(delivery).model_copy(update={"state": "delivered", "last": "stored"})


@timed("slipway.deliver")
async def _webhook(ports: Ports, notice: Notice, delivery: Delivery, now: datetime) -> Delivery:
    url = delivery.url if delivery.sealed is None else ports.seal.unseal(delivery.sealed, delivery.context)
    if (closed := await _disabled(ports, url)) is not None:
        return _dead(notice, delivery, f"not sent: disabled since {closed.since.isoformat()} ({closed.why})")
    channel, secret = channel_of(url), delivery.secret or DEFAULT
    why = await (_why_closed(ports, notice, url) if channel else _why_unsigned(ports, notice, secret, url))
    if why is not None:
        return _dead(notice, delivery, f"not sent: {why}")
    if wait := ports.receivers.breaker.wait(url, now):
        return _postpone(ports, notice, delivery, now, wait, "not sent: the receiver does not answer")
    if channel:
        posted = await ports.channels.send(channel, notice.event_id, notice.body, now)
    else:
        body, secrets = notice.body.encode(), ports.secrets[secret]
        posted = await ports.webhooks.post(url, notice.event_id, body, secrets, now)
    if posted.outcome == "busy":
        return _postpone(ports, notice, delivery, now, posted.retry_after or _BUSY, posted.detail)
    await _learn(ports, delivery, url, now, posted)
    _tell(ports, notice, posted)
    one = Try(at=now, status=posted.status, ms=posted.milliseconds, detail=posted.detail)
    if posted.outcome == "delivered":
        return delivery.with_try(one, state="delivered", last=posted.detail)
    delivery = delivery.with_try(one)
    if posted.outcome in ("gone", "refused"):
        return _dead(notice, delivery, posted.detail)
    return _retry(ports, notice, delivery, now, posted.detail, posted.retry_after)


async def _why_closed(ports: Ports, notice: Notice, url: str) -> str | None:
    """Why the event does not go into its channel. Reads its record only if the channel is for some teams.

    Raises Misconfigured for a channel that is not there.
    """
    channels, name = ports.policy.channels, channel_of(url)
    if name not in channels:
        raise Misconfigured(f"SLIPWAY_CHANNELS does not name the channel {name!r}")
    if channels[name].teams is None or notice.job_id.startswith(OF_OPERATORS):
        return None
    return why_closed(ports.policy, url, await _team(ports, notice.job_id))


async def _why_unsigned(ports: Ports, notice: Notice, secret: str, url: str) -> str | None:
    """Why the event is not signed for its address. Raises Misconfigured for a secret that is not there."""
    if not ports.secrets.get(secret):
        raise Misconfigured(f"SLIPWAY_WEBHOOK_SECRETS names no secret {secret!r}")
    return why_unsigned(ports, secret, url, await _of_others(ports, notice, secret))


async def _of_others(ports: Ports, notice: Notice, secret: str) -> Collection[str]:
    """The secrets of teams that the event's job is not in. Reads its record only if a team has this one."""
    try:
        teams = await latest_teams(ports.teams, ports.memo, ports.clock())
    except Unreadable as error:
        raise Misconfigured(str(error)) from error
    if not any(secret in team.webhook_secrets for team in teams.teams.values()):
        return ()
    return teams.secrets_of_others(await _team(ports, notice.job_id))


async def _team(ports: Ports, identity: str) -> str:
    """The team of a job, or of a job sweep; "" if its record is gone."""
    if sweep := await ports.job_sweeps.get(identity) if identity.startswith("s_") else None:
        return sweep.sweep.team
    stored = await ports.ledger.get(identity) if identity.startswith("j_") else None
    return stored.job.team if stored is not None else ""


async def _disabled(ports: Ports, url: str) -> Disabled | None:
    """Why the receiver is disabled, if it is: another process may have enabled it since this one looked."""
    if ports.receivers.disabled(url) is not None:
        ports.receivers.learn(await ports.outbox.disabled())
    return ports.receivers.disabled(url)


async def _learn(ports: Ports, delivery: Delivery, url: str, now: datetime, posted: Posted) -> None:
    """Apply the consequences of the answer for the receiver, beyond this event."""
    if posted.outcome == "retry":
        ports.receivers.breaker.failed(url, ports.clock(), pause=posted.retry_after)
        return
    ports.receivers.breaker.succeeded(url)
    if posted.outcome == "gone":
        one = Disabled(receiver_id(url), delivery.url, now, posted.detail)
        ports.receivers.disable(one)
        await ports.outbox.disable(one)


def _tell(ports: Ports, notice: Notice, posted: Posted) -> None:
    ports.meter.add("slipway.deliveries", outcome=posted.outcome)
    fields = {
        "job": notice.job_id,
        "event": notice.event_id,
        "outcome": posted.outcome,
        "ms": posted.milliseconds,
    }
    # The event's row records successes; a log line for each job would cost more than that.
    level = logging.DEBUG if posted.outcome == "delivered" else logging.INFO
    log.log(level, "webhook %s: %s %s", notice.event_id, posted.outcome, posted.detail, extra=fields)


def _count_try(delivery: Delivery) -> Delivery:
    return delivery.model_copy(update={"try_count": delivery.try_count + 1})


def _retry(
    ports: Ports, notice: Notice, delivery: Delivery, now: datetime, why: str, retry_after: float | None
) -> Delivery:
    """The next try of the schedule."""
    wait = ports.policy.schedule.delay(delivery.try_count, retry_after=retry_after, jitter=ports.jitter())
    if wait is None:
        return _dead(notice, delivery, why)
    return delivery.model_copy(update={"due": now + timedelta(seconds=wait), "last": why})


def _parked(ports: Ports, notice: Notice, delivery: Delivery, now: datetime, why: str) -> Delivery:
    """Wrong settings of ours cost no try; the delivery is repeated until they are corrected."""
    if ports.troubles.report("settings", "deliveries", why):
        log.error("event %s %s: %s", notice.event_id, OPERATOR_NEEDED, why, extra={"job": notice.job_id})
    return _postpone(ports, notice, delivery, now, _PARKED, f"{OPERATOR_NEEDED}: {why}")


def _postpone(
    ports: Ports, notice: Notice, delivery: Delivery, now: datetime, wait: float, why: str
) -> Delivery:
    """Postpone without counting a try. An event that could not be tried during its whole life is given up."""
    schedule = ports.policy.schedule
    if now - notice.since > schedule.life:
        return _dead(notice, delivery, why)
    due = now + timedelta(seconds=schedule.hold(wait, ports.jitter()))
    return delivery.model_copy(update={"due": due, "last": why})


def _dead(notice: Notice, delivery: Delivery, why: str) -> Delivery:
    log.error("event %s is dead for %s: %s", notice.event_id, delivery.url, why, extra={"job": notice.job_id})
    return delivery.model_copy(update={"state": "dead", "last": why})
