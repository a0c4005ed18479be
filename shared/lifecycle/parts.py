"""parts: a sweep that is too long for one process is split, each part for a process that is free.

The timer sends a message for each part. A lease keeps two processes from the same part, and makes
accumulated messages cost nothing. If it fails to, two processes do the work of one.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from datetime import timedelta

from shared.core.errors import SlipwayError
from shared.core.messages import QUEUE, SweepPart, sweep_message
from shared.core.pacing.waits import WaitKind
from shared.core.ports import Ports
from shared.lifecycle.sweep import Swept, sweep

log = logging.getLogger(__name__)


async def begin(ports: Ports) -> Swept | None:
    """What the timer does: sweep, or with several parts say that each is to be swept. Raises Unavailable."""
    parts, now = ports.policy.sweep_parts, ports.clock()
    if parts == 1:
        return await sweep(ports)
    await asyncio.gather(
        *(ports.queues.send(QUEUE, sweep_message(part, parts, now)) for part in range(parts))
    )
    return None


async def sweep_part(ports: Ports, message: SweepPart) -> Swept | None:
    """Sweep one part, unless another process does, or did after this message was sent. Raises Unavailable."""
    if not 0 <= message.part < message.parts <= ports.ledger.shards:
        log.warning("there is no part %d of %d", message.part, message.parts)
        return None
    name, now = f"sweep-{message.part}-of-{message.parts}", ports.clock()
    until = now + ports.policy.longest(WaitKind.LEASE)
    # What the timer of a wrong clock sent seems to be old: then the part is swept less often, and not never.
    since = max(message.sent_at, now - ports.policy.longest(WaitKind.MESSAGE))
    token = await ports.leases.take(name, now, until, since)
    if token is None:
        return None
    try:
        swept = await sweep(ports, range(message.part, ports.ledger.shards, message.parts))
    except Exception:
        # Nothing was swept: the same message comes again, and must find the lease free.
        with suppress(SlipwayError):
            await ports.leases.release(name, token, message.sent_at - timedelta(seconds=1))
        raise
    await ports.leases.release(name, token, now)
    return swept
