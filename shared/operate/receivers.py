"""receivers: which receivers take no events, and since when, from the ledger and this process's breakers."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import chain
from typing import NamedTuple

from shared.answers.events import ReceiverBreaker, ReceiverState
from shared.core.errors import SlipwayError
from shared.core.notify.events import Delivery, Notice, Try
from shared.core.notify.receivers import Disabled
from shared.core.ports import Ports, Seal

#: How many dead events of a receiver are named; the others are counted.
_NAMED = 50


class _Way(NamedTuple):
    """A delivery to one receiver."""

    event_id: str
    delivery: Delivery


async def receivers(ports: Ports) -> list[ReceiverState]:
    """Every receiver with undelivered events, and every disabled one, by address.

    One range query for each shard, one over the dead events and one over the disabled receivers.
    """
    longest = ports.policy.longest_delivery_wait
    horizon = ports.clock() + longest
    shards = (ports.outbox.undelivered(shard, horizon, longest) for shard in range(ports.outbox.shards))
    pending, dead, disabled = await asyncio.gather(
        asyncio.gather(*shards), ports.outbox.dead(), ports.outbox.disabled()
    )
    ways = _by_url(chain(*pending, dead))
    switched_off = {one.url: one for one in disabled}
    return [
        _state(url, own, switched_off.get(url), _breaker(ports, own))
        for url, own in ((url, ways.get(url, [])) for url in sorted({*ways, *switched_off}))
    ]


def _breaker(ports: Ports, ways: Sequence[_Way]) -> ReceiverBreaker | None:
    """The breaker of a receiver. If several addresses are shown alike, the one that waits longest."""
    now, breaker = ports.clock(), ports.receivers.breaker
    addresses = {address_of(ports.seal, way.delivery) for way in ways if way.delivery.state == "pending"}
    opened = (breaker.state(one, now) for one in addresses)
    last = max((one for one in opened if one is not None), key=lambda one: one.until, default=None)
    return ReceiverBreaker(state=last.state, since=last.since, until=last.until) if last else None


def address_of(seal: Seal, delivery: Delivery) -> str:
    """The whole address; "" if it can no longer be opened, so it is never tried and has no breaker."""
    if delivery.sealed is None:
        return delivery.url
    try:
        return seal.unseal(delivery.sealed, delivery.context)
    except SlipwayError:
        return ""


def _by_url(notices: Iterable[Notice]) -> dict[str, list[_Way]]:
    """Undelivered deliveries, by address. A row that is both pending and dead counts once."""
    ways: dict[str, dict[str, _Way]] = defaultdict(dict)
    for notice in notices:
        for delivery in notice.deliveries:
            if delivery.webhook and delivery.state != "delivered":
                ways[delivery.url].setdefault(notice.event_id, _Way(notice.event_id, delivery))
    return {url: list(events.values()) for url, events in ways.items()}


def _state(
    url: str, ways: Sequence[_Way], disabled: Disabled | None, breaker: ReceiverBreaker | None
) -> ReceiverState:
    pending = [way.delivery for way in ways if way.delivery.state == "pending"]
    dead = [way for way in ways if way.delivery.state == "dead"]
    failing = [delivery for delivery in pending if delivery.try_count and delivery.tries]
    tries = sorted((one for delivery in failing for one in delivery.tries[-delivery.try_count :]), key=_time)
    newest = sorted(dead, key=lambda way: max(map(_time, way.delivery.tries), default=way.delivery.due))
    since = disabled.since if disabled else tries[0].at if tries else None
    return ReceiverState(
        url=url,
        state="disabled" if disabled else "failing" if failing else "dead" if dead else "waiting",
        since=since,
        next=None if disabled else min((delivery.due for delivery in pending), default=None),
        last=disabled.why if disabled else _last(tries, newest),
        pending=len(pending),
        dead=len(dead),
        dead_events=tuple(way.event_id for way in reversed(newest[-_NAMED:])),
        breaker=breaker,
    )


def _last(tries: Sequence[Try], dead: Sequence[_Way]) -> str:
    """The last known answer, as a sentence."""
    if tries:
        return tries[-1].detail or str(tries[-1].status or "")
    return dead[-1].delivery.last if dead else ""


def _time(one: Try) -> datetime:
    return one.at
