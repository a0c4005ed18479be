"""sweep: compare every active job with its engine's report, commit the differences, resume what stalled.

One range query a shard, one bulk question a cluster. The range holds the records, so a change needs no other
read.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from shared.core.errors import SlipwayError, quoted
from shared.core.job import Job, JobState
from shared.core.ledger.records import Active, Reported
from shared.core.meter import timed
from shared.core.ports import Ports
from shared.core.relations.claim import Claim
from shared.delivery.answers import put_statuses
from shared.delivery.deliver import deliver_due
from shared.lifecycle.cluster_sweep import sweep_cluster
from shared.lifecycle.clusters.ask import ClusterKey
from shared.lifecycle.idle.reap import reap
from shared.lifecycle.job_sweeps.refill import refill, submit_seated
from shared.lifecycle.job_sweeps.seats import seat
from shared.lifecycle.steps import for_each, step
from shared.lifecycle.teams.claims import claimed
from shared.lifecycle.waiting.admit import submittable
from shared.lifecycle.waiting.dependents import settle
from shared.lifecycle.waiting.slots import is_contended, note_lines

log = logging.getLogger(__name__)
_ACTIVE = (JobState.ACCEPTED, JobState.SUBMITTING, JobState.QUEUED, JobState.RUNNING)


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
async def sweep(ports: Ports) -> Swept:
    """One pass over everything that has not ended. No step of it stops the next.

    Raises Unavailable when storage does not answer at all.
    """
    try:
        swept = await _sweep(ports)
    except Exception as error:
        ports.troubles.report("sweep", "", quoted(error))
        await _report(ports)
        raise
    ports.troubles.resolve("sweep", "")
    await _report(ports)
    return swept


async def _report(ports: Ports) -> None:
    """Say to the other processes what is wrong, if anything is: theirs may be asked for health.

    Never raises; costs nothing while all is well.
    """
    counts = ports.troubles.counts()
    if not counts and not ports.troubles.published:
        return
    try:
        await ports.ledger.report(Reported(ports.clock(), counts, ports.troubles.silent()))
        ports.troubles.published = bool(counts)
    except SlipwayError as error:
        log.warning("what is wrong could not be reported: %s", error)


async def _sweep(ports: Ports) -> Swept:
    now, shards = ports.clock(), range(ports.ledger.shards)
    longest = ports.policy.longest_delivery_wait
    answers = await asyncio.gather(*(ports.ledger.unfinished(shard, now, longest) for shard in shards))
    rows = [row for answer in answers for row in answer.jobs]
    events = [event for answer in answers for event in answer.events]
    sweeps = [one for answer in answers for one in answer.sweeps]
    numbers = Counter(row.state for row in rows)
    for state in _ACTIVE:
        ports.meter.set("slipway.jobs.active", numbers[state], state=state.value)
    due = asyncio.create_task(step("deliveries", deliver_due(ports, events)))
    contended = is_contended(ports, rows)
    begun_rows = [row for row in rows if row.state is not JobState.ACCEPTED]
    overdue = _by_cluster(await _submittable(ports, begun_rows if contended else rows) or [])
    clusters = _by_cluster(rows)
    results = await asyncio.gather(
        *(sweep_cluster(ports, key, group, overdue[key]) for key, group in clusters.items())
    )
    delivered = await due
    moved = {job_id for result in results for job_id in result.moved}
    begun = {row.job_id for group in overdue.values() for row in group}
    judged = _Judged({row.job_id: row for row in rows if contended and _is_free(row)})
    await step("waiting jobs", _judge(ports, rows, sweeps, moved | begun, judged))
    released = await step("submissions", _release(ports, rows, begun, judged))
    await step("idle jobs", reap(ports, rows))
    await put_statuses(ports, (row for row in rows if row.job_id not in moved))
    ports.meter.set("slipway.sweep.ended", 0)
    return Swept(
        active=len(rows),
        changed=sum(result.changed for result in results),
        dispatched=sum(result.dispatched for result in results) + released,
        cancelled=sum(result.cancelled for result in results),
        delivered=delivered,
        unreachable=tuple(result.cluster for result in results if not result.reached),
    )


def _by_cluster(rows: Iterable[Active]) -> dict[ClusterKey, list[Active]]:
    """Rows of the same engine and cluster. Those that wait for an attempt name none, and are a group too."""
    groups: dict[ClusterKey, list[Active]] = defaultdict(list)
    for row in rows:
        groups[(row.target.engine, row.target.cluster) if row.target else ("", "")].append(row)
    return groups


@dataclass
class _Judged:
    """The jobs that may be submitted after a pass judged those that wait, and the claims of some of them."""

    ready: dict[str, Active]
    claims: dict[str, Claim | None] = field(default_factory=dict)
    #: those with a seat or a claim, which they have to keep while they wait for a slot
    entitled: set[str] = field(default_factory=set)


def _is_free(row: Active) -> bool:
    """Whether it waits for no other job, no seat and no claim."""
    return row.state is JobState.ACCEPTED and not (row.after or row.needs_seat or row.needs_claim)


async def _judge(
    ports: Ports, rows: list[Active], sweeps: list[str], moved: set[str], judged: _Judged
) -> int:
    """Judge the jobs that wait for others, a seat or a claim, after what moved; how many do not any more."""
    async with asyncio.timeout(ports.policy.sweep_deadline):
        released = await settle(ports, rows, moved)
        latest = {row.job_id: row for row in [*rows, *released]}
        seated = await seat(ports, list(latest.values()), sweeps, moved) if _any_sweep(rows, sweeps) else []
        released = [*(row for row in released if not row.needs_seat), *seated]
        latest |= {row.job_id: row for row in released}
        granted = await claimed(ports, rows, latest.values(), moved) if _any_claim(rows) else []
    released = [*(row for row in released if not row.needs_claim), *granted]
    judged.ready |= {row.job_id: row for row in released}
    judged.claims |= {row.job_id: latest[row.job_id].claim for row in granted}
    judged.entitled |= {row.job_id for row in [*seated, *granted]} & judged.ready.keys()
    return len(released)


async def _release(ports: Ports, rows: list[Active], begun: set[str], judged: _Judged) -> int:
    """Submit the jobs that wait for nothing but a slot, as far as there are any; how many are submitted."""
    if not judged.ready:
        return 0
    at_work = (row for row in rows if row.state is not JobState.ACCEPTED or row.job_id in begun)
    others = [row._replace(state=JobState.QUEUED) for row in at_work]
    ready = await _submittable(ports, [*others, *judged.ready.values()])
    if ready is None:
        return 0  # nor is there anything to say of the limit
    chosen, ended = {row.job_id for row in ready}, list[Job]()
    await note_lines(ports, (judged.ready[one] for one in judged.entitled.difference(chosen)))
    number = await for_each(
        ports, ready, lambda row: submit_seated(ports, row.job_id, ended, judged.claims.get(row.job_id))
    )
    return number + await refill(ports, ended)


def _any_claim(rows: Iterable[Active]) -> bool:
    """Whether there is a job of a team with a quota."""
    return any(row.claim is not None for row in rows)


def _any_sweep(rows: Iterable[Active], sweeps: list[str]) -> bool:
    """Whether there is a job sweep to look at."""
    return bool(sweeps) or any(row.sweep for row in rows)


async def _submittable(ports: Ports, rows: Iterable[Active]) -> list[Active] | None:
    """What stalled, and what waited, as far as it may be submitted now; None where that is not known."""
    try:
        return await submittable(ports, rows)
    except SlipwayError as error:
        log.warning("sweep: submissions are left to the next one: %s", error)
        return None
