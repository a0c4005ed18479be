"""The Job controller: makes pods for indexes, and ends a Job by its policies."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from tests.doubles.kubernetes.conditions import holds, put
from tests.doubles.kubernetes.defaults import gpus, index_of, pod_of
from tests.doubles.kubernetes.object_store import Object, Store, written

_REACHED = "Reached expected number of succeeded pods"


class JobController:
    """The controller. `disrupted` keeps the reasons why pods are gone."""

    def __init__(self, store: Store, *, is_old: bool) -> None:
        self._store, self._is_old = store, is_old
        #: uid of a Job → messages about its disrupted pods
        self.disrupted: dict[str, list[str]] = {}

    def reconcile(self) -> None:
        """Handle every Job once."""
        for job in self._store.all("jobs"):
            if "deletionTimestamp" not in job["metadata"]:
                before = repr(job["status"])
                self._look_at(job)
                is_left = self._store.find("jobs", job["metadata"]["namespace"], job["metadata"]["name"])
                if is_left and repr(job["status"]) != before:
                    self._store.touch(job)

    def pods(self, job: Object) -> list[Object]:
        return [one for plural, one in self._store.owned(job) if plural == "pods"]

    def end_pod(self, pod: Object) -> None:
        """Mark a pod for its node to end."""
        if "deletionTimestamp" not in pod["metadata"]:
            # When it has to be gone: the request, and the time that its processes have.
            grace = float(pod["spec"].get("terminationGracePeriodSeconds", 30))
            pod["metadata"]["deletionTimestamp"] = written(self._store.clock() + grace)
            self._store.touch(pod)

    def _look_at(self, job: Object) -> None:
        if holds(job, "Complete") or holds(job, "Failed"):
            self._expire(job)
            return
        pods = self.pods(job)
        active = [one for one in pods if one["status"]["phase"] in ("Pending", "Running")]
        going = [one for one in active if "deletionTimestamp" not in one["metadata"]]
        self._count(job, pods, going, len(active) - len(going))
        if self._decide(job, pods):
            for one in going:
                self.end_pod(one)
            if not active or self._is_old:
                self._finish(job)
        elif job["spec"].get("suspend"):
            for one in going:
                self.end_pod(one)
            job["status"].pop("startTime", None)
            self._put(job, "Suspended", "JobSuspended", "Job suspended")
        else:
            self._go_on(job, pods, going)

    def _expire(self, job: Object) -> None:
        """Delete a Job with all that it owns, once its time to live is over."""
        seconds = job["spec"].get("ttlSecondsAfterFinished")
        if seconds is None:
            return
        ends = [one for one in job["status"]["conditions"] if one["type"] in ("Complete", "Failed")]
        ended = datetime.fromisoformat(ends[0]["lastTransitionTime"])
        if (datetime.fromisoformat(self._store.now()) - ended).total_seconds() >= seconds:
            for plural, one in list(self._store.owned(job)):
                self._store.remove(plural, one)
            self._store.remove("jobs", job)

    def _count(self, job: Object, pods: list[Object], going: list[Object], terminating: int) -> None:
        phases = [one["status"]["phase"] for one in pods]
        done = sorted({index_of(one) for one in pods if one["status"]["phase"] == "Succeeded"})
        counts = {"active": len(going), "failed": phases.count("Failed"), "succeeded": len(done)}
        job["status"] |= counts
        if not self._is_old:
            ready = sum(1 for one in going if one["status"]["phase"] == "Running")
            job["status"] |= {"terminating": terminating, "ready": ready}

    def _go_on(self, job: Object, pods: list[Object], going: list[Object]) -> None:
        if holds(job, "Suspended"):
            self._put(job, "Suspended", "JobResumed", "Job resumed", is_true=False)
        job["status"].setdefault("startTime", self._store.now())
        spec = job["spec"]
        for surplus in going[spec["parallelism"] :]:
            self.end_pod(surplus)
        indexes = {index_of(one) for one in pods if one["status"]["phase"] != "Failed"}
        room = spec["parallelism"] - len(going)
        if len(pods) > len(going) and not self._is_old and any(_is_leaving(one) for one in pods):
            return  # replaced once it is gone
        for index in range(spec["completions"]):
            if room > 0 and index not in indexes:
                room -= 1
                if not self._make(job, index):
                    return

    def _make(self, job: Object, index: int) -> bool:
        pod = pod_of(job, index)
        namespace = job["metadata"]["namespace"]
        if why := self._refusal(namespace, pod):
            name = pod["metadata"]["generateName"]
            self._store.event(job, "FailedCreate", f'Error creating: pods "{name}" is forbidden: {why}')
            return False
        self._store.add("pods", namespace, pod)
        self._store.event(job, "SuccessfulCreate", f"Created pod: {pod['metadata']['name']}")
        return True

    def _refusal(self, namespace: str, pod: Object) -> str:
        priority = pod["spec"].get("priorityClassName")
        if priority and not self._store.find("priorityclasses", "", priority):
            return f"no PriorityClass with name {priority} was found"
        pods = [one for one in self._store.all("pods", namespace) if _lives(one)]
        used = {"pods": len(pods), "gpus": sum(gpus(one["spec"]) for one in pods)}
        demand = {"pods": 1, "gpus": gpus(pod["spec"])}
        for quota in self._store.all("resourcequotas", namespace):
            for name, most in (quota["spec"].get("hard") or {}).items():
                kind = "pods" if name == "pods" else "gpus" if name.startswith("requests.") else ""
                if kind and used[kind] + demand[kind] > int(most):
                    amounts = f"requested: {name}={demand[kind]}, used: {name}={used[kind]}"
                    return f"exceeded quota: {quota['metadata']['name']}, {amounts}, limited: {name}={most}"
        return ""

    def _decide(self, job: Object, pods: list[Object]) -> bool:
        """Whether the end of a Job is decided; sets the condition."""
        if holds(job, "FailureTarget") or holds(job, "SuccessCriteriaMet"):
            return True
        if why := self._failure(job, pods):
            return self._put(job, "FailureTarget", *why)
        spec, done = job["spec"], {index_of(one) for one in pods if one["status"]["phase"] == "Succeeded"}
        for number, rule in enumerate((spec.get("successPolicy") or {}).get("rules") or ()):
            if {int(one) for one in rule["succeededIndexes"].split(",")} <= done:
                return self._put(
                    job, "SuccessCriteriaMet", "SuccessPolicy", f"Matched rules at index {number}"
                )
        if done and len(done) >= spec["completions"]:
            return self._put(job, "SuccessCriteriaMet", "CompletionsReached", _REACHED)
        return False

    def _failure(self, job: Object, pods: list[Object]) -> tuple[str, str] | None:
        spec, limit = job["spec"], job["spec"].get("activeDeadlineSeconds")
        begun = job["status"].get("startTime")
        if limit and begun and self._store.clock() - datetime.fromisoformat(begun).timestamp() > limit:
            return "DeadlineExceeded", "Job was active longer than specified deadline"
        failed = [one for one in pods if one["status"]["phase"] == "Failed"]
        rules = (spec.get("podFailurePolicy") or {}).get("rules") or ()
        disrupted = self.disrupted.get(job["metadata"]["uid"]) or ()
        for number, rule in enumerate(rules):
            if rule.get("onPodConditions") and disrupted and rule["action"] == "Ignore":
                disrupted = ()
            elif rule.get("onPodConditions") and disrupted:
                return "PodFailurePolicy", f"{disrupted[0]} matching FailJob rule at index {number}"
            for pod in failed if rule.get("onExitCodes") else ():
                if ended := _ended(pod):
                    name = f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"
                    text = f"Container {ended[0]} for pod {name} failed with exit code {ended[1]}"
                    return "PodFailurePolicy", f"{text} matching FailJob rule at index {number}"
        lost = len(failed) + len(disrupted)
        if lost > spec["backoffLimit"]:
            return "BackoffLimitExceeded", "Job has reached the specified backoff limit"
        return None

    def _put(self, job: Object, kind: str, reason: str, message: str, *, is_true: bool = True) -> bool:
        return put(job, kind, reason, message, is_true=is_true, at=self._store.now())

    def _finish(self, job: Object) -> None:
        listed: list[dict[str, Any]] = job["status"]["conditions"]
        cause = next(one for one in listed if one["type"] in ("FailureTarget", "SuccessCriteriaMet"))
        if self._is_old:
            listed.clear()  # it has no condition for a coming end
        kind = "Failed" if cause["type"] == "FailureTarget" else "Complete"
        self._put(job, kind, cause["reason"], cause["message"])
        job["status"] |= {"active": 0} if self._is_old else {"active": 0, "terminating": 0, "ready": 0}
        if kind == "Complete":
            job["status"]["completionTime"] = self._store.now()


def _lives(pod: Object) -> bool:
    return pod["status"]["phase"] in ("Pending", "Running")


def _is_leaving(pod: Object) -> bool:
    return "deletionTimestamp" in pod["metadata"] and _lives(pod)


def _ended(pod: Object) -> tuple[str, int] | None:
    """The name of a container that failed, and its exit code."""
    status = pod["status"]
    for one in (*(status.get("containerStatuses") or ()), *(status.get("initContainerStatuses") or ())):
        code = int((one["state"].get("terminated") or {}).get("exitCode") or 0)
        if code:
            return one["name"], code
    return None
