"""find_held: finds the jobs that failed by their own fault, and keep their nodes for a while.

The program on its node records how it ended, and only then keeps the node; here that is found, with an event
for those who want to know of a failure. However the hold ends, the job has the end that its command came to.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from datetime import timedelta

from shared.admission.reason import waiting
from shared.core.engine import Observation, Why
from shared.core.job import JobState, Reason, Stored, plain
from shared.core.ledger.entries import Active, Change
from shared.core.pacing.wait_kinds import Planned
from shared.core.ports import Ports
from shared.core.relations.hold import HELD, Held
from shared.delivery.deliver import deliver_now
from shared.jobspec import redact
from shared.lifecycle.clusters.calling import calling, left_alone
from shared.lifecycle.ends import own_words
from shared.lifecycle.hold.own_end import hold_of, may_be_held
from shared.lifecycle.steps import for_each
from shared.lifecycle.transition import announce, apply

log = logging.getLogger(__name__)

#: Jobs of one pass whose records are read.
MOST_LOOKS = 256
_AT_ONCE = timedelta()


async def find_held(ports: Ports, rows: Sequence[Active]) -> int:
    """Look at the running jobs whose nodes may be kept, some in each pass. Returns how many were looked at.

    Never waits longer than one call to a cluster may take.
    """
    now = ports.clock()
    rows_by_look = {f"hold {row.job_id}": row for row in rows if _may_be_held(ports, row)}
    due = ports.looks.due(dict.fromkeys(rows_by_look, Planned(now, _AT_ONCE)), now, MOST_LOOKS)
    for one in due:
        ports.looks.plan(one, now, now)
    try:
        async with asyncio.timeout(ports.policy.dispatch_deadline):
            return await for_each(ports, due, lambda one: note_hold(ports, rows_by_look[one].stored))
    except TimeoutError:
        log.warning("jobs whose nodes may be kept are left to the next pass: their records come too slowly")
        return 0


def _may_be_held(ports: Ports, row: Active) -> bool:
    if row.state is not JobState.RUNNING or row.hold != "wanted" or row.cancel or row.target is None:
        return False
    return not left_alone(ports, row.target.engine, row.target.cluster)


async def note_hold(ports: Ports, stored: Stored) -> Stored | None:
    """Note that the node of a job is kept, and tell its receivers; None if it is not, or is noted already.

    Raises EngineError and TimeoutError of its cluster.
    """
    job = stored.job
    if not may_be_held(job):
        return None
    target = job.fixed_target
    async with calling(ports, target.engine, target.cluster, ports.policy.dispatch_deadline) as engine:
        held = await engine.held(target)
    if held is None:
        return None
    change = await _noted(ports, stored, held)
    applied = await apply(ports, change)
    if applied is not None:
        log.info("%s is held: %s", job.id, applied.job.message, extra={"job": job.id, "action": "hold"})
        if change.notice is not None:
            await deliver_now(ports, change.notice)
    return applied


async def _noted(ports: Ports, stored: Stored, held: Held) -> Change:
    """The change by which a job is held. What its cluster's jobs can write keeps nothing for longer."""
    job = stored.job
    until, message = min(held.until, ports.clock() + hold_of(job)), plain(str(redact(held.message)))
    held = held.model_copy(update={"until": until, "message": message})
    code = "" if held.exit_code is None else f" with exit code {held.exit_code}"
    nodes = "its nodes are" if job.nodes > 1 else "its node is"
    text = f"failed{code}; {nodes} kept until {until:%Y-%m-%d %H:%M} UTC"
    why = Why(HELD, f"{text}: slipway shell {job.id}, slipway release {job.id}")
    end = Observation(JobState.FAILED, Reason.USER, held.message, held.exit_code)
    hold = job.hold and job.hold.model_copy(update={"held": held})
    words, waits = await own_words(ports, job, end), waiting(ports, job, why)
    return announce(ports, stored, "held", hold=hold, idle=None, waiting=waits, message=text, **words)
