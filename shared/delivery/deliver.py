"""deliver: send recorded events to their receivers, then mark them; after a crash in between, again.

The bytes and the id of an event are frozen in its outbox row; each try is signed anew over those bytes.

A hung receiver blocks no other: each receiver has a lane of its own, and deliveries still open after a
short patience continue while their function returns. The outbox row stays until it is settled, so that a
process that ends meanwhile causes a second delivery and never loses an event.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections import defaultdict, deque
from collections.abc import Coroutine, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeVar

from shared.core.errors import SlipwayError, quoted
from shared.core.notify.events import Delivery, Notice
from shared.core.notify.queues import Queues
from shared.core.notify.receivers import Receivers
from shared.core.ports import Ports
from shared.delivery.try_delivery import try_delivery

log = logging.getLogger(__name__)
T = TypeVar("T")

#: The queue with messages that wake up a retry. The outbox row decides; a lost message only costs time.
QUEUE = "job-events"


@dataclass
class _Progress:
    """Whether any delivery has ended since the last check."""

    advanced: bool = False


async def deliver(ports: Ports, job_id: str, sequence: int) -> Notice | None:
    """Deliver the due deliveries of one event; None when it is settled, or continues in the background."""
    if ports.receivers.any_disabled:
        await _learn(ports)
    notice = await ports.outbox.notice(job_id, sequence)
    if notice is None:
        return None
    return await _patiently(ports, _deliver(ports, notice))


async def deliver_now(ports: Ports, *notices: Notice) -> None:
    """Deliver new events right after their commit, for a bounded time; the rest is queued."""
    remaining = await _reach(ports, notices, ports.policy.deliver_deadline)
    await asyncio.gather(*(_wake(ports.queues, notice, 0) for notice in remaining))


async def deliver_at_door(ports: Ports, notice: Notice) -> None:
    """Deliver while a caller waits for the response. Errors are left to the sweeper."""
    await _patiently(ports, _one(ports, notice))


async def deliver_due(ports: Ports, events: Iterable[Notice]) -> int:
    """Deliver due events that no message woke up. The next pass continues."""
    await _learn(ports)
    now = ports.clock()
    due = sorted(events, key=lambda notice: notice.due)
    oldest = max(0.0, (now - due[0].due).total_seconds()) if due else 0.0
    ports.meter.set("slipway.outbox.oldest", oldest)
    return len(due) - len(await _reach(ports, due, ports.policy.deliver_deadline))


async def finish(ports: Ports) -> None:
    """Wait for deliveries that continue in the background."""
    while tasks := ports.receivers.tasks:
        await asyncio.gather(*tasks, return_exceptions=True)


async def _learn(ports: Ports) -> None:
    """Read, every few minutes, which receivers are disabled."""
    if not ports.receivers.stale(ports.clock()):
        return
    try:
        ports.receivers.learn(await ports.outbox.disabled())
    except SlipwayError as error:
        log.warning("the list of disabled receivers could not be refreshed: %s", error)


async def _reach(ports: Ports, notices: Sequence[Notice], deadline: float) -> list[Notice]:
    """Deliver in lanes until the deadline, or until nothing progresses; returns events not started.

    A POST is never aborted (it ends by itself), because the receiver may already have the event.
    """
    lanes: dict[tuple[str, ...], deque[Notice]] = defaultdict(deque)
    for notice in notices:
        lanes[tuple(one.url for one in notice.deliveries if one.webhook)].append(notice)
    progress = _Progress()
    running = {
        asyncio.create_task(_work(ports, lane, progress))
        for lane in lanes.values()
        for _ in range(min(ports.policy.deliver_batch, len(lane)))
    }
    loop = asyncio.get_running_loop()
    end = loop.time() + deadline
    while running and loop.time() < end:
        progress.advanced = False
        _, running = await asyncio.wait(running, timeout=ports.policy.deliver_patience)
        if not progress.advanced:
            break
    remaining = [notice for lane in lanes.values() for notice in lane]
    for lane in lanes.values():
        lane.clear()
    for task in running:
        _leave(ports.receivers, task)
    return remaining


async def _work(ports: Ports, lane: deque[Notice], progress: _Progress) -> None:
    """A worker of a lane: one event after the other, until none is left."""
    while lane:
        await _one(ports, lane.popleft())
        progress.advanced = True


async def _one(ports: Ports, notice: Notice) -> None:
    try:
        await _deliver(ports, notice)
    except (SlipwayError, TimeoutError) as error:
        event, why = notice.event_id, quoted(error)
        log.warning("delivery is left to the sweeper: %s: %s", event, why, extra={"job": notice.job_id})
    except Exception:
        # One event must not stop the others. Its row stays, and the sweeper tries again.
        log.exception("delivery is left to the sweeper: %s", notice.event_id, extra={"job": notice.job_id})


async def _patiently(ports: Ports, work: Coroutine[Any, Any, T]) -> T | None:
    """The result of some work, or None if it continues in the background."""
    task = asyncio.create_task(work)
    finished, _ = await asyncio.wait({task}, timeout=ports.policy.deliver_patience)
    if finished:
        return task.result()
    _leave(ports.receivers, task)
    return None


def _leave(receivers: Receivers, task: asyncio.Task[Any]) -> None:
    """Let the work continue in the background; the outbox row records its outcome."""
    receivers.tasks.add(task)
    task.add_done_callback(receivers.tasks.discard)
    task.add_done_callback(_log_error)


def _log_error(task: asyncio.Task[Any]) -> None:
    """Log the error of a delivery that no function waits for."""
    if not task.cancelled() and (error := task.exception()) is not None:
        log.error("a delivery is left to the sweeper", exc_info=error)


async def _deliver(ports: Ports, notice: Notice) -> Notice:
    """One round of an event, unless another one is running, which settles it."""
    if notice.event_id in ports.receivers.under_way:
        return notice
    ports.receivers.under_way.add(notice.event_id)
    try:
        return await _round(ports, notice)
    finally:
        ports.receivers.under_way.discard(notice.event_id)


async def _round(ports: Ports, notice: Notice) -> Notice:
    now = ports.clock()
    deliveries = await _after_tries(ports, notice, now)
    pending = [one.due for one in deliveries if one.state == "pending"]
    due = min(pending, default=notice.due)
    after = notice.model_copy(update={"deliveries": tuple(deliveries), "due": due})
    if pending:
        # The sweeper is due a little later than the message, so that only one of them does the work.
        later = after.due + timedelta(seconds=ports.policy.deliver_grace)
        await ports.outbox.settle(after.model_copy(update={"due": later}))
        await _wake(ports.queues, after, (after.due - now).total_seconds())
    else:
        await ports.outbox.settle(after)
    return after


async def _after_tries(ports: Ports, notice: Notice, now: datetime) -> list[Delivery]:
    """The deliveries after one try each, all at once; a single one needs no task."""
    if len(notice.deliveries) == 1:
        return [await try_delivery(ports, notice, notice.deliveries[0], now)]
    return await asyncio.gather(*(try_delivery(ports, notice, one, now) for one in notice.deliveries))


async def _wake(queues: Queues, notice: Notice, delay: float) -> None:
    body = json.dumps({"job": notice.job_id, "sequence": notice.sequence})
    await queues.send(QUEUE, body, delay=delay)
