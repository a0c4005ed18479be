"""pause: keeps one job that waits from being submitted, until a person resumes it.

Meanwhile it has no part of its team's quota, which others can use; after it is resumed, it claims it again.
"""

from __future__ import annotations

from shared.admission.gates import World, reason
from shared.admission.reason import waiting
from shared.admission.sentences import why_own_pause
from shared.core.caller import KEY_HOLDER, Caller
from shared.core.job import Stored, plain
from shared.core.ledger.entries import Change
from shared.core.ports import Ports
from shared.core.relations.contents import OwnPause
from shared.lifecycle.transition import note
from shared.lifecycle.waiting.dependents import quotas_of
from shared.operate.waiting.change import change_waiting, check_waiting


async def pause_job(ports: Ports, job_id: str, why: str = "", who: Caller = KEY_HOLDER) -> Stored:
    """Pause a job; one that is paused stays as it is.

    Raises Misuse: 404, 403, and 409 for a job that its cluster has, or that has ended.
    """

    async def decide(stored: Stored) -> Change | None:
        job = stored.job
        if job.paused is not None:
            return None
        check_waiting(job, "paused")
        pause = OwnPause(by=plain(who.name, 100), since=ports.clock(), reason=plain(why, 200))
        waits = waiting(ports, job, why_own_pause(pause))
        claim = job.claim.given_back if job.claim is not None else None
        words = {"remark": f"paused by {pause.by}", "message": waits.text if waits else ""}
        return note(ports, stored, **words, paused=pause, waiting=waits, claim=claim)

    return await change_waiting(ports, job_id, who, decide)


async def resume_job(ports: Ports, job_id: str, who: Caller = KEY_HOLDER) -> Stored:
    """Let a paused job go on; the next pass submits it if nothing else holds it. Any other stays as it is.

    Raises Misuse (404, 403).
    """

    async def decide(stored: Stored) -> Change | None:
        job = stored.job
        if job.paused is None:
            return None
        after = job.model_copy(update={"paused": None})
        world = World(ports.policy, ports.clock(), quotas=await quotas_of(ports, after))
        waits = waiting(ports, job, reason(after, world))
        words = {"remark": f"resumed by {plain(who.name, 100)}", "message": waits.text if waits else ""}
        return note(ports, stored, **words, paused=None, waiting=waits)

    return await change_waiting(ports, job_id, who, decide)
