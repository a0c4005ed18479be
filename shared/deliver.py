"""deliver: bring recorded events to those who asked, then mark them. A crash in between sends the same again.

The bytes and the id of an event are frozen in its outbox row; each attempt is signed anew over those bytes.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Sequence
from datetime import datetime, timedelta

from shared.answers import put_final
from shared.backoff import RetryPolicy
from shared.errors import SlipwayError
from shared.events import NOTICES, RECEIPT, Delivery, Notice
from shared.meter import timed
from shared.ports import Ports

log = logging.getLogger(__name__)

#: The queue whose messages wake a retry up. The outbox row is the truth; a lost message costs only time.
QUEUE = "job-events"
_SCHEDULE = RetryPolicy()
#: What goes on after its function has returned; the loop itself keeps no task alive.
_under_way: set[asyncio.Task[None]] = set()


async def deliver(ports: Ports, job_id: str, sequence: int) -> Notice | None:
    """Deliver what is due of one event; None when nothing is left of it."""
    notice = await ports.ledger.notice(job_id, sequence)
    return await _deliver(ports, notice) if notice is not None else None


async def deliver_now(ports: Ports, *notices: Notice) -> int:
    """Deliver fresh events right after their commit, bounded in time; what is left over is queued."""
    left = await _within(ports, notices, ports.policy.deliver_deadline)
    await asyncio.gather(*(_wake(ports, notice, 0) for notice in left))
    return len(notices) - len(left)


async def deliver_at_door(ports: Ports, notice: Notice) -> None:
    """Deliver while somebody waits for our answer, with a short patience; what is under way then goes on.

    The outbox row stays until it is settled: a process that ends meanwhile costs a second delivery, no event.
    """
    task = asyncio.create_task(_one(ports, notice))
    done, _ = await asyncio.wait({task}, timeout=ports.policy.deliver_patience)
    if not done:
        _under_way.add(task)
        task.add_done_callback(_under_way.discard)


async def deliver_due(ports: Ports) -> int:
    """The safety net: outbox rows whose time has come and whose message never did. The next sweep goes on."""
    now = ports.clock()
    shards = await asyncio.gather(*(ports.ledger.undelivered(n, now) for n in range(ports.ledger.shards)))
    due = sorted((notice for shard in shards for notice in shard), key=lambda notice: notice.due)
    ports.meter.set("slipway.outbox.oldest", max(0.0, (now - due[0].due).total_seconds()) if due else 0.0)
    return len(due) - len(await _within(ports, due, ports.policy.deliver_deadline))


async def _within(ports: Ports, notices: Sequence[Notice], deadline: float) -> list[Notice]:
    """Deliver some at once, and go on until the deadline; returns those that were not reached.

    A POST is never cut off (it ends by itself): the receiver may have had the event already.
    """
    loop = asyncio.get_running_loop()
    end = loop.time() + deadline
    size = ports.policy.deliver_batch
    for at in range(0, len(notices), size):
        if loop.time() >= end:
            return list(notices[at:])
        await asyncio.gather(*(_one(ports, notice) for notice in notices[at : at + size]))
    return []


async def _one(ports: Ports, notice: Notice) -> None:
    try:
        await _deliver(ports, notice)
    except Exception:
        # One event must never stop the others; its row stays, and the sweep comes back to it.
        log.exception("delivery is left to the sweep: %s", notice.event_id, extra={"job": notice.job_id})


async def _deliver(ports: Ports, notice: Notice) -> Notice:
    now = ports.clock()
    targets = await asyncio.gather(*(_attempt(ports, notice, target, now) for target in notice.targets))
    pending = [target.due for target in targets if target.state == "pending"]
    after = notice.model_copy(update={"targets": tuple(targets), "due": min(pending, default=notice.due)})
    if pending:
        wait = max(0.0, (after.due - now).total_seconds())
        # The sweep looks a little later than the message, so that one of them does the work.
        later = now + timedelta(seconds=wait + ports.policy.deliver_grace)
        await ports.ledger.settle(after.model_copy(update={"due": later}))
        await _wake(ports, after, wait)
    else:
        await ports.ledger.settle(after)
    return after


async def _attempt(ports: Ports, notice: Notice, target: Delivery, now: datetime) -> Delivery:
    if target.state != "pending" or (target.attempts > 0 and target.due > now):
        return target
    try:
        if target.url == RECEIPT:
            await put_final(ports, notice.job_id)
        elif target.url == NOTICES:
            await ports.queues.send("job-notices", notice.body)
        else:
            return await _post(ports, notice, target, now)
    except SlipwayError as error:
        return _again(ports, notice, target, now, str(error)[:200], None)
    return target.model_copy(update={"state": "delivered", "attempts": target.attempts + 1, "last": "stored"})


@timed("slipway.deliver")
async def _post(ports: Ports, notice: Notice, target: Delivery, now: datetime) -> Delivery:
    url = target.url if target.sealed is None else ports.seal.unseal(target.sealed, target.place)
    secrets = ports.secrets.get(target.secret or "default", ())
    if not secrets:
        return _again(ports, notice, target, now, f"secret {target.secret!r} is not configured", None)
    posted = await ports.webhooks.post(url, notice.event_id, notice.body.encode(), secrets, now)
    ports.meter.add("slipway.deliveries", outcome=posted.outcome)
    fields = {
        "job": notice.job_id,
        "event": notice.event_id,
        "outcome": posted.outcome,
        "ms": posted.milliseconds,
    }
    log.info("webhook %s: %s %s", notice.event_id, posted.outcome, posted.detail, extra=fields)
    if posted.outcome == "delivered":
        return target.model_copy(
            update={"state": "delivered", "attempts": target.attempts + 1, "last": posted.detail}
        )
    if posted.outcome in ("gone", "refused"):
        return _dead(notice, target, posted.detail)
    return _again(ports, notice, target, now, posted.detail, posted.retry_after)


def _again(
    ports: Ports, notice: Notice, target: Delivery, now: datetime, why: str, retry_after: float | None
) -> Delivery:
    attempts = target.attempts + 1
    wait = _SCHEDULE.delay(attempts, retry_after=retry_after, jitter=ports.jitter())
    if wait is None:
        return _dead(notice, target, why)
    return target.model_copy(update={"attempts": attempts, "due": now + timedelta(seconds=wait), "last": why})


def _dead(notice: Notice, target: Delivery, why: str) -> Delivery:
    log.error("event %s is dead for %s: %s", notice.event_id, target.url, why, extra={"job": notice.job_id})
    return target.model_copy(update={"state": "dead", "attempts": target.attempts + 1, "last": why})


async def _wake(ports: Ports, notice: Notice, delay: float) -> None:
    body = json.dumps({"job": notice.job_id, "sequence": notice.sequence})
    await ports.queues.send(QUEUE, body, delay=delay)
