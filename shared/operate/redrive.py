"""redrive: lists dead letters, and sends them on their way again."""

from __future__ import annotations

import json
from typing import Literal

from shared.answers.events import DeadOne
from shared.core.errors import Misuse
from shared.core.ledger.dead import DEAD_ID
from shared.core.notify.events import Notice
from shared.core.ports import Ports
from shared.intake.dead_letter import REDRIVE
from shared.operate.redeliver import redeliver_event


async def listed(ports: Ports) -> list[DeadOne]:
    """All dead letters, messages first, without the content of messages."""
    messages = [
        DeadOne(
            id=dead.id,
            kind="message",
            queue=dead.queue,
            since=dead.at,
            reason=dead.reason,
            sha256=dead.digest,
        )
        for dead in await ports.dead.all()
    ]
    return [*messages, *map(_event, await ports.outbox.dead())]


async def redrive(ports: Ports, identity: str) -> Literal["message", "event"]:
    """Send one dead message or event on its way again; returns its kind. Raises Misuse (404).

    A message is removed only after its door has handled it.
    """
    if identity.startswith("evt_"):
        await redeliver_event(ports, identity)
        return "event"
    dead = await ports.dead.get(identity) if DEAD_ID.fullmatch(identity) else None
    if dead is None:
        raise Misuse(
            f"there is no dead message or event with the id {identity[:80]!r}",
            status=404,
            remedy="list them: GET /api/dead",
        )
    await ports.queues.send(dead.queue, json.dumps({"type": REDRIVE, "dead": dead.id}))
    return "message"


def _event(notice: Notice) -> DeadOne:
    given_up = [delivery for delivery in notice.deliveries if delivery.state == "dead"]
    since = max((one.at for delivery in given_up for one in delivery.tries), default=notice.since)
    return DeadOne(
        id=notice.event_id,
        kind="event",
        job=notice.job_id,
        since=since,
        reason="; ".join(f"{delivery.url}: {delivery.last}" for delivery in given_up),
    )
