"""The calls that ask for the end of jobs."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from slipway.client.calls.keys import keyed, new_key
from slipway.client.calls.wire import Calls, id_of

if TYPE_CHECKING:
    from slipway.client import shapes


def _silent(rest: int) -> None:
    pass


class EndCalls(Calls):
    """What a client asks to end."""

    async def cancel_sweep(self, sweep_id: str) -> shapes.SweepDetail:
        """Cancel every job of a sweep. Raises Failure."""
        answer: shapes.SweepDetail = await self._json("POST", f"sweeps/{id_of(sweep_id)}/cancel")
        return answer

    async def cancel(self, job_id: str) -> shapes.JobDetail:
        """Cancel a job and return it as it is now. Raises Failure."""
        answer: shapes.JobDetail = await self._json("POST", f"jobs/{id_of(job_id)}/cancel")
        return answer

    async def cancel_jobs(
        self, conditions: Mapping[str, str], expected: int, progress: Callable[[int], None] = _silent
    ) -> shapes.CancelledJobs:
        """Cancel all jobs that fit, if they are so many; ask again while the time was short. Raises Failure.

        `progress` is told how many are left each time.
        """
        body = json.dumps({"conditions": dict(conditions), "expected": expected})
        key, before = new_key(), expected + 1
        while True:
            answer: shapes.CancelledJobs = await self._json(
                "POST", "jobs/cancel", data=body, headers=keyed(key)
            )
            rest = sum(1 for one in answer["refused"] if one.get("again"))
            if not 0 < rest < before:
                return answer
            before = rest
            progress(rest)

    async def release(self, job_id: str) -> shapes.JobDetail:
        """Give back the nodes that a failed job keeps, and return it as it is now. Raises Failure."""
        answer: shapes.JobDetail = await self._json("POST", f"jobs/{id_of(job_id)}/release")
        return answer
