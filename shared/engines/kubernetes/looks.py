"""Reads one attempt: its Job, the objects that belong to it, and the record of its run."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from shared.core.engine import Observation, Why
from shared.core.errors import EngineError, Misconfigured
from shared.core.job import JobState, Target
from shared.engines import untrusted
from shared.engines.kubernetes.cluster import KubernetesCluster
from shared.engines.kubernetes.job.request import is_in_queue
from shared.engines.kubernetes.namespace import ENDED, Namespace, orphans
from shared.engines.kubernetes.translation.conditions import condition
from shared.engines.kubernetes.translation.ends import ranks_of
from shared.engines.kubernetes.translation.observations import (
    Evidence,
    is_lost,
    observation,
    waits_for_ranks,
    was_ended_by_us,
    without_job,
)
from shared.engines.kubernetes.translation.silence import GIVEN_UP, was_given_up
from shared.engines.kubernetes.translation.stuck import given_up, stuck_why, warned_of
from shared.engines.kubernetes.translation.wait_reasons import (
    SUSPENDED,
    events_wait,
    never_fits,
    pods_wait,
    queue_waits,
    ranks_wait,
)
from shared.engines.kubernetes.wire.objects import token_of
from shared.engines.kubernetes.wire.shapes import JOB, checked
from shared.engines.kubernetes.workloads import is_active
from shared.engines.recorded import explained, is_asked, placed, recorded
from shared.engines.runs import UNPROVEN
from shared.engines.shared_records import Records

log = logging.getLogger(__name__)

#: How long Kueue may take to notice a Job.
_UNSEEN = timedelta(minutes=1)
#: Seconds for which the nodes of the cluster are taken to stay as they are.
_GOOD = 300.0


class _Largest(NamedTuple):
    """When the nodes were listed, and the most GPUs that one of them has; None if that is not known."""

    at: float
    amount: int | None


class Looks:
    """Reads attempts of one cluster. `clock` gives Unix time."""

    def __init__(
        self, cluster: KubernetesCluster, namespace: Namespace, records: Records, clock: Callable[[], float]
    ) -> None:
        self._cluster, self._namespace = cluster, namespace
        self._records, self._clock = records, clock
        self._largest: _Largest | None = None

    async def own(self, target: Target) -> Mapping[str, Any] | None:
        """The attempt's Job; None if there is none, or if another job's has that name."""
        job = await self._namespace.job(target.name)
        return job if job is not None and token_of(job) == target.token else None

    async def observe(self, target: Target) -> Observation | None:
        """The attempt's observation; None if it is not found."""
        job = await self.own(target)
        return await self._by_record(target) if job is None else await self.observed(job, target)

    async def observed(self, job: Mapping[str, Any], target: Target) -> Observation:
        """The attempt's observation, given its Job. One that has ended is closed.

        Raises Busy if the Job or one of its pods cannot be read: then nothing is decided.
        """
        checked(job, JOB, target.name)
        pods = await self._namespace.pods(target.name)
        record = await self._records.find(target) if _has_begun(pods, job) else None
        is_seen = record is None and condition(job, "Failed") is not None and await self._records.visible()
        evidence = Evidence(job, pods, record, is_seen=is_seen, is_held=await self._is_held(job))
        pod = warned_of(pods, self._now())
        warnings = await self._namespace.warnings(pod) if pod else []
        stuck = given_up(pods, warnings, self._now())
        if stuck or (is_lost(evidence, self._now()) and not (was_given_up(job) and evidence.is_held)):
            evidence = replace(evidence, is_held=await self._give_up(job, stuck))
        observed = observation(evidence, self._now())
        if observed.state is JobState.QUEUED:
            observed = observed._replace(why=stuck_why(pods, warnings) or await self._why(evidence))
        if observed.state.terminal:
            await self._put_away(job, observed)
        segment = self._records.segment(target, record) if record is not None else ""
        return placed(observed, record, segment)._replace(handle=self.handle(target))

    def handle(self, target: Target) -> str:
        """The name by which people find the Job with kubectl."""
        return f"{self._cluster.namespace}/{target.name}"

    async def _by_record(self, target: Target) -> Observation | None:
        """How an attempt ended whose Job is gone, by an administrator or a time to live; None if unknown.

        A deletion may leave the pods: they go on.
        """
        record, pods = await self._records.find(target), await self._namespace.pods(target.name)
        remaining = orphans(pods, target.token)
        is_over = record is not None and UNPROVEN not in record and record.get("state") == "ended"
        segment = self._records.segment(target, record) if record is not None else ""
        if remaining and (not is_over or is_asked(record)):
            return placed(without_job(remaining), record, segment)._replace(handle=self.handle(target))
        if record is None or not is_over:
            return None
        if remaining:
            await self._namespace.end_orphans(target)  # the other ranks wait for this one
        elif is_asked(record) and pods:
            return None  # its processes are still ending
        return placed(explained(recorded(record), record), record, segment)

    async def _why(self, evidence: Evidence) -> Why | None:
        job, pods = evidence.job, evidence.pods
        if is_in_queue(job) and (job.get("spec") or {}).get("suspend"):
            metadata = job["metadata"]
            try:
                workloads = await self._namespace.workloads.of_job(metadata["uid"])
            except EngineError as error:
                log.warning("the Workload of %s cannot be read: %s", metadata["name"], error)
                return None
            return queue_waits(next(iter(workloads), None), is_old=self._is_old(job))
        if not pods and (job.get("spec") or {}).get("suspend"):
            return None if self._cluster.queue else SUSPENDED
        why, ranks = pods_wait(pods), ranks_of(job)
        if why is not None and "Insufficient" in why.text and not self._cluster.autoscales:
            why = await self._never_fits() or why
        if why is None and len(pods) < ranks:
            why = events_wait(await self._namespace.failures(job["metadata"]["name"]))
        if waits_for_ranks(job, pods, evidence.record):
            count = sum(1 for pod in pods if (pod.get("status") or {}).get("phase") == "Running")
            return ranks_wait(why, count, ranks)
        return why

    async def _give_up(self, job: Mapping[str, Any], why: str) -> bool:
        """End what is left of an attempt: of one on a lost node, since another may follow, or for `why`.

        Returns whether that was brought about: no end counts before.
        """
        try:
            await self._namespace.stop(job, self._now().isoformat(timespec="seconds"), GIVEN_UP, why)
        except EngineError as error:
            log.warning("%s is not given up yet: %s", job["metadata"]["name"], error)
            return False
        return not is_in_queue(job)  # the next look shows whether its queue has stopped it

    async def _never_fits(self) -> Why | None:
        """Why a pod can never get its GPUs; None if a node has as many, or that is not known."""
        gpus, resource = self._cluster.gpus, self._cluster.gpu_resource
        if self._largest is None or not 0 <= self._clock() - self._largest.at < _GOOD:
            self._largest = _Largest(self._clock(), await self._namespace.largest(resource))
        most = self._largest.amount
        return never_fits(resource, gpus, most) if most is not None and gpus > most else None

    async def _is_held(self, job: Mapping[str, Any]) -> bool:
        """Whether nothing starts again what was cancelled or given up; the last step to that is done here.

        Of a queue only a Job that gets no pods any more: Kueue may see any other long after the request, and
        again when its Workload was deleted, and resumes it.
        """
        if not was_ended_by_us(job):
            return True
        spec = job.get("spec") or {}
        has_no_pods, is_suspended = spec.get("parallelism") == 0, bool(spec.get("suspend"))
        if not is_in_queue(job):
            return has_no_pods or is_suspended
        try:
            workloads = await self._namespace.workloads.of_job(job["metadata"]["uid"])
        except Misconfigured as error:
            log.warning("whether Kueue gave up %s is not seen: %s", job["metadata"]["name"], error)
            return has_no_pods
        if not workloads:
            is_left = self._is_old(job) or not await self._namespace.workloads.has_kueue()
            return has_no_pods and is_left
        if any(map(is_active, workloads)) or not (has_no_pods or is_suspended):
            return False
        if has_no_pods or any(condition(one, "QuotaReserved") for one in workloads):
            return has_no_pods  # otherwise Kueue is still taking its quota back
        return await self._leave_without_pods(job["metadata"]["name"])

    async def _leave_without_pods(self, name: str) -> bool:
        """Leave a Job without pods that its queue has stopped; whether that was brought about."""
        try:
            await self._namespace.leave_without_pods(name)
        except EngineError as error:
            log.warning("%s is not ended yet: %s", name, error)
            return False
        return True

    def _is_old(self, job: Mapping[str, Any]) -> bool:
        """Whether Kueue has had the time to make the Workload of a Job."""
        created = untrusted.moment(job["metadata"].get("creationTimestamp"))
        return created is not None and self._now() - created > _UNSEEN

    async def _put_away(self, job: Mapping[str, Any], observed: Observation) -> None:
        """Remove the Job's secrets and drop it from lists.

        A failure is logged, and does not delay the end.
        """
        labels = job["metadata"].get("labels") or {}
        is_over = condition(job, "Complete") or condition(job, "Failed")
        if ENDED in labels or not (is_over or observed.state is JobState.CANCELLED):
            return  # the Job of a lost node may still hang, so it stays in the lists
        try:
            await self._namespace.close_job(job)
        except EngineError as error:
            log.warning("the secrets of %s are not removed: %s", job["metadata"]["name"], error)

    def _now(self) -> datetime:
        return datetime.fromtimestamp(self._clock(), UTC)


def _has_begun(pods: list[Mapping[str, Any]], job: Mapping[str, Any]) -> bool:
    """Whether there may be a record: a container has started, or the pods are gone."""
    phases = [(pod.get("status") or {}).get("phase") for pod in pods]
    return not phases or any(phase != "Pending" for phase in phases) or bool(condition(job, "Failed"))
