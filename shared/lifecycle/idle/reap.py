"""reap: warns running jobs that do nothing, and requests their ends if that goes on.

A warning is written with its event in one transaction, and the request for the end by another one; the
cluster's report makes the end. So a crash between any two of them leaves a record from which the next pass
goes on, and a job that works again meanwhile is left alone.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from shared.core.job import Job, JobState, Stored
from shared.core.ledger.entries import Active, Change
from shared.core.pacing.wait_kinds import Planned, WaitKind
from shared.core.policy import Policy
from shared.core.ports import Ports
from shared.core.relations.contents import KEEP, Idle, IdleCause
from shared.delivery.deliver import deliver_now
from shared.lifecycle.carry_out import carry_out
from shared.lifecycle.clusters.calling import left_alone
from shared.lifecycle.current_teams import current_teams
from shared.lifecycle.idle.spans import idle_spans
from shared.lifecycle.idle.use import Span
from shared.lifecycle.steps import for_each
from shared.lifecycle.transition import apply, note, warn

log = logging.getLogger(__name__)

#: Jobs of one pass.
MOST_LOOKS = 64
#: Until a job is looked at again that could not be judged, and the shortest wait of all.
_UNKNOWN, _SHORTEST = timedelta(minutes=5), timedelta(minutes=1)


@dataclass(frozen=True)
class _Verdict:
    """What a look means: a change of the record, or None; and when the next look is."""

    change: Change | None
    next: datetime


async def reap(ports: Ports, rows: Sequence[Active]) -> int:
    """Look at the jobs that may be idle, a bounded number of them. Returns how many were looked at.

    It reads nothing while both limits are off, and of a job nothing until it has run for as long as one of
    them. Never waits longer than one call to a cluster may take.
    """
    if not _limits(ports.policy):
        return 0
    rows_by_id = {row.job_id: row for row in rows if _is_judged(ports, row)}
    shortest = timedelta(seconds=min(_limits(ports.policy).values()))
    first = {
        row.job_id: Planned(_start(row, ports.clock()) + shortest, shortest) for row in rows_by_id.values()
    }
    due = ports.looks.due(first, ports.clock(), MOST_LOOKS)
    try:
        async with asyncio.timeout(ports.policy.dispatch_deadline):
            return await for_each(ports, (rows_by_id[one] for one in due), lambda row: _one(ports, row))
    except TimeoutError:
        log.warning("jobs that may be idle are left to the next pass, because their files come too slowly")
        return 0


def _limits(policy: Policy) -> Mapping[IdleCause, float]:
    """Seconds, of what is looked at."""
    limits: dict[IdleCause, float] = {"gpus": policy.idle_gpus, "log": policy.idle_log}
    return {cause: limit for cause, limit in limits.items() if limit}


def _is_judged(ports: Ports, row: Active) -> bool:
    if row.state is not JobState.RUNNING or row.cancel or row.misses or row.target is None:
        return False
    if row.hold == "held":
        return False  # its command has ended
    return not left_alone(ports, row.target.engine, row.target.cluster)


def _start(row: Active, now: datetime) -> datetime:
    """Since when it runs; a time that cannot be read counts as now, so the record is looked at later."""
    try:
        since = datetime.fromisoformat(row.since)
    except ValueError:
        return now
    return since if since.tzinfo is not None else now


async def _one(ports: Ports, row: Active) -> None:
    # If the look fails, the next one is a while away: a share that hangs must not take every pass.
    ports.looks.plan(row.job_id, ports.clock() + _UNKNOWN, ports.clock())
    stored = row.stored
    exempt = await _is_exempt(ports, stored.job)
    verdict = _spared(ports, stored) if exempt else judge(ports, stored, await idle_spans(ports, stored.job))
    ports.looks.plan(row.job_id, verdict.next, ports.clock())
    if verdict.change is None:
        return
    applied = await apply(ports, verdict.change)
    if applied is None:
        return  # the record moved on, so what was seen may be of another run
    job = applied.job
    log.info("%s: %s", job.id, job.message or "it works again", extra={"job": job.id, "action": "idle"})
    if job.cancel:
        await carry_out(ports, applied)
    if verdict.change.notice is not None:
        await deliver_now(ports, verdict.change.notice)


def judge(ports: Ports, stored: Stored, spans: Mapping[IdleCause, Span]) -> _Verdict:
    """What follows for a running job from the time for which it did nothing."""
    job, now = stored.job, ports.clock()
    spans = {cause: span for cause, span in spans.items() if cause in _limits(ports.policy)}
    if job.idle is not None:
        return _after_warning(ports, stored, job.idle, spans.get(job.idle.cause))
    longest = [(_limits(ports.policy)[cause] - span.seconds, cause, span) for cause, span in spans.items()]
    if not longest:
        return _Verdict(None, now + _UNKNOWN)
    rest, cause, span = min(longest)
    if rest > 0:
        return _Verdict(None, now + max(_SHORTEST, timedelta(seconds=rest)))
    ends = now + timedelta(seconds=ports.policy.idle_grace)
    idle = Idle(cause=cause, since=span.since, latest=span.until, warned=now, ends=ends)
    text = f"{idle.clause}; it ends at {ends.isoformat(timespec='seconds')} unless it works again"
    return _Verdict(warn(ports, stored, idle, text), ends)


def _after_warning(ports: Ports, stored: Stored, idle: Idle, span: Span | None) -> _Verdict:
    """A job that was warned: it works again, it goes on idling, or nothing is known."""
    now = ports.clock()
    if idle.cause not in _limits(ports.policy) or (span is not None and span.since > idle.latest):
        return _spared(ports, stored)
    if span is None:
        return _Verdict(None, now + _UNKNOWN)
    idled = span.until - idle.latest
    grace = idle.ends - idle.warned
    if not ports.policy.is_over(WaitKind.WARNING, idle.ends, now, grace) or idled < grace:
        return _Verdict(None, max(idle.ends, now + _SHORTEST))
    ending = idle.model_copy(update={"is_ending": True})
    text = f"{idle.clause}, so its end is requested"
    return _Verdict(note(ports, stored, idle=ending, cancel=True, due=now, message=text), now + _UNKNOWN)


def _spared(ports: Ports, stored: Stored) -> _Verdict:
    """It goes on: no warning holds any more."""
    change = note(ports, stored, idle=None, message="") if stored.job.idle is not None else None
    return _Verdict(change, ports.clock() + _UNKNOWN)


async def _is_exempt(ports: Ports, job: Job) -> bool:
    """Whether the job asks to be left alone, and may: its team allows it, or it has none."""
    if job.labels.get(KEEP) != "true":
        return False
    if not job.team:
        return True
    team = (await current_teams(ports)).teams.get(job.team)
    return team is not None and team.keep_idle
