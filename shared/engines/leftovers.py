"""What ended attempts have left in the directory that the nodes share. Only nodes may remove it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from shared.core.job import Target
from shared.engines.launch.layout import Layout
from shared.engines.records import Records

#: What the small jobs that remove it are called, or how their names begin. They have no token.
FORGET = "slipway-forget"
#: Attempts for each of them.
_MOST = 500


async def remove(
    records: Records, targets: Sequence[Target], send: Callable[[Sequence[Target]], Awaitable[bool]]
) -> frozenset[str]:
    """Have the nodes remove it; the names of the attempts of which something may be left.

    `send` starts a small job, unless enough of them are at work. Where the directory is seen from here, the
    next call finds what has gone. Elsewhere a job that was taken is trusted to remove what it was given.
    """
    remaining = await records.remaining(targets)
    candidates = list(targets) if remaining is None else remaining
    if candidates and await send(candidates[:_MOST]) and remaining is None:
        candidates = candidates[_MOST:]
    return frozenset(target.name for target in candidates)


def removal_plan(layout: Layout, targets: Sequence[Target], ends: str) -> dict[str, Any]:
    """What the program of such a job reads. `ends`: the directory for records of ends, "" for none."""
    attempts = [[layout.attempt(target), target.token] for target in targets]
    return {"attempts": attempts, "outputs": layout.shared, "ends": ends}
