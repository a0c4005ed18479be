"""Kueue: Workloads for Jobs of a LocalQueue, a quota of GPUs, preemption by priority.

As in Kueue 0.18: `pkg/controller/jobframework/reconciler.go` says in which order a Job is handled.
"""

from __future__ import annotations

import secrets

from tests.doubles.kubernetes.conditions import holds, put
from tests.doubles.kubernetes.defaults import gpus
from tests.doubles.kubernetes.errors import Refusal
from tests.doubles.kubernetes.object_store import Object, Store

QUEUE, PRIORITY = "kueue.x-k8s.io/queue-name", "kueue.x-k8s.io/priority-class"
_UID = "kueue.x-k8s.io/job-uid"
_LOWER = "Preempted to accommodate a higher priority Workload"


class Kueue:
    """The controllers and their webhooks."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.is_installed = False
        #: no webhook answers: each change of a Job or of a Workload fails; and no controller runs
        self.is_down = False
        #: the webhooks answer, and no controller runs, as while another one takes over
        self.is_behind = False
        self._count = 0

    def admit(self, job: Object) -> None:
        """The webhook for a new Job. Raises Refusal."""
        self.check("mjob.kb.io")
        if self.is_installed and self._is_managed(job):
            job["spec"]["suspend"] = True

    def check(self, webhook: str) -> None:
        """The webhook for a change of an object. Raises Refusal while it does not answer."""
        if self.is_installed and self.is_down:
            text = f'Internal error occurred: failed calling webhook "{webhook}": failed to call webhook: '
            text = f"{text}connection refused"
            raise Refusal(500, "InternalError", text, causes=[{"message": text}])

    def reconcile(self) -> None:
        """Handle all Jobs and Workloads once."""
        if not self.is_installed or self.is_down or self.is_behind:
            return
        for workload in self._store.all("workloads"):
            if self._job(workload) is None:
                self._store.remove("workloads", workload)
        for job in self._store.all("jobs"):
            if self._is_managed(job):
                self._look_at(job)
        for workload in sorted(self._store.all("workloads"), key=self._rank):
            if workload["spec"]["active"] and not holds(workload, "QuotaReserved"):
                self._try(workload)

    def _look_at(self, job: Object) -> None:
        """The Job's controller: one Workload of its size, and a Job that goes as its Workload says."""
        workload = self._only_workload(job)
        if holds(job, "Complete") or holds(job, "Failed"):
            if workload is not None and put(workload, "Finished", "Succeeded", "Job finished"):
                self._store.touch(workload)
        elif workload is None:
            if not job["status"].get("active"):
                self._make(job)
        elif holds(workload, "Evicted") or not workload["spec"]["active"]:
            self._evict(workload, job)
        else:
            self._suspend(job, not holds(workload, "Admitted"))

    def _only_workload(self, job: Object) -> Object | None:
        """The Workload of the Job's size. One of another size is changed, or makes the Job stop and goes."""
        workload = next((one for plural, one in self._store.owned(job) if plural == "workloads"), None)
        if workload is None or workload["spec"]["podSets"][0]["count"] == self._size(job):
            if workload is None and not job["spec"]["suspend"]:
                self._suspend(job, True)
            return workload
        if job["spec"]["suspend"] and not holds(workload, "QuotaReserved"):
            workload["spec"]["podSets"] = self._pod_sets(job)
            self._store.touch(workload)
            return workload
        self._suspend(job, True)
        self._store.remove("workloads", workload)
        return None

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
            "spec": {
                "active": True,
                "queueName": labels[QUEUE],
                "priority": value,
                "podSets": self._pod_sets(job),
            },
            "status": {},
        }
        self._store.add("workloads", metadata["namespace"], document)

    def _try(self, workload: Object) -> None:
        """The scheduler: admit a Workload, preempt others for it, or record why it waits."""
        namespace, queue = workload["metadata"]["namespace"], workload["spec"]["queueName"]
        if not self._store.find("localqueues", namespace, queue):
            self._wait(workload, "Misconfigured", f"LocalQueue {queue} doesn't exist")
            return
        demand, most = self._gpus(workload), self._quota()
        if demand > most:
            text = f"couldn't assign flavors to pod set main: {demand} > maximum capacity ({most})"
            self._wait(workload, "ExceedsMaxQuota", text)
            return
        holders = self._holders()
        used = sum(self._gpus(one) for one in holders)
        if used + demand > most:
            text = f"insufficient unused quota for nvidia.com/gpu, {used + demand - most} more needed"
            self._wait(workload, "WaitingForQuota", text)
            for low in holders:
                if low["spec"]["priority"] < workload["spec"]["priority"]:
                    self._mark(low, "Evicted", "Preempted", _LOWER)
            return
        self._mark(workload, "QuotaReserved", "QuotaReserved", "Quota reserved in ClusterQueue cq")
        if holds(workload, "Evicted"):
            self._mark(workload, "Evicted", "QuotaReserved", "Previously: Preempted", is_true=False)
        self._mark(workload, "Admitted", "Admitted", "The workload is admitted")

    def _evict(self, workload: Object, job: Object) -> None:
        """Stop the Job; its quota is free when none of its pods is active any more."""
        if not holds(workload, "Evicted"):
            self._mark(workload, "Evicted", "Deactivated", "The workload is deactivated")
        self._suspend(job, True)
        if holds(workload, "QuotaReserved") and not job["status"].get("active"):
            self._wait(workload, "Pending", "The workload was evicted")

    def _wait(self, workload: Object, reason: str, message: str) -> None:
        self._mark(workload, "QuotaReserved", reason, message, is_true=False)
        self._mark(workload, "Admitted", "NoReservation", "The workload has no reservation", is_true=False)

    def _mark(self, workload: Object, kind: str, reason: str, message: str, *, is_true: bool = True) -> None:
        if put(workload, kind, reason, message, is_true=is_true):
            self._store.touch(workload)

    def _suspend(self, job: Object, suspend: bool) -> None:
        if job["spec"]["suspend"] is not suspend:
            job["spec"]["suspend"] = suspend
            self._store.touch(job)

    def _holders(self) -> list[Object]:
        """The Workloads that have quota."""
        return [
            one
            for one in self._store.all("workloads")
            if holds(one, "QuotaReserved") and not holds(one, "Finished")
        ]

    def _quota(self) -> int:
        """The GPUs of all ClusterQueues."""
        total = 0
        for one in self._store.all("clusterqueues"):
            for group in one["spec"].get("resourceGroups") or ():
                for flavor in group["flavors"]:
                    total += sum(int(r["nominalQuota"]) for r in flavor["resources"] if "/" in r["name"])
        return total

    def _gpus(self, workload: Object) -> int:
        return sum(int(one["count"]) * gpus(one["template"]["spec"]) for one in workload["spec"]["podSets"])

    def _pod_sets(self, job: Object) -> list[Object]:
        return [{"name": "main", "count": self._size(job), "template": job["spec"]["template"]}]

    def _size(self, job: Object) -> int:
        return min(int(job["spec"]["parallelism"]), int(job["spec"]["completions"]))

    def _is_managed(self, job: Object) -> bool:
        return QUEUE in (job["metadata"].get("labels") or {})

    def _job(self, workload: Object) -> Object | None:
        owner = next(iter(workload["metadata"].get("ownerReferences") or ()), None)
        if owner is None:  # its Job was deleted, and what it owned was left
            return None
        job = self._store.find("jobs", workload["metadata"]["namespace"], owner["name"])
        return job if job is not None and job["metadata"]["uid"] == owner["uid"] else None

    def _rank(self, workload: Object) -> tuple[int, int]:
        return -workload["spec"]["priority"], int(workload["metadata"]["annotations"]["made"])
