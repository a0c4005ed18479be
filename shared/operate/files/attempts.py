"""attempts: whose files are read: those of a job's current attempt, or of an earlier one.

Each attempt has a name of its own on its cluster, so its files stay apart, until the job is archived.
"""

from __future__ import annotations

from dataclasses import replace

from shared.core.caller import Caller
from shared.core.errors import Misuse
from shared.core.identity import target
from shared.core.job import Job, JobState, Stored, Target
from shared.core.ports import Ports
from shared.lifecycle.lookup import job

_MOST_DIGITS = 6


async def attempt_of(ports: Ports, job_id: str, attempt: str, who: Caller) -> Stored:
    """The record of a job as it was in that attempt; "" is the current one. Raises Misuse: 400, 404, 410."""
    stored = await job(ports, job_id, who)
    record = stored.job
    if not attempt:
        return stored
    number = int(attempt) if attempt.isascii() and attempt.isdigit() and len(attempt) <= _MOST_DIGITS else 0
    if number < 1:
        raise Misuse("attempt is not the number of an attempt", remedy="the first is 1")
    if number > record.attempt:
        many = "1 attempt" if record.attempt == 1 else f"{record.attempt} attempts"
        raise Misuse(f"the job has had {many}", status=404, remedy="ask for one of them")
    if number == record.attempt:
        return stored
    return replace(stored, job=_ended(ports, record, number))


def _ended(ports: Ports, record: Job, number: int) -> Job:
    """The record as if the job had ended with that attempt."""
    ends = (entry for entry in record.history if entry.attempt == number + 1)
    end = next(ends, None)
    changes = {
        "attempt": number,
        "state": JobState.FAILED,
        "reason": end.reason if end else None,
        "target": target(record, number, _engine(ports, record)),
        "segment": "",
        "handle": "",
    }
    return record.model_copy(update=changes)


def _engine(ports: Ports, record: Job) -> str:
    if record.target is not None:
        return record.target.engine
    cluster = ports.engines.clusters.get(record.cluster)
    if cluster is None:
        raise Misuse(f"no cluster {record.cluster!r} is configured here any more", status=404)
    return cluster.engine


def target_of(stored: Stored) -> Target:
    """The attempt with the files. Raises Misuse (409) before it reached its cluster."""
    record = stored.job
    target = record.target
    if target is None or record.state in (JobState.REJECTED, JobState.ACCEPTED, JobState.SUBMITTING):
        proviso = "" if record.state.terminal else " yet"
        remedy = "ask again when it is running" if not record.state.terminal else "see its problems"
        if record.attempt > 1:
            remedy = f"read those of the attempt before: attempt={record.attempt - 1}"
        which = f" in attempt {record.attempt}" if record.attempt > 1 else ""
        text = f"the job is {record.state}{which}, so no node has run it and it has no files{proviso}"
        raise Misuse(text, status=409, remedy=remedy)
    return target
