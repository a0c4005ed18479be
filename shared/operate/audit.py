"""audit: compares drops, ledger, clusters and deliveries. Reads everything, changes nothing.

Differences that are younger than the grace period may still resolve, and are not reported.
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Iterable
from datetime import timedelta

from shared.admission.active import active_jobs
from shared.admission.pauses import paused
from shared.core.code.snapshots import Snapshots
from shared.core.each import each
from shared.core.errors import Unavailable, Unreadable
from shared.core.job import Job, JobState
from shared.core.ledger.entries import Active
from shared.core.ledger.kinds import describe_damage
from shared.core.ledger.ledger import Ledger, Outbox
from shared.core.ledger.listing import Query
from shared.core.ports import IN_ARCHIVE, OUT_OF_ARCHIVE, Engines, Ports
from shared.core.trouble import OPERATOR_NEEDED
from shared.intake.drops.contents import files_in
from shared.intake.drops.folder import plans
from shared.intake.drops.inventory import unseen
from shared.intake.drops.plan import Plans
from shared.jobspec import name_flaw
from shared.lifecycle.lookup import is_known, legible, records
from shared.operate.audit_clusters import AT_WORK, compare_clusters, compare_strangers
from shared.operate.audit_report import GRACE, Audit, age

log = logging.getLogger(__name__)
#: Seconds after which a submission or a delivery is late, since tries are at most this far apart.
_LATE = 3600.0
#: The number of jobs that ended last to compare.
_ENDED = 200
_ENDS = frozenset({JobState.SUCCEEDED, JobState.FAILED, JobState.CANCELLED, JobState.LOST})


async def audit(ports: Ports) -> Audit:
    """Compare everything with everything. Raises Unavailable if storage does not answer.

    An error in one comparison is reported, and does not stop the others.
    """
    report = Audit()
    noted = ports.troubles.reasons("row")
    ports.troubles.forget("row")  # the reads below find unreadable rows again
    active = await active_jobs(ports.ledger)
    ended = await _recent_ends(ports)
    report.counted |= {"active": len(active), "ended": len(ended)}
    stored = await records(ports, active)
    for name, comparison in (
        ("drops", _drops(ports, report)),
        ("submissions", _submissions(ports, active, report)),
        ("settings", _settings(ports.engines, stored, report)),
        ("code", _code(ports.snapshots, stored, report)),
        ("clusters", compare_clusters(ports, active, report)),
        ("strangers on the clusters", compare_strangers(ports, active, report)),
        ("events of ends", _check_end_events(ports.outbox, ended, report)),
        ("deliveries", _deliveries(ports, report)),
        ("archive", _overdue(ports, report)),
        ("rows", _check_rows(ports.ledger, active, ended, noted)),
    ):
        try:
            await comparison
        except Unavailable:
            raise
        except Exception:
            log.exception("audit: %s", name)
            report.not_known(f"the {name} could not be compared; the log says why")
    for row, column in sorted(ports.troubles.reasons("row").items()):
        report.differs("row", row, describe_damage(row, column))
    return report


async def _recent_ends(ports: Ports) -> list[Job]:
    """The records of the jobs that ended last, as far as they can be read."""
    page = await ports.ledger.find(Query(states=_ENDS), limit=_ENDED, after=None)
    ends = await each(page.jobs, lambda job: legible(ports, job.id))
    return [stored.job for stored in ends if stored is not None]


async def _settings(engines: Engines, records: Iterable[Job], report: Audit) -> None:
    """Checks that every job's cluster is configured, and that nothing waits for an operator's correction."""
    for job in records:
        if job.cluster and job.cluster not in engines.clusters:
            text = f"{job.state.value}, and its cluster {job.cluster} is not configured"
            report.differs("settings", job.id, text)
        elif job.message.startswith(OPERATOR_NEEDED):
            report.differs("settings", job.id, job.message)


async def _code(snapshots: Snapshots, records: Iterable[Job], report: Audit) -> None:
    """Checks that the code of every active job is there: its next attempt could not run."""
    jobs = defaultdict[str, list[Job]](list)
    for job in records:
        if job.code is not None:
            jobs[job.code.blob].append(job)
    archives = await each(jobs, snapshots.find)
    for (blob, of_blob), archive in zip(jobs.items(), archives, strict=True):
        for job in of_blob if archive is None or not archive.is_readable else ():
            text = f"{job.state.value}, and its code {blob} was deleted: cancel it, and send the folder again"
            report.differs("code", job.id, text)


async def _overdue(ports: Ports, report: Audit) -> None:
    """Reads records that should have been archived for days: an unreadable one stays behind."""
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
    """Checks that every complete folder has a job, and every job of a folder its record."""
    inventory = await unseen(ports)
    for blob in inventory.unusable:
        flaw = name_flaw(blob.name)
        report.differs("drop", ascii(blob.name), f"its name {flaw}; upload it again under another name")
    for folder, contents in inventory.folders.items():
        if age(ports, contents.newest) < GRACE:
            continue
        files = await files_in(ports, folder)
        result = await plans(ports, folder, files.blobs) if files is not None else Plans()
        if result.runs:
            report.differs("drop", folder, "a complete folder without a job")
        for blob in result.archived:
            report.differs("drop", folder, f"waits: {blob.name} {IN_ARCHIVE}; {OUT_OF_ARCHIVE}")
    jobs = {memo.job_id: memo.path for memo in inventory.remembered.values() if memo.job_id}

    async def has_record(job_id: str) -> None:
        if not await is_known(ports.ledger, job_id):
            report.differs("record", job_id, f"the record of the drop {jobs[job_id]} is missing")

    await each(jobs, has_record)
    report.counted |= {"drops": len(jobs)}


async def _submissions(ports: Ports, active: Iterable[Active], report: Audit) -> None:
    """Checks that nothing waits long for its submission, unless submissions are paused."""
    if await paused(ports) is not None:
        return
    for row in active:
        if row.state not in AT_WORK and age(ports, row.due) > _LATE:
            report.differs(
                "submission", row.job_id, f"{row.state.value}, and due since {row.due.isoformat()}"
            )


async def _check_rows(
    ledger: Ledger, active: Iterable[Active], ended: Iterable[Job], noted: Iterable[str]
) -> None:
    """Read the rows that no other comparison reads, to note unreadable ones; also those noted before."""
    await ledger.check([*(row.job_id for row in active), *(job.id for job in ended)], noted)


async def _check_end_events(outbox: Outbox, ended: Iterable[Job], report: Audit) -> None:
    """Checks that every job that ended last has the event of its end."""

    async def one(job: Job) -> None:
        if not any(job.state.value in receiver.events for receiver in job.notify):
            return
        events = await outbox.events(job.id)
        if not any(notice.sequence == job.stage.sequence for notice in events):
            report.differs("delivery", job.id, f"{job.state.value}, without an event of its end")

    await each(ended, one)


async def _deliveries(ports: Ports, report: Audit) -> None:
    """Checks that no event waits for long or for an operator, and that none was given up."""
    now, longest = ports.clock(), ports.policy.longest_delivery_wait
    every = range(ports.outbox.shards)
    # No event is due further ahead than `longest`, so these are all waiting ones.
    shards = await asyncio.gather(*(ports.outbox.undelivered(n, now + longest, longest) for n in every))
    for notice in (notice for shard in shards for notice in shard):
        if age(ports, notice.due) > _LATE:
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
