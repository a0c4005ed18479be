"""The calls that change a job while it waits."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from slipway.client.calls.wire import Calls, id_of

if TYPE_CHECKING:
    from slipway.client import shapes


class WaitingCalls(Calls):
    """What a client changes of a job that no cluster has yet; each may be repeated."""

    async def set_priority(self, job_id: str, level: str) -> shapes.JobDetail:
        """Give a job another priority, and return it as it is now. Raises Failure."""
        path, body = f"jobs/{id_of(job_id)}/priority", json.dumps({"priority": level})
        headers = {"Content-Type": "application/json"}
        answer: shapes.JobDetail = await self._json("POST", path, data=body, headers=headers)
        return answer

    async def pause_job(self, job_id: str, reason: str = "") -> shapes.JobDetail:
        """Pause a job, and return it as it is now. Raises Failure."""
        query = {"reason": reason} if reason else {}
        answer: shapes.JobDetail = await self._json("POST", f"jobs/{id_of(job_id)}/pause", params=query)
        return answer

    async def resume_job(self, job_id: str) -> shapes.JobDetail:
        """Let a paused job go on, and return it as it is now. Raises Failure."""
        answer: shapes.JobDetail = await self._json("POST", f"jobs/{id_of(job_id)}/resume")
        return answer
