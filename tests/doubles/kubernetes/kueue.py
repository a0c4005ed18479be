"""Kueue: Workloads for Jobs of a LocalQueue, a quota of GPUs, preemption by priority."""

from __future__ import annotations

import secrets

from tests.doubles.kubernetes.conditions import holds, put
from tests.doubles.kubernetes.defaults import gpus
from tests.doubles.kubernetes.errors import Refusal
from tests.doubles.kubernetes.object_store import Object, Store

QUEUE, PRIORITY = "kueue.x-k8s.io/queue-name", "kueue.x-k8s.io/priority-class"
_UID = "kueue.x-k8s.io/job-uid"


class Kueue:
    """The controller and its webhook; `is_down`: installed, but the webhook fails every Job."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.is_installed, self.is_down = False, False
        self._count = 0

    def admit(self, job: Object) -> None:
        """The webhook for a new Job. Raises Refusal."""
        if not self.is_installed:
            return
        if self.is_down:
            text = 'Internal error occurred: failed calling webhook "mjob.kb.io": failed to call webhook: '
            text = f"{text}connection refused"
            raise Refusal(500, "InternalError", text, causes=[{"message": text}])
        if QUEUE in (job["metadata"].get("labels") or {}):
            job["spec"]["suspend"] = True

    def reconcile(self) -> None:
        """Handle all Jobs and Workloads once."""
        if not self.is_installed or self.is_down:
            return
        for job in self._store.all("jobs"):
            if QUEUE in (job["metadata"].get("labels") or {}) and self._workload(job) is None:
                self._make(job)
        for workload in sorted(self._store.all("workloads"), key=self._rank):
            owner = self._job(workload)
            if owner is None:
                self._store.remove("workloads", workload)
            else:
                self._look_at(workload, owner)

    def _look_at(self, workload: Object, job: Object) -> None:
        before = repr(workload["status"])
        if holds(job, "Complete") or holds(job, "Failed"):
            put(workload, "Finished", "Succeeded", "Job finished")
        elif not workload["spec"]["active"]:
            self._evict(workload, job, "Deactivated", "The workload is deactivated")
        elif not holds(workload, "Admitted"):
            self._try(workload, job)
        elif job["spec"]["suspend"]:
            job["spec"]["suspend"] = False
            self._store.touch(job)
        if repr(workload["status"]) != before:
            self._store.touch(workload)

    def _make(self, job: Object) -> None:
        labels, metadata = job["metadata"]["labels"], job["metadata"]
        priority = labels.get(PRIORITY)
        if priority and not self._store.find("workloadpriorityclasses", "", priority):
            return  # silently, as Kueue does
        owner = {"apiVersion": "batch/v1", "kind": "Job", "name": metadata["name"], "uid": metadata["uid"]}
        value = self._store.get("workloadpriorityclasses", "", priority)["value"] if priority else 0
        self._count += 1
        document = {
            "metadata": {
                "annotations": {"made": str(self._count)},
                "name": f"job-{metadata['name']}-{secrets.token_hex(3)[:5]}",
                "labels": {_UID: metadata["uid"]},
                "ownerReferences": [{**owner, "controller": True, "blockOwnerDeletion": True}],
            },
            "spec": {"active": True, "queueName": labels[QUEUE], "priority": value},
            "status": {},
        }
        self._store.add("workloads", metadata["namespace"], document)

    def _try(self, workload: Object, job: Object) -> None:
        """Admit a Workload, preempt others for it, or record why it waits."""
        namespace, queue = workload["metadata"]["namespace"], workload["spec"]["queueName"]
        if not self._store.find("localqueues", namespace, queue):
            self._wait(workload, "Misconfigured", f"LocalQueue {queue} doesn't exist")
            return
        demand, most = self._gpus(job), self._quota()
        if demand > most:
            text = f"couldn't assign flavors to pod set main: {demand} > maximum capacity ({most})"
            self._wait(workload, "ExceedsMaxQuota", text)
            return
        used = sum(self._gpus(one) for one, _ in self._admitted())
        if used + demand > most:
            lower = [
                (j, w) for j, w in self._admitted() if w["spec"]["priority"] < workload["spec"]["priority"]
            ]
            if not lower:
                text = f"insufficient unused quota for nvidia.com/gpu, {used + demand - most} more needed"
                self._wait(workload, "WaitingForQuota", text)
                return
            for low_job, low in lower:
                self._evict(low, low_job, "Preempted", "Preempted to accommodate a higher priority Workload")
                self._store.touch(low)
        put(workload, "QuotaReserved", "QuotaReserved", "Quota reserved in ClusterQueue cq")
        if holds(workload, "Evicted"):
            put(workload, "Evicted", "QuotaReserved", "Previously: Preempted", is_true=False)
        put(workload, "Admitted", "Admitted", "The workload is admitted")
        job["spec"]["suspend"] = False
        self._store.touch(job)

    def _wait(self, workload: Object, reason: str, message: str) -> None:
        put(workload, "QuotaReserved", reason, message, is_true=False)
        put(workload, "Admitted", "NoReservation", "The workload has no reservation", is_true=False)

    def _evict(self, workload: Object, job: Object, reason: str, message: str) -> None:
        put(workload, "Evicted", reason, message)
        self._wait(workload, "Pending", message)
        if not job["spec"]["suspend"]:
            job["spec"]["suspend"] = True
            self._store.touch(job)

    def _admitted(self) -> list[tuple[Object, Object]]:
        workloads = [one for one in self._store.all("workloads") if holds(one, "Admitted")]
        pairs = [(self._job(one), one) for one in workloads if not holds(one, "Finished")]
        return [(job, one) for job, one in pairs if job is not None]

    def _quota(self) -> int:
        """The GPUs of all ClusterQueues."""
        total = 0
        for one in self._store.all("clusterqueues"):
            for group in one["spec"].get("resourceGroups") or ():
                for flavor in group["flavors"]:
                    total += sum(int(r["nominalQuota"]) for r in flavor["resources"] if "/" in r["name"])
        return total

    def _gpus(self, job: Object) -> int:
        return int(job["spec"]["parallelism"]) * gpus(job["spec"]["template"]["spec"])

    def _workload(self, job: Object) -> Object | None:
        return next((one for plural, one in self._store.owned(job) if plural == "workloads"), None)

    def _job(self, workload: Object) -> Object | None:
        owner = workload["metadata"]["ownerReferences"][0]
        job = self._store.find("jobs", workload["metadata"]["namespace"], owner["name"])
        return job if job is not None and job["metadata"]["uid"] == owner["uid"] else None

    def _rank(self, workload: Object) -> tuple[int, int]:
        return -workload["spec"]["priority"], int(workload["metadata"]["annotations"]["made"])
