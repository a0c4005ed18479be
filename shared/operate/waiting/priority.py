"""priority: changes which jobs are before a job that waits, in its team's line and on its cluster."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shared.core.caller import KEY_HOLDER, Caller
from shared.core.errors import Misuse, Unavailable
from shared.core.job import Job, Stored
from shared.core.ledger.entries import Change
from shared.core.ports import Ports
from shared.core.relations.priority import PRIORITIES, rank
from shared.jobspec import shaped
from shared.lifecycle.orders.order import with_priority
from shared.lifecycle.transition import note
from shared.operate.waiting.change import change_waiting, check_waiting

#: What a cluster refuses of a document, if it refuses the priority.
_POINTER = "/properties/schedulingPriority"


def priority_of(document: Mapping[str, Any]) -> str:
    """The priority that a request names. Raises Misuse."""
    priority = document.get("priority")
    if document.keys() != {"priority"} or priority not in PRIORITIES:
        remedy = f'send {{"priority": "high"}}, or one of: {", ".join(PRIORITIES)}'
        raise Misuse("the body has `priority`, and nothing else", remedy=remedy)
    return str(priority)


async def set_priority(ports: Ports, job_id: str, priority: str, who: Caller = KEY_HOLDER) -> Stored:
    """Give a job another priority before its next attempt begins.

    Raises Misuse: 404, 403, and 409 for a job that was submitted, or whose cluster does not have it.
    """

    async def decide(stored: Stored) -> Change | None:
        job = stored.job
        if rank(job.priority) == rank(priority):
            return None
        check_waiting(job, "given another priority")
        await _check_offered(ports, job, priority)
        remark = f"priority {priority} instead of {job.priority or 'normal'}, by {who.name}"
        return note(ports, stored, remark=remark, priority=priority)

    return await change_waiting(ports, job_id, who, decide)


async def _check_offered(ports: Ports, job: Job, priority: str) -> None:
    """Raise Misuse (409) if the cluster of the job does not have that priority."""
    if (cluster := ports.engines.clusters.get(job.cluster)) is None:
        return  # it waits for a repair of the settings
    if (document := await ports.ledger.spec(job.id)) is None:
        raise Unavailable(f"the document of {job.id} is missing")
    if (spec := shaped(with_priority(dict(document), priority), ())) is None:
        return  # an older version accepted it, and the engine judges it at its submission
    for problem in ports.engines.get(cluster.engine).check(spec):
        if problem.pointer == _POINTER:
            raise Misuse(problem.message, status=409, remedy=problem.remedy)
