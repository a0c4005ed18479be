"""sweep: compare every active job with what its engine says, commit the differences, carry on what stalled.

One range query a shard, one bulk question a cluster; a record is read only when something about it changes.
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeVar

from shared.advance import move, note
from shared.deliver import deliver_due, deliver_now
from shared.dispatch import dispatch
from shared.errors import EngineError, NotFound
from shared.job import Job, JobState, Reason, Stored
from shared.policy import Policy
from shared.ports import Active, Change, Observation, Ports

log = logging.getLogger(__name__)
T = TypeVar("T")

#: How many records are read, submitted or cancelled at once.
_PARALLEL = 16


@dataclass(frozen=True)
class Swept:
    """What one sweep did, in numbers for the log."""

    active: int
    changed: int
    dispatched: int
    cancelled: int
    delivered: int
    unreachable: tuple[str, ...]


async def sweep(ports: Ports) -> Swept:
    """One pass over everything that has not ended. Raises Unavailable when storage does not answer."""
    shards = await asyncio.gather(*(ports.ledger.active(n) for n in range(ports.ledger.shards)))
    rows = [row for shard in shards for row in shard]
    seen, unreachable = await _ask_engines(ports, rows)
    now = ports.clock()
    overdue = [
        row.job_id for row in rows if row.state in (JobState.ACCEPTED, JobState.SUBMITTING) and row.due <= now
    ]
    to_cancel = [row for row in rows if row.cancel and _with_engine(row)]
    changed = await _commit(ports, [row for row in rows if _news(row, seen, ports.policy, now)], seen)
    dispatched = await _each(overdue, lambda job: dispatch(ports, job))
    cancelled = await _each(to_cancel, lambda row: _cancel(ports, row))
    delivered = await deliver_due(ports)
    return Swept(len(rows), changed, dispatched, cancelled, delivered, tuple(unreachable))


Seen = Mapping[str, Observation | None]


async def _ask_engines(
    ports: Ports, rows: Iterable[Active]
) -> tuple[dict[str, Observation | None], list[str]]:
    """What the engines say, by job id: an observation, None for not found; absent where nobody knows."""
    groups: dict[tuple[str, str], list[Active]] = defaultdict(list)
    for row in rows:
        if _with_engine(row) and row.target is not None:
            groups[row.target.engine, row.target.cluster].append(row)
    seen: dict[str, Observation | None] = {}
    unreachable: list[str] = []

    async def ask(engine: str, cluster: str, group: list[Active]) -> None:
        targets = [row.target for row in group if row.target is not None]
        try:
            known = await ports.engines.of(engine).status(cluster, targets)
        except EngineError as error:
            # Unknown is a state of knowledge: the records keep their states.
            log.warning("cluster %s cannot be asked: %s", cluster, error, extra={"cluster": cluster})
            unreachable.append(cluster)
            return
        seen.update({row.job_id: known.get(row.target.name) for row in group if row.target})

    await asyncio.gather(*(ask(engine, cluster, group) for (engine, cluster), group in groups.items()))
    return seen, unreachable


def _with_engine(row: Active) -> bool:
    return row.state in (JobState.QUEUED, JobState.RUNNING)


def _news(row: Active, seen: Seen, policy: Policy, now: datetime) -> bool:
    """Whether the record has to be read: the engine says something else than the index row."""
    if row.job_id not in seen:
        return False
    observation = seen[row.job_id]
    if observation is None:
        # Spaced evidence: the next miss counts only after a part of the whole period.
        return row.misses == 0 or row.due <= now
    return observation.state is not row.state or row.misses > 0


async def _commit(ports: Ports, rows: list[Active], seen: Seen) -> int:
    """Read the records that change, decide, commit them in bulk, and tell at once what can be told."""
    changes: list[Change] = []

    async def decide_one(row: Active) -> None:
        stored = await ports.ledger.get(row.job_id)
        change = await decide(ports, stored, seen[row.job_id]) if stored else None
        if change is not None:
            changes.append(change)

    await _each(rows, decide_one)
    results = await ports.ledger.commit(changes) if changes else []
    applied = [change for change, result in zip(changes, results, strict=True) if result is not None]
    for change in applied:
        job = change.transition.after
        log.info("%s is %s", job.id, job.state.value, extra={"job": job.id, "state": job.state.value})
    notices = [change.notice for change in applied if change.notice is not None]
    await deliver_now(ports, *notices)
    return len(applied)


async def decide(ports: Ports, stored: Stored, observation: Observation | None) -> Change | None:
    """The change that an observation means for a record; None for none."""
    job = stored.job
    if job.state not in (JobState.QUEUED, JobState.RUNNING):
        return None  # it moved on since the index row was read
    if observation is None:
        return await _missing(ports, stored)
    if observation.state is job.state:
        return note(ports, stored, misses=0, missed_at=None) if job.misses else None
    return move(
        ports,
        stored,
        observation.state,
        reason=observation.reason,
        message=observation.message,
        exit_code=observation.exit_code,
        misses=0,
        missed_at=None,
        **_times(job, observation),
    )


def _times(job: Job, observation: Observation) -> dict[str, datetime]:
    times = {}
    if observation.started and job.started is None:
        times["started"] = observation.started
    if observation.ended and observation.state.terminal:
        times["ended"] = observation.ended
    return times


async def _missing(ports: Ports, stored: Stored) -> Change | None:
    """Not in the engine's list. Lost only after repeated, spaced, direct evidence."""
    job, policy, now = stored.job, ports.policy, ports.clock()
    assert job.target is not None
    try:
        observation = await ports.engines.of(job.target.engine).see(job.target)
    except NotFound:
        pass
    except EngineError:
        return None
    else:
        return await decide(ports, stored, observation)
    first = job.missed_at or now
    misses = job.misses + 1
    if misses >= policy.lost_after_misses and (now - first).total_seconds() >= policy.lost_after:
        text = (
            f"the engine has not known {job.target.name} since {first.isoformat()}; how it ended is unknown"
        )
        return move(ports, stored, JobState.LOST, reason=Reason.INFRASTRUCTURE, message=text)
    wait = timedelta(seconds=policy.lost_after / max(1, policy.lost_after_misses - 1))
    return note(ports, stored, misses=misses, missed_at=first, due=now + wait)


async def _cancel(ports: Ports, row: Active) -> None:
    assert row.target is not None
    await ports.engines.of(row.target.engine).cancel(row.target)


async def _each(items: Iterable[T], act: Callable[[T], Awaitable[object]]) -> int:
    """Act on all items, some at once; an engine's error with one never stops the others."""
    gate = asyncio.Semaphore(_PARALLEL)
    done = 0

    async def one(item: T) -> None:
        nonlocal done
        async with gate:
            try:
                await act(item)
                done += 1
            except EngineError as error:
                log.warning("left to the next sweep: %s", error)

    await asyncio.gather(*(one(item) for item in items))
    return done
