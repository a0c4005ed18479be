"""release: gives back the nodes that a job keeps after its failure; it then ends as its command did."""

from __future__ import annotations

from shared.core.caller import KEY_HOLDER, Caller
from shared.core.errors import Misuse, Unavailable
from shared.core.job import Stored
from shared.core.ports import Ports
from shared.core.relations.hold import held_end
from shared.lifecycle.carry_out import request_end
from shared.lifecycle.hold.find_held import note_hold
from shared.lifecycle.hold.own_end import may_be_held
from shared.lifecycle.lookup import changeable


async def release(ports: Ports, job_id: str, who: Caller = KEY_HOLDER) -> Stored:
    """Request the end of a hold. A job that has ended, or is ending, stays as it is.

    Raises Misuse: 404, 403, and 409 for a job whose nodes are not kept.
    """
    for _ in range(5):
        stored = await changeable(ports, job_id, who)
        if may_be_held(stored.job):  # it may have failed since the last pass
            stored = await note_hold(ports, stored) or stored
        job = stored.job
        if held_end(job.hold) is None and not (job.state.terminal or job.cancel):
            raise Misuse(
                f"{job.id} is {job.state}, and does not keep its nodes after a failure",
                status=409,
                remedy=f"cancel it instead: slipway cancel {job.id}",
            )
        if (result := await request_end(ports, stored, who.name)) is not None:
            return result
    raise Unavailable(f"job {job_id} changes too quickly; ask again")
