"""announce: the events by which operators learn that a condition begins or ends.

They go the way of every event: through the outbox, at least once, on the schedule of deliveries. The last
event of a condition is its state, so that any process knows what was announced, and a crash announces nothing
twice: the row of an event is one write, under an id that follows from the condition and a number.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Collection
from datetime import UTC, datetime
from functools import partial

from shared.admission.pauses import standing
from shared.core.ledger.entries import Active
from shared.core.notify.cloudevents import cloud_event, event_id
from shared.core.notify.events import OF_OPERATORS, Delivery, Notice
from shared.core.ports import Ports
from shared.delivery.deliver import deliver_now
from shared.lifecycle.operators.conditions import Condition, conditions_of

log = logging.getLogger(__name__)

_BEGAN, _ENDED = "io.slipway.operators.began.v1", "io.slipway.operators.ended.v1"
#: Seconds for which a process trusts what it knows of the events of a condition.
_GOOD = 900.0


async def announce(ports: Ports, rows: Collection[Active]) -> int:
    """Announce what has changed since the last events; how many are new. Costs nothing without a channel."""
    if not any(one.operators for one in ports.policy.channels.values()):
        return 0
    clusters = [f"{one.engine}/{name}" for name, one in ports.engines.clusters.items()]
    pause = (await standing(ports)).pause
    now = ports.clock()
    current = conditions_of(rows, ports.troubles.silent(), pause, clusters, now)
    notices: list[Notice] = []
    for key in sorted({*current.hold, *current.over}):
        condition = current.hold.get(key)
        last = await ports.memo.get(_memo(key), now, _GOOD, partial(_last, ports, key))
        if _is_announced(last, condition):
            continue
        last = await _last(ports, key)  # another process may have announced it
        if _is_announced(last, condition):
            ports.memo.put(_memo(key), now, last)
            continue
        notice = _notice(ports, key, condition, last, now)
        await ports.outbox.revive(notice)
        ports.memo.put(_memo(key), now, notice)
        notices.append(notice)
        log.warning("operators are told: %s", notice.type, extra={"action": "operators"})
    await deliver_now(ports, *notices)
    return len(notices)


def _is_announced(last: Notice | None, condition: Condition | None) -> bool:
    return (last is not None and last.type == _BEGAN) == (condition is not None)


def _memo(key: str) -> str:
    return f"operators|{key}"


def _identity(key: str) -> str:
    return OF_OPERATORS + hashlib.sha256(key.encode()).hexdigest()


async def _last(ports: Ports, key: str) -> Notice | None:
    """The last event of a condition; None if it never held."""
    return next(reversed(await ports.outbox.events(_identity(key))), None)


def _notice(
    ports: Ports, key: str, condition: Condition | None, last: Notice | None, now: datetime
) -> Notice:
    """The event of the beginning of a condition, or of the end of the one that began last."""
    type_, data = _BEGAN, {}
    if condition is not None:
        data = {"title": condition.title, "message": condition.message, "over": condition.over}
        data["since"] = _text(condition.since)
    elif last is not None:
        before = json.loads(last.body)["data"]
        type_ = _ENDED
        data = {"title": before["over"], "message": "It is over.", "since": before["since"]}
    identity, sequence = _identity(key), last.sequence + 1 if last is not None else 1
    event, subject = event_id(identity, sequence, type_), f"conditions/{identity}"
    body = cloud_event(id=event, source=ports.policy.source, type=type_, subject=subject, time=now, data=data)
    channels = [name for name, one in ports.policy.channels.items() if one.operators]
    return Notice(
        job_id=identity,
        sequence=sequence,
        event_id=event,
        type=type_,
        body=body.decode(),
        deliveries=tuple(Delivery(url=f"channel:{name}", due=now) for name in channels),
        due=now,
        since=now,
    )


def _text(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
