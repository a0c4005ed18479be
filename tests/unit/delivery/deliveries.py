"""Deliveries without a ledger: events made by hand, an outbox and receivers that the test owns."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from datetime import timedelta

from shared.core.errors import Unavailable
from shared.core.notify.events import Delivery, Notice
from shared.core.notify.receivers import Disabled
from shared.core.ports import Posted
from tests.unit.delivery.test_deliver import OK
from tests.unit.world import World

A, B, HANGS = "https://a.example.com/x", "https://b.example.com/x", "https://hang.example.com"


@dataclass
class Outbox:
    """Rows by job and number, and every state in which they were left; `away` fails."""

    rows: dict[tuple[str, int], Notice] = field(default_factory=dict)
    settled: list[Notice] = field(default_factory=list)
    disabled_receivers: list[Disabled] = field(default_factory=list)
    reads: int = 0
    away: bool = False

    async def notice(self, job_id: str, sequence: int) -> Notice | None:
        return self.rows.get((job_id, sequence))

    async def settle(self, notice: Notice) -> None:
        if self.away:
            raise Unavailable("storage did not answer")
        self.settled.append(notice)

    async def disabled(self) -> list[Disabled]:
        self.reads += 1
        if self.away:
            raise Unavailable("storage did not answer")
        return self.disabled_receivers


@dataclass
class Hooks:
    """Each POST takes a turn of the loop; one to an address that holds `hang` waits until `held` is set."""

    answer: Posted = OK
    posts: list[str] = field(default_factory=list)
    held: asyncio.Event = field(default_factory=asyncio.Event)
    at_once: int = 0
    most_at_once: int = 0

    async def post(self, url: str, webhook_id: str, *_: object) -> Posted:
        self.posts.append(webhook_id)
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        await (self.held.wait() if "hang" in url else asyncio.sleep(0))
        self.at_once -= 1
        return self.answer


def notice(world: World, number: int, *urls: str, due: float = 0) -> Notice:
    deliveries = tuple(Delivery(url=url, due=world.now) for url in urls or (A,))
    named = {
        "job_id": f"j_{number}",
        "sequence": number,
        "event_id": f"evt_{number}",
        "type": "t",
        "body": "{}",
    }
    return Notice(**named, deliveries=deliveries, due=world.now + timedelta(seconds=due), since=world.now)


def woken(world: World) -> list[tuple[int, float]]:
    """Which events the queue brings back, and after how long."""
    return [
        (json.loads(body)["sequence"], delay)
        for queue, body, delay in world.queues.messages
        if queue == "job-events"
    ]
