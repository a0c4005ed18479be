"""The calls about jobs that have not ended: the ends of them, their nodes, and where their processes are."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from slipway.client.calls.keys import keyed, new_key
from slipway.client.calls.wire import Calls, id_of

if TYPE_CHECKING:
    from slipway.client import shapes


class ActiveCalls(Calls):
    """What a client asks of jobs that have not ended."""

    async def cancel(self, job_id: str) -> shapes.JobDetail:
        """Cancel a job and return it as it is now. Raises Failure."""
        answer: shapes.JobDetail = await self._json("POST", f"jobs/{id_of(job_id)}/cancel")
        return answer

    async def release(self, job_id: str) -> shapes.JobDetail:
        """Give back the nodes that a failed job keeps, and return it as it is now. Raises Failure."""
        answer: shapes.JobDetail = await self._json("POST", f"jobs/{id_of(job_id)}/release")
        return answer

    async def cancel_jobs(self, conditions: Mapping[str, str], expected: int) -> shapes.CancelledJobs:
        """Cancel all jobs that fit, if they are so many. Raises Failure."""
        body = json.dumps({"conditions": dict(conditions), "expected": expected})
        answer: shapes.CancelledJobs = await self._json(
            "POST", "jobs/cancel", data=body, headers=keyed(new_key())
        )
        return answer

    async def entry(self, job_id: str, rank: int) -> shapes.JobEntry:
        """Where the process of a rank runs now. Raises Failure."""
        body, headers = json.dumps({"rank": rank}), {"Content-Type": "application/json"}
        answer: shapes.JobEntry = await self._json(
            "POST", f"jobs/{id_of(job_id)}/entry", data=body, headers=headers
        )
        return answer
