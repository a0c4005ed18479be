"""sweeper: compare every active job with its engine's report, commit the differences, resume what stalled.

One range query a shard, one bulk question a cluster. The range holds the records, so a change needs no other
read.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

from shared.admission.gates import World
from shared.admission.pauses import paused
from shared.admission.permit import Permit, permitted
from shared.core.errors import SlipwayError, Unreadable, quoted
from shared.core.job import Job, JobState, Stored
from shared.core.ledger.entries import Active, Reported
from shared.core.ledger.ledger import Ledger
from shared.core.meter import timed
from shared.core.ports import Ports
from shared.core.trouble import STORED
from shared.delivery.deliver import deliver_due
from shared.delivery.receipt_files import put_statuses
from shared.lifecycle.cluster_pass import ClusterPass, make_cluster_pass
from shared.lifecycle.clusters.calling import ClusterKey
from shared.lifecycle.grants import Loaded, admitted
from shared.lifecycle.hold.find_held import find_held
from shared.lifecycle.idle.reap import reap
from shared.lifecycle.job_sweeps.refill import refill, submit_next
from shared.lifecycle.operators.announce import announce
from shared.lifecycle.steps import for_each, step
from shared.lifecycle.waiting.dependents import look_again

log = logging.getLogger(__name__)
_ACTIVE = (JobState.ACCEPTED, JobState.SUBMITTING, JobState.QUEUED, JobState.RUNNING)


@dataclass(frozen=True)
class PassCounts:
    """What one pass did, in numbers for the log."""

    active: int
    changed: int
    dispatched: int
    cancelled: int
    delivered: int
    unreachable: tuple[str, ...]


@timed("slipway.sweeper")
async def make_pass(ports: Ports) -> PassCounts:
    """One pass over everything that has not ended. No step of it stops the next.

    Raises Unavailable when storage does not answer at all.
    """
    try:
        done = await _make_pass(ports)
    except Exception as error:
        ports.troubles.report("sweeper", "", quoted(error))
        await _report(ports)
        raise
    ports.troubles.resolve("sweeper", "")
    await _report(ports)
    return done


async def _report(ports: Ports) -> None:
    """Say to the other processes what is wrong, if anything is: theirs may be asked for health.

    Never raises; costs one read in a process while all is well.
    """
    counts, published = ports.troubles.counts(), ports.troubles.published
    if not counts and published is False:
        return
    try:
        report: Reported | None = Reported(ports.clock(), counts, ports.troubles.silent())
        if not counts and published is None:
            report = await _of_earlier(ports.ledger)
        if report is not None:
            await ports.ledger.report(report)
        ports.troubles.published = bool(counts)
    except SlipwayError as error:
        log.warning("what is wrong could not be reported: %s", error)


async def _of_earlier(ledger: Ledger) -> Reported | None:
    """The report of an earlier process without what is over, now that this one works; None if nothing is."""
    before = (await ledger.standing()).reported
    if before is None or before.counts.keys() <= {*STORED}:
        return None
    return Reported(before.at, {kind: before.counts[kind] for kind in STORED if kind in before.counts})


async def _make_pass(ports: Ports) -> PassCounts:
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
    observing = [asyncio.create_task(make_cluster_pass(ports, *one)) for one in _by_cluster(rows).items()]
    try:
        early = await _reports(ports, observing)
        submitted = await step("submissions", _submit(ports, Loaded(rows, sweeps, _moved(early))))
        results = await asyncio.gather(*observing)
    finally:
        for task in observing:
            task.cancel()
    moved, delivered = _moved(results), await due
    await step("held jobs", find_held(ports, rows))
    await step("idle jobs", reap(ports, rows))
    await step("events of operators", announce(ports, rows))
    await put_statuses(ports, (row for row in rows if row.job_id not in moved))
    ports.meter.set("slipway.sweeper.passed", 0)
    return PassCounts(
        active=len(rows),
        changed=sum(result.changed for result in results),
        dispatched=sum(result.repeated for result in results) + submitted,
        cancelled=sum(result.cancelled for result in results),
        delivered=delivered,
        unreachable=tuple(result.cluster for result in results if not result.reached),
    )


async def _reports(ports: Ports, observing: Collection[asyncio.Task[ClusterPass]]) -> list[ClusterPass]:
    """What the clusters report that answer soon: one that hangs delays no job of another."""
    if not observing:
        return []
    done, _ = await asyncio.wait(observing, timeout=ports.policy.report_patience)
    return [task.result() for task in done]


def _moved(results: Iterable[ClusterPass]) -> set[str]:
    """The jobs that may have changed since the rows were read."""
    return {job_id for result in results for job_id in result.moved}


def _by_cluster(rows: Iterable[Active]) -> dict[ClusterKey, list[Active]]:
    """Rows of the same engine and cluster, without those that wait for an attempt; damaged ones name none."""
    groups: dict[ClusterKey, list[Active]] = defaultdict(list)
    for row in rows:
        if row.state is not JobState.ACCEPTED:
            groups[(row.target.engine, row.target.cluster) if row.target else ("", "")].append(row)
    return groups


async def _submit(ports: Ports, loaded: Loaded) -> int:
    """Submit the jobs that no gate holds; how many are submitted."""
    rows, world = await admitted(ports, loaded)
    ended: list[Job] = []
    number = await for_each(ports, rows, lambda row: _submit_one(ports, row, world, ended))
    return number + await refill(ports, ended)


async def _submit_one(ports: Ports, row: Active, world: World, ended: list[Job]) -> None:
    """Judge the record of a job, as its row was, and submit it; what ends by that is added to `ended`.

    The pass may take a while, so it is asked once more whether submissions are paused.
    """
    if (stored := await _record_of(ports.ledger, row)) is None:
        return
    verdict = permitted(stored, replace(world, pause=await paused(ports)))
    if isinstance(verdict, Permit):
        await submit_next(ports, verdict, ended)
    elif stored.job.unmet:  # another version wrote the row
        await look_again(ports, stored)


async def _record_of(ledger: Ledger, row: Active) -> Stored | None:
    """The record in a row; if it cannot be read there, a read notes that."""
    try:
        return row.stored
    except Unreadable:
        return await ledger.get(row.job_id)
