"""Removes what ended attempts have left in the nodes' shared directory. Only nodes can remove it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from shared.core.job import Target
from shared.engines.launch.layout import Layout
from shared.engines.shared_records import Records

#: The name, or its prefix, of the small jobs that remove it. They have no token.
FORGET = "slipway-forget"
#: Attempts for each such job.
_MOST = 500


async def remove(
    records: Records, targets: Sequence[Target], send: Callable[[Sequence[Target]], Awaitable[bool]]
) -> frozenset[str]:
    """Let the nodes remove them. Returns the names of attempts that may have leftovers.

    `send` starts a small job, unless enough of them run. If this app sees the directory, the next call finds
    out what is gone; otherwise an accepted job is assumed to remove everything.
    """
    remaining = await records.remaining(targets)
    candidates = list(targets) if remaining is None else remaining
    if candidates and await send(candidates[:_MOST]) and remaining is None:
        candidates = candidates[_MOST:]
    return frozenset(target.name for target in candidates)


def removal_plan(layout: Layout, targets: Sequence[Target], ends: str) -> dict[str, Any]:
    """The plan for the program of such a job. `ends`: the directory for records of ends, "" for none."""
    attempts = [[layout.attempt(one), one.token, layout.saved(one.job_id)] for one in targets]
    return {"attempts": attempts, "outputs": layout.shared, "ends": ends}
