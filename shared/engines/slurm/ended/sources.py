"""How a job ended that slurmctld has forgotten (MinJobAge).

Accounting and the controller's own completion file decide, and the record of its run explains. Where they do
not know the job, the record decides if it has its proof.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any
from urllib.parse import quote

from shared.core.engine import Observation
from shared.core.errors import EngineError, NotFound, Transient
from shared.core.job import JobState, Reason, Target
from shared.engines.recorded import IDLE, is_asked, placed, recorded
from shared.engines.runs import UNPROVEN
from shared.engines.shared_records import Records
from shared.engines.slurm.cluster import SlurmCluster
from shared.engines.slurm.ended.completions import Completions
from shared.engines.slurm.job.chosen import Listed, Listings
from shared.engines.slurm.job.share import allocated
from shared.engines.slurm.translation import observation, state_of
from shared.engines.slurm.wire.client import SlurmClient
from shared.engines.slurm.wire.dialect import Copy, copy_of, exit_object

#: How accounting shows the nodes of a job that never had one.
_WITHOUT_NODES = "None assigned"


class EndSources:
    """Sources that remember ends longer than slurmctld does.

    If all of them are missing, a job is submitted again and reports the earlier end: the claim of the first
    run makes the new copy return its exit code and run nothing.
    """

    def __init__(
        self, cluster: SlurmCluster, client: SlurmClient, records: Records, listings: Listings
    ) -> None:
        self._cluster, self._client, self._records, self._listings = cluster, client, records, listings
        self._completions = Completions(cluster.completions, cluster.user)

    async def combine(self, target: Target, copy: Copy) -> Observation:
        """The observation from a job on the cluster and the record of its last run."""
        return self._with_part(await self._combined(target, copy), copy)

    def _with_part(self, observed: Observation, copy: Copy) -> Observation:
        """The observation, with what Slurm gave the job of its nodes."""
        listing = self._listings.get((self._cluster.name, copy.partition), Listed())
        listing = listing.nodes.get(copy.nodes, listing)  # of several nodes, the largest in the partition
        return observed._replace(allotted=allocated(copy.allocated, listing))

    async def _combined(self, target: Target, copy: Copy) -> Observation:
        if not state_of(copy.states, copy.name)[0].terminal:
            return observation(copy, None)
        record = await self._records.find(target)
        if record is None:
            return observation(copy, None, visible=await self._records.visible())
        end = observation(copy, {}) if UNPROVEN in record else observation(copy, record)
        return placed(end, record, self._records.segment(target, record))

    async def find(self, target: Target) -> Observation | None:
        """How a job ended; None if unknown."""
        record = await self._records.find(target)
        if record is None or record.get("state") != "ended":
            end = await self._in_notes(target, None)
            return end and placed(end, record, self._records.segment(target, record) if record else "")
        segment = self._records.segment(target, record)
        if is_asked(record):
            # A signal comes from a cancellation or from a node that goes down: Slurm knows which.
            end = await self._in_notes(target, record)
            return (end or recorded(record))._replace(segment=segment)
        end = None
        with suppress(EngineError):  # an end waits for no notes
            end = await self._in_notes(target, record)
        return _at_times(end, recorded(record))._replace(segment=segment)

    async def _in_notes(self, target: Target, record: Mapping[str, Any] | None) -> Observation | None:
        """How a job ended in Slurm's own notes, with the record of its run."""
        accounted = await self._accounted(target, record) if self._cluster.accounting else None
        if accounted is not None:
            return accounted
        copies = await self._completions.find(target.name, target.token)
        return self._earliest(
            [copy for copy in copies if state_of(copy.states, copy.name)[0].terminal], record
        )

    def _earliest(self, copies: Sequence[Copy], record: Mapping[str, Any] | None) -> Observation | None:
        first = min(copies, key=lambda copy: copy.id, default=None)
        return None if first is None else self._with_part(observation(first, record), first)

    async def _accounted(self, target: Target, record: Mapping[str, Any] | None) -> Observation | None:
        answer = await self._client.accounting(f"/jobs/?job_name={quote(target.name, safe='')}")
        failure = answer.failure()
        if failure is not None and not isinstance(failure, NotFound):
            raise failure
        dialect = replace(await self._client.agree(), exit=exit_object)
        try:
            copies = [copy_of(dialect, _listed(job)) for job in answer.body.get("jobs") or ()]
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
            raise Transient("slurmdbd sent an unreadable answer") from error
        ours = [copy for copy in copies if copy.user == self._cluster.user]
        earliest = self._earliest([copy for copy in ours if _is_end_of(copy, target)], record)
        if earliest is not None and earliest.reason is Reason.USER and not earliest.exit_code:
            # slurmdbd's v0.0.38 reports 0 for failed jobs.
            reason = Reason.INFRASTRUCTURE if is_asked(record) else Reason.USER
            return earliest._replace(reason=reason, exit_code=None)
        return earliest


def _amounts(job: Mapping[str, Any]) -> str:
    """What accounting says that a job was given, as the queue has it; memory is in MiB."""
    units = {"mem": "M"}
    parts = ((one.get("type"), one.get("name"), one.get("count")) for one in _objects(job))
    words = (("/".join(filter(None, (kind, name))), count) for kind, name, count in parts if kind)
    return ",".join(f"{word}={count}{units.get(word, '')}" for word, count in words)


def _objects(job: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    amounts = (job.get("tres") or {}).get("allocated")
    return [one for one in amounts if isinstance(one, dict)] if isinstance(amounts, list) else []


def _at_times(end: Observation | None, by_record: Observation) -> Observation:
    """An end from notes, which may lack its times; without notes, that of the record."""
    if end is None:
        return by_record
    return end._replace(started=end.started or by_record.started, ended=end.ended or by_record.ended)


def _is_end_of(copy: Copy, target: Target) -> bool:
    """Whether a job in accounting is this attempt, has run, and has ended."""
    ran = copy.started is not None and copy.code not in IDLE
    state, _ = state_of(copy.states, copy.name)
    return copy.token == target.token and state.terminal and (ran or state is JobState.CANCELLED)


def _listed(job: Mapping[str, Any]) -> dict[str, Any]:
    """A job from accounting, in the form of the queue."""
    state, times = job.get("state") or {}, job.get("time") or {}
    return {
        "job_id": job["job_id"],
        "name": job.get("name"),
        # A user without an association is listed here, too.
        "user_name": job.get("user") or (job.get("association") or {}).get("user"),
        "comment": job.get("comment"),
        "job_state": state.get("current"),
        "state_reason": state.get("reason"),
        "submit_time": times.get("submission"),
        "start_time": times.get("start"),
        "end_time": times.get("end"),
        "exit_code": job.get("exit_code"),
        "tres_alloc_str": _amounts(job),
        "partition": job.get("partition"),
        "nodes": "" if job.get("nodes") == _WITHOUT_NODES else job.get("nodes"),
    }
