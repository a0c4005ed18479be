"""active: every job that has not ended."""

from __future__ import annotations

import asyncio

from shared.core.ledger.entries import Active
from shared.core.ledger.ledger import Ledger


async def active_jobs(ledger: Ledger) -> list[Active]:
    """Read the rows of all shards at once, by one range query each."""
    shards = await asyncio.gather(*(ledger.active(shard) for shard in range(ledger.shards)))
    return [row for rows in shards for row in rows]
