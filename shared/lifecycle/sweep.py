"""sweep: compare every active job with its engine's report, commit the differences, resume what stalled.

One range query a shard, one bulk question a cluster. The range holds the records, so a change needs no other
read.
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from shared.core.backoff import is_due
from shared.core.errors import EngineError, SlipwayError, Unreadable
from shared.core.job import Job, JobState, Stored
from shared.core.meter import timed
from shared.core.policy import Policy
from shared.core.ports import Active, Change, Observation, Ports, Reported
from shared.delivery.answers import put_news, put_statuses
from shared.delivery.deliver import deliver_due, deliver_now
from shared.lifecycle.admit import submittable
from shared.lifecycle.ask import ClusterKey, Observations, ask
from shared.lifecycle.calling import calling, left_alone
from shared.lifecycle.dependents import settle
from shared.lifecycle.dispatch import dispatch, submit_again
from shared.lifecycle.job_sweeps.refill import refill, submit_seated
from shared.lifecycle.job_sweeps.seats import seat
from shared.lifecycle.observe import decide, starts_later
from shared.lifecycle.transition import count
from shared.lifecycle.waiting import waits_anew

log = logging.getLogger(__name__)
T = TypeVar("T")

#: How many records of one cluster are read, submitted or cancelled at once.
_PARALLEL = 16
_ACTIVE = (JobState.ACCEPTED, JobState.SUBMITTING, JobState.QUEUED, JobState.RUNNING)
#: How many records change at once: their writes share transactions, so more of them cost fewer requests.
_BULK = 256


@dataclass(frozen=True)
class Swept:
    """What one sweep did, in numbers for the log."""

    active: int
    changed: int
    dispatched: int
    cancelled: int
    delivered: int
    unreachable: tuple[str, ...]


@timed("slipway.sweep")
async def sweep(ports: Ports, part: range | None = None) -> Swept:
    """One pass over everything that has not ended, or over some shards of it. No step of it stops the next.

    Raises Unavailable when storage does not answer at all.
    """
    name = str(part.start) if part else ""
    try:
        swept = await _sweep(ports, part)
    except Exception as error:
        ports.troubles.report("sweep", name, type(error).__name__)
        await _report(ports, name)
        raise
    ports.troubles.resolve("sweep", name)
    await _report(ports, name)
    return swept


async def _report(ports: Ports, name: str) -> None:
    """Say to the other processes what is wrong, if anything is: theirs may be asked for health.

    Never raises; costs nothing while all is well.
    """
    counts = ports.troubles.counts()
    if not counts and not ports.troubles.published:
        return
    try:
        await ports.ledger.report(name, Reported(ports.clock(), counts, ports.troubles.silent()))
        ports.troubles.published = bool(counts)
    except SlipwayError as error:
        log.warning("what is wrong could not be reported: %s", error)


async def _sweep(ports: Ports, part: range | None) -> Swept:
    now = ports.clock()
    every = range(ports.ledger.shards)
    shards = every if part is None else part
    fields = {} if part is None else {"part": str(part.start)}
    longest = ports.policy.longest_delivery_wait
    answers = await asyncio.gather(*(ports.ledger.unfinished(shard, now, longest) for shard in shards))
    rows = [row for answer in answers for row in answer.jobs]
    events = [event for answer in answers for event in answer.events]
    sweeps = [one for answer in answers for one in answer.sweeps]
    for state in _ACTIVE:
        number = sum(row.state is state for row in rows)
        ports.meter.set("slipway.jobs.active", number, state=state.value, **fields)
    due = asyncio.create_task(_step("deliveries", deliver_due(ports, events, **fields)))
    share = len(shards) / len(every)
    overdue = _by_cluster(await _submittable(ports, rows, share))
    clusters = _by_cluster(rows)
    results = await asyncio.gather(
        *(_cluster(ports, key, group, overdue[key]) for key, group in clusters.items())
    )
    delivered = await due
    moved = {job_id for result in results for job_id in result.moved}
    begun = {row.job_id for group in overdue.values() for row in group}
    released = await _step("waiting jobs", _release(ports, rows, sweeps, moved | begun, begun, share))
    await put_statuses(ports, (row for row in rows if row.job_id not in moved))
    await _step("lists", ports.ledger.relist(rows))
    ports.meter.set("slipway.sweep.ended", 0)
    return Swept(
        active=len(rows),
        changed=sum(result.changed for result in results),
        dispatched=sum(result.dispatched for result in results) + released,
        cancelled=sum(result.cancelled for result in results),
        delivered=delivered,
        unreachable=tuple(result.cluster for result in results if not result.reached),
    )


@dataclass(frozen=True)
class _ClusterSweep:
    """What one sweep did with the jobs of one cluster; `moved` were looked into because of what it said."""

    cluster: str
    reached: bool
    moved: tuple[str, ...]
    changed: int
    dispatched: int
    cancelled: int


def _by_cluster(rows: Iterable[Active]) -> dict[ClusterKey, list[Active]]:
    """Rows of the same engine and cluster. Those that wait for an attempt name none, and are a group too."""
    groups: dict[ClusterKey, list[Active]] = defaultdict(list)
    for row in rows:
        groups[(row.target.engine, row.target.cluster) if row.target else ("", "")].append(row)
    return groups


async def _cluster(ports: Ports, key: ClusterKey, rows: list[Active], overdue: list[Active]) -> _ClusterSweep:
    """Everything about the jobs of one cluster: another one that hangs delays nothing here."""
    with_engine = [row for row in rows if _with_engine(row)]
    answer = await ask(ports, key, with_engine) if with_engine else {}
    # What was asked first is the probe: while the cluster does not answer, no record is even read.
    reachable = not left_alone(ports, *key)
    observations = answer or {}
    news = [row for row in with_engine if _news(row, observations, ports.policy, ports.clock())]
    changed, dispatched, cancelled = await asyncio.gather(
        _step("changes", _commit(ports, news, observations)),
        _each(ports, overdue if reachable else [], lambda row: dispatch(ports, row.job_id)),
        _each(ports, [r for r in with_engine if r.cancel and reachable], lambda row: _cancel(ports, row)),
    )
    moved = tuple(row.job_id for row in news)
    return _ClusterSweep(key[1], answer is not None, moved, changed, dispatched, cancelled)


async def _release(
    ports: Ports, rows: list[Active], sweeps: list[str], moved: set[str], begun: set[str], share: float
) -> int:
    """Judge the jobs that wait for others or for a seat, after what moved; how many this sweep submits."""
    async with asyncio.timeout(ports.policy.sweep_deadline):
        released = await settle(ports, rows, moved)
        latest = {row.job_id: row for row in [*rows, *released]}
        seated = await seat(ports, list(latest.values()), sweeps, moved) if _any_sweep(rows, sweeps) else []
    released = [*(row for row in released if not row.needs_seat), *seated]
    at_work = (row for row in rows if row.state is not JobState.ACCEPTED or row.job_id in begun)
    others = [row._replace(state=JobState.QUEUED) for row in at_work]
    ready = await _submittable(ports, [*others, *released], share) if released else []
    ended: list[Job] = []
    number = await _each(ports, ready, lambda row: submit_seated(ports, row.job_id, ended))
    return number + await refill(ports, ended)


def _any_sweep(rows: Iterable[Active], sweeps: list[str]) -> bool:
    """Whether there is a job sweep to look at."""
    return bool(sweeps) or any(row.sweep for row in rows)


async def _submittable(ports: Ports, rows: Iterable[Active], share: float) -> list[Active]:
    """What stalled, and what waited, as far as it may be submitted now."""
    try:
        return await submittable(ports, rows, share)
    except SlipwayError as error:
        log.warning("sweep: submissions are left to the next one: %s", error)
        return []


async def _step(name: str, act: Awaitable[int]) -> int:
    try:
        return await act
    except Exception:
        # The steps do not need each other; what failed here is tried again by the next sweep.
        log.exception("sweep: %s are left to the next one", name)
        return 0


def _with_engine(row: Active) -> bool:
    return row.state in (JobState.QUEUED, JobState.RUNNING)


def _news(row: Active, observations: Observations, policy: Policy, now: datetime) -> bool:
    """Whether the record may change: the engine reports something other than the index row."""
    if row.job_id not in observations:
        return False
    observation = observations[row.job_id]
    if observation is None:
        # Spaced evidence: the next miss counts only after a part of the whole period.
        return row.misses == 0 or is_due(row.due, now, policy.longest_wait)
    if observation.state is not row.state or row.misses > 0:
        return True
    return starts_later(row, observation) or waits_anew(row, observation, now)


async def _commit(ports: Ports, rows: list[Active], observations: Observations) -> int:
    """Decide and commit what changes, and report at once what can be reported."""
    applied: list[Change] = []

    async def one(row: Active) -> None:
        await _change(ports, row, observations[row.job_id], applied)

    await _each(ports, (row for row in rows if observations[row.job_id] is not None), one, at_once=_BULK)
    await _each(ports, (row for row in rows if observations[row.job_id] is None), one)  # each asks the engine
    for change in applied:
        count(ports, change)
        job = change.transition.after
        log.info("%s is %s", job.id, job.state.value, extra={"job": job.id, "state": job.state.value})
    news = [c.transition.after for c in applied if c.transition.after.line != c.transition.before.line]
    await _each(ports, news, lambda job: put_news(ports, job))
    notices = [change.notice for change in applied if change.notice is not None]
    await deliver_now(ports, *notices)
    return len(applied)


async def _change(ports: Ports, row: Active, word: Observation | None, applied: list[Change]) -> None:
    """Change one record: as its row holds it, or, when that is too old by now, as it is read."""
    for again in (False, True):
        stored = await ports.ledger.get(row.job_id) if again else _record_of(row)
        # A sweeper that slept may hold the word about an earlier attempt: it says nothing about this one.
        if stored is None or stored.job.target != row.target or stored.job.state is not row.state:
            continue
        change = await decide(ports, stored, word)
        if change is None:
            return
        (result,) = await ports.ledger.commit([change])
        if result is not None:
            applied.append(change)
            if result.job.misses:
                await submit_again(ports, result.job)
            return


def _record_of(row: Active) -> Stored | None:
    """The record in an index row; None where it cannot be read, which the ledger notes when it is asked."""
    try:
        return row.stored
    except Unreadable:
        return None


async def _cancel(ports: Ports, row: Active) -> None:
    target = row.fixed_target
    async with calling(ports, target.engine, target.cluster, ports.policy.dispatch_deadline) as engine:
        await engine.cancel(target)


async def _each(
    ports: Ports, items: Iterable[T], act: Callable[[T], Awaitable[object]], at_once: int = _PARALLEL
) -> int:
    """Act on all items, some at once, within the sweep's time; one that fails never stops the others."""
    gate = asyncio.Semaphore(at_once)
    number = 0

    async def one(item: T) -> None:
        nonlocal number
        async with gate:
            try:
                await act(item)
                number += 1
            except (EngineError, TimeoutError) as error:
                log.warning("left to the next sweep: %r", error)
            except Unreadable:
                pass  # noted where it was read; it stays as it is
            except Exception:
                log.exception("left to the next sweep")

    try:
        async with asyncio.timeout(ports.policy.sweep_deadline):
            await asyncio.gather(*(one(item) for item in items))
    except TimeoutError:
        log.warning("the sweep's time is over; the rest is left to the next one")
    return number
