"""audit: do drops, ledger, clusters and deliveries agree? Reads everything, changes nothing.

What is younger than the grace may still be under way, and is no difference.
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NamedTuple

from shared.core.errors import EngineError, Unavailable, Unreadable
from shared.core.job import Job, JobState, Stored, Target
from shared.core.ports import Active, Observation, Ports, Query
from shared.core.trouble import OPERATOR_NEEDED
from shared.intake.folder import plans
from shared.intake.inventory import unseen
from shared.lifecycle.admit import paused
from shared.lifecycle.calling import calling
from shared.lifecycle.legible import is_known, legible, records

log = logging.getLogger(__name__)

#: Seconds after which a difference is one.
_GRACE = 300.0
#: Seconds after which a submission or a delivery is late: their tries are that far apart.
_LATE = 3600.0
#: How many of the jobs that ended last are compared, and how many records are read at once.
_ENDED, _PARALLEL = 200, 16
_ENDS = frozenset({JobState.SUCCEEDED, JobState.FAILED, JobState.CANCELLED, JobState.LOST})
_AT_WORK = (JobState.QUEUED, JobState.RUNNING)


@dataclass(frozen=True)
class Difference:
    """Two sources disagree about one thing, or one of them cannot be read.

    `kind`: row, drop, record, submission, settings, cluster, delivery, message.
    """

    kind: str
    what: str
    message: str


@dataclass
class Audit:
    """What was compared, in numbers; what differs; and what could not be queried."""

    counted: dict[str, int] = field(default_factory=dict)
    differences: list[Difference] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)

    def differs(self, kind: str, what: str, message: str) -> None:
        """Add a difference of a kind to the report."""
        self.differences.append(Difference(kind, what, message))

    def cannot_ask(self, cluster: str) -> None:
        """Note that nothing is known of what runs there."""
        self.not_known(f"cluster {cluster} cannot be queried")

    def not_known(self, text: str) -> None:
        """Note that something could not be compared."""
        if text not in self.unknown:
            self.unknown.append(text)


async def audit(ports: Ports) -> Audit:
    """Compare everything with everything. Raises Unavailable when storage does not answer.

    An error in one comparison is reported, and does not stop the others.
    """
    report = Audit()
    ports.troubles.forget("row")  # what cannot be read is found anew by what follows
    shards = await asyncio.gather(*(ports.ledger.active(n) for n in range(ports.ledger.shards)))
    active = [row for shard in shards for row in shard]
    ended = await _recent_ends(ports)
    report.counted |= {"active": len(active), "ended": len(ended)}
    stored = await records(ports, active)
    for name, comparison in (
        ("drops", _drops(ports, report)),
        ("submissions", _submissions(ports, active, report)),
        ("settings", _settings(ports, stored, report)),
        ("clusters", _clusters(ports, active, ended, report)),
        ("strangers on the clusters", _strangers(ports, active, report)),
        ("events of ends", _check_end_events(ports, ended, report)),
        ("deliveries", _deliveries(ports, report)),
        ("archive", _overdue(ports, report)),
        ("rows of no job", _note_other_rows(ports)),
    ):
        try:
            await comparison
        except Unavailable:
            raise
        except Exception:
            log.exception("audit: %s", name)
            report.not_known(f"the {name} could not be compared; the log says why")
    for row, column in sorted(ports.troubles.reasons("row").items()):
        report.differs("row", row, f"cannot be read: {column}; damaged, or a newer version wrote it")
    return report


async def _recent_ends(ports: Ports) -> list[Job]:
    """The records of the jobs that ended last, as far as they can be read."""
    page = await ports.ledger.find(Query(states=_ENDS), limit=_ENDED, after=None)
    gate = asyncio.Semaphore(_PARALLEL)

    async def one(job_id: str) -> Stored | None:
        async with gate:
            return await legible(ports, job_id)

    ends = await asyncio.gather(*(one(job.id) for job in page.jobs))
    return [stored.job for stored in ends if stored is not None]


async def _settings(ports: Ports, records: Iterable[Job], report: Audit) -> None:
    """Every cluster that a job needs is configured, and nothing waits for the deployment to be mended."""
    for job in records:
        if job.cluster and job.cluster not in ports.engines.clusters:
            text = f"{job.state.value}, and its cluster {job.cluster} is not configured"
            report.differs("settings", job.id, text)
        elif job.message.startswith(OPERATOR_NEEDED):
            report.differs("settings", job.id, job.message)


async def _overdue(ports: Ports, report: Audit) -> None:
    """What should be in the archive for days is looked into: a record that cannot be read stays behind."""
    if not (retention := ports.policy.retention):
        return
    before = ports.clock() - retention - timedelta(days=1)
    for shard in range(ports.finished.shards):
        for key in await ports.finished.due_jobs(shard, before, _ENDED):
            job_id = key.rpartition("|")[2]
            try:
                job = await ports.finished.gather(job_id)
            except Unreadable:
                continue
            if job is not None:
                report.differs("record", job_id, "not archived more than a day after its retention")


async def _drops(ports: Ports, report: Audit) -> None:
    """Every complete folder has a job, and every job of a folder its record."""
    inventory = await unseen(ports)
    for blob in inventory.unusable:
        report.differs(
            "drop", ascii(blob.name), "a file whose name storage clients cannot request; upload it again"
        )
    for folder, blobs in inventory.folders.items():
        if _age(ports, max(blob.modified for blob in blobs)) < _GRACE:
            continue
        if (await plans(ports, folder, blobs)).runs:
            report.differs("drop", folder, "a complete folder without a job")
    gate = asyncio.Semaphore(_PARALLEL)

    async def has_record(job_id: str, path: str) -> None:
        async with gate:
            if not await is_known(ports, job_id):
                report.differs("record", job_id, f"the record of the drop {path} is missing")

    jobs = {memo.job_id: memo.path for memo in inventory.remembered.values() if memo.job_id}
    await asyncio.gather(*(has_record(job_id, path) for job_id, path in jobs.items()))
    report.counted |= {"drops": len(jobs)}


async def _submissions(ports: Ports, active: Iterable[Active], report: Audit) -> None:
    """Nothing waits for its submission for long, unless submissions are paused."""
    if await paused(ports) is not None:
        return
    for row in active:
        if row.state not in _AT_WORK and _age(ports, row.due) > _LATE:
            report.differs(
                "submission", row.job_id, f"{row.state.value}, and due since {row.due.isoformat()}"
            )


async def _clusters(ports: Ports, active: Sequence[Active], ended: Sequence[Job], report: Audit) -> None:
    """What runs in the ledger runs on its cluster, and what ended in the ledger runs nowhere."""
    at_work = {row.target: row for row in active if row.target and row.state in _AT_WORK}
    over = {job.target: job for job in ended if job.target and _age(ports, job.ended or job.due) > _GRACE}
    reached, observations = await _observations(ports, (*at_work, *over), report)
    for target, row in at_work.items():
        observation = observations.get(target.name)
        if target.cluster not in reached:
            continue
        if observation is None:
            text = f"{row.state.value}; {target.cluster} does not know {target.name}"
            report.differs("cluster", row.job_id, text)
        elif observation.state.terminal and observation.ended and _age(ports, observation.ended) > _GRACE:
            report.differs(
                "cluster", row.job_id, f"{row.state.value}; {observation.state.value} on {target.cluster}"
            )
    for target, job in over.items():
        observation = observations.get(target.name)
        if observation is not None and not observation.state.terminal:
            text = f"{job.state.value}; still {observation.state.value} on {target.cluster} as {target.name}"
            report.differs("cluster", job.id, text)


async def _strangers(ports: Ports, active: Iterable[Active], report: Audit) -> None:
    """Every attempt on a cluster with our token has a record."""
    ours = {row.target.name for row in active if row.target}
    for cluster in ports.engines.clusters.values():
        try:
            async with calling(ports, cluster.engine, cluster.name, ports.policy.ask_deadline) as asks:
                at_work = await asks.at_work(cluster.name)
        except (EngineError, TimeoutError):
            report.cannot_ask(cluster.name)
            continue
        except Exception:  # a defect of one adapter hides no other cluster
            log.exception("audit: cluster %s", cluster.name)
            report.cannot_ask(cluster.name)
            continue
        for name, token in at_work.items():
            job_id = token.rpartition(".")[0]
            if name not in ours and not await is_known(ports, job_id):
                text = f"at work on {cluster.name} for {job_id}, which has no record here"
                report.differs("cluster", name, f"{text}: does another dispatcher use this cluster?")


async def _note_other_rows(ports: Ports) -> None:
    """Read the rows that no other comparison reads, so that unreadable ones are noted."""
    await asyncio.gather(ports.outbox.disabled(), ports.ledger.paused(), ports.ledger.reported())


class _Observed(NamedTuple):
    """The clusters that answered, and their observations by engine-side name."""

    reached: set[str]
    observations: dict[str, Observation]


async def _observations(ports: Ports, targets: Iterable[Target], report: Audit) -> _Observed:
    """What each cluster says of these attempts; one that does not answer is noted in the report."""
    groups: dict[tuple[str, str], list[Target]] = defaultdict(list)
    for target in targets:
        groups[target.engine, target.cluster].append(target)
    reached: set[str] = set()
    observations: dict[str, Observation] = {}
    for (engine, cluster), group in groups.items():
        try:
            async with calling(ports, engine, cluster, ports.policy.ask_deadline) as asks:
                observations |= await asks.status(cluster, group)
        except (EngineError, TimeoutError):
            report.cannot_ask(cluster)
        except Exception:
            log.exception("audit: cluster %s", cluster)
            report.cannot_ask(cluster)
        else:
            reached.add(cluster)
    return _Observed(reached, observations)


async def _check_end_events(ports: Ports, ended: Iterable[Job], report: Audit) -> None:
    """The end of every job that ended last is among its events."""
    gate = asyncio.Semaphore(_PARALLEL)

    async def one(job: Job) -> None:
        if not any(job.state.value in receiver.events for receiver in job.notify):
            return
        async with gate:
            events = await ports.outbox.events(job.id)
        if not any(notice.sequence == job.stage.sequence for notice in events):
            report.differs("delivery", job.id, f"{job.state.value}, and no event says so")

    await asyncio.gather(*(one(job) for job in ended))


async def _deliveries(ports: Ports, report: Audit) -> None:
    """No event waits for long or for the deployment to be mended, and none was given up."""
    now, longest = ports.clock(), ports.policy.longest_delivery_wait
    every = range(ports.outbox.shards)
    # None is due further ahead than `longest`, so these are all that wait.
    shards = await asyncio.gather(*(ports.outbox.undelivered(n, now + longest, longest) for n in every))
    for notice in (notice for shard in shards for notice in shard):
        if _age(ports, notice.due) > _LATE:
            text = f"due since {notice.due.isoformat()} ({notice.job_id})"
            report.differs("delivery", notice.event_id, text)
        for delivery in notice.deliveries:
            if delivery.state == "pending" and delivery.last.startswith(OPERATOR_NEEDED):
                report.differs("settings", notice.event_id, f"{delivery.last} ({notice.job_id})")
    dead = await ports.outbox.dead()
    for notice in dead:
        urls = ", ".join(delivery.url for delivery in notice.deliveries if delivery.state == "dead")
        report.differs("delivery", notice.event_id, f"given up for {urls} ({notice.job_id})")
    messages = await ports.dead.all()
    for message in messages:
        report.differs("message", message.id, f"given up on the queue {message.queue}: {message.reason}")
    counts = {"undelivered": sum(len(shard) for shard in shards), "dead": len(dead) + len(messages)}
    report.counted |= counts


def _age(ports: Ports, moment: datetime) -> float:
    return (ports.clock() - moment) / timedelta(seconds=1)
