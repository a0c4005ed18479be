"""cancel: sets a flag on a record, which the sweeper passes to the engine until the job has ended."""

from __future__ import annotations

from shared.core.caller import KEY_HOLDER, Caller
from shared.core.errors import Unavailable
from shared.core.job import Stored
from shared.core.ports import Ports
from shared.lifecycle.carry_out import request_end
from shared.lifecycle.lookup import changeable


async def cancel(ports: Ports, job_id: str, who: Caller = KEY_HOLDER, *, request: str = "") -> Stored:
    """Request the end of a job. A job that has ended stays as it is. Raises Misuse (404, 403).

    `request`: the code of a request for many jobs.
    """
    for _ in range(5):
        stored = await changeable(ports, job_id, who)
        if (result := await request_end(ports, stored, who.name, request)) is not None:
            return result
    raise Unavailable(f"job {job_id} changes too quickly; ask again")
