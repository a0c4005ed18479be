"""A model of a cluster: the tests' API server, with nodes that advance round by round.

A pod may be evicted; its node may be lost while its processes live on, and reports nothing more until an
operator removes it. Through all of that, the volume that pods share keeps the claims on attempts
(`shared/engines/node/claim.py`).
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from typing import Any

from shared.engines.kubernetes.job.forget import ATTEMPTS
from shared.engines.launch.alone import PROOFS
from tests.crash.invariants.ran_jobs import attempts_of
from tests.doubles.claims import Claims, Earlier
from tests.doubles.kubernetes.api import Api
from tests.doubles.kubernetes.conditions import holds, put
from tests.doubles.kubernetes.defaults import index_of
from tests.doubles.kubernetes.job_controller import JobController
from tests.doubles.kubernetes.kueue import Kueue
from tests.doubles.kubernetes.object_store import Object, Store

#: Rounds after which an operator removes a lost node.
_REMOVED = 30
#: The LocalQueue, where there is Kueue.
QUEUE = "team"


class Cluster:
    """The server, its controllers and the nodes. `clock` gives Unix time; it may be replaced."""

    def __init__(
        self, *, loses: bool = False, lives: int = 0, fenced: bool = True, behind: int | None = None
    ) -> None:
        self.clock: Callable[[], float] = lambda: 0.0
        self.store = Store(self.now)
        self._jobs, self.kueue = JobController(self.store, is_old=False), Kueue(self.store)
        self.api = Api(self.store, self._jobs, self.kueue, is_old=False)
        self.store.add("namespaces", "", {"metadata": {"name": "slipway"}})
        #: rounds after which a controller of Kueue takes over; None where there is no Kueue
        self._behind = behind
        if behind is not None:
            self._add_queue()
        #: whether first attempts lose their node; rounds that their processes live on; whether claims count
        self.loses, self._lives, self._fenced = loses, lives, fenced
        self.claims = Claims()
        self.began: list[str] = []
        self.finished: list[str] = []
        self.violations: list[str] = []
        #: number of a run → name of its attempt
        self.alive: dict[int, str] = {}
        #: uid of a pod → number of its run
        self._runs: dict[str, int] = {}
        #: uid of a pod whose node is lost → rounds since then
        self._lost: dict[str, int] = {}
        self._ever_lost: set[str] = set()

    def now(self) -> float:
        """Unix time."""
        return self.clock()

    def answer(self, method: str, path: str, query: Mapping[str, str], body: Any, *, as_table: bool) -> Any:
        """Status and body of a request."""
        if path == "/version":
            return 200, {"gitVersion": "v1.36.2"}
        if path == "/apis/kueue.x-k8s.io" and self.kueue.is_installed:
            preferred = {"groupVersion": "kueue.x-k8s.io/v1beta2", "version": "v1beta2"}
            return 200, {"kind": "APIGroup", "preferredVersion": preferred}
        return self.api.answer(method, path, query, body, as_table=as_table)

    def advance(self, preempts: Callable[[str], bool]) -> None:
        """One round: controllers, then every pod moves on by one state, then controllers."""
        self._jobs.reconcile()
        self._queue()
        self.claims.forge(self.alive.values())
        for pod in self.store.all("pods"):
            self._move(pod, preempts)
        self._jobs.reconcile()
        self.api.reconcile()

    def held(self) -> list[str]:
        """The Jobs that have pods or quota of Kueue, and no end of their own."""
        workloads = [one for one in self.store.all("workloads") if holds(one, "QuotaReserved")]
        pods = [one for one in self.store.all("pods") if one["status"]["phase"] in ("Pending", "Running")]
        names = [
            *(one["metadata"]["ownerReferences"][0]["name"] for one in workloads if self._demand(one)),
            *(one["metadata"]["labels"].get("job-name", "") for one in pods),
        ]
        return sorted({name for name in names if not self._is_over(name)})

    def _add_queue(self) -> None:
        self.kueue.is_installed, self.kueue.is_behind = True, True
        flavors = [{"name": "gpu", "resources": [{"name": "nvidia.com/gpu", "nominalQuota": 4}]}]
        groups = {"resourceGroups": [{"flavors": flavors}]}
        self.store.add("clusterqueues", "", {"metadata": {"name": "cq"}, "spec": groups})
        queue = {"metadata": {"name": QUEUE}, "spec": {"clusterQueue": "cq"}}
        self.store.add("localqueues", "slipway", queue)

    def _queue(self) -> None:
        if self._behind is not None:
            self._behind -= 1
            self.kueue.is_behind = self._behind >= 0
            self.kueue.reconcile()

    def _demand(self, workload: Object) -> int:
        return sum(int(one["count"]) for one in workload["spec"]["podSets"])

    def _is_over(self, name: str) -> bool:
        job = self.store.find("jobs", "slipway", name)
        return job is None or holds(job, "Complete") or holds(job, "Failed")

    def _move(self, pod: Object, preempts: Callable[[str], bool]) -> None:
        name, uid = pod["metadata"]["labels"].get("job-name", ""), pod["metadata"]["uid"]
        phase = pod["status"]["phase"]
        if uid in self._lost:
            self._live_on(pod)
        elif "deletionTimestamp" in pod["metadata"]:
            self._end(pod)
        elif phase == "Pending":
            self._start(name, pod)
        elif phase == "Running" and index_of(pod) == 0:
            if preempts(name):
                put(pod, "DisruptionTarget", "PreemptionByScheduler", "preempted", at=self.store.now())
                self._jobs.end_pod(pod)
            elif self.loses and name.endswith("-1") and name not in self._ever_lost:
                self._ever_lost.add(name)
                self._lost[uid] = 0
                put(
                    pod, "DisruptionTarget", "DeletionByTaintManager", "its node is lost", at=self.store.now()
                )
                self._jobs.end_pod(pod)
            else:
                self._finish(pod)
                self._exit(pod, 0)

    def _live_on(self, pod: Object) -> None:
        uid = pod["metadata"]["uid"]
        self._lost[uid] += 1
        if self._lost[uid] > self._lives:
            self._finish(pod)
        if self._lost[uid] > max(_REMOVED, self._lives):
            del self._lost[uid]
            self._end(pod)

    def _end(self, pod: Object) -> None:
        """End a pod's processes and remove it; its Job records a disruption."""
        self.alive.pop(self._runs.pop(pod["metadata"]["uid"], 0), None)
        held = {one["type"] for one in pod["status"].get("conditions") or ()}
        owners = pod["metadata"].get("ownerReferences") or ()
        if "DisruptionTarget" in held and owners:
            text = f"Pod slipway/{pod['metadata']['name']} has condition DisruptionTarget"
            self._jobs.disrupted.setdefault(owners[0]["uid"], []).append(text)
        self.store.remove("pods", pod)

    def _finish(self, pod: Object) -> None:
        name = self.alive.pop(self._runs.pop(pod["metadata"]["uid"], 0), None)
        if name is not None:
            self.finished.append(name)
            self.claims.end(name)

    def _exit(self, pod: Object, code: int) -> None:
        ended = {"exitCode": code, "startedAt": self.store.now(), "finishedAt": self.store.now()}
        container = {"name": "main", "state": {"terminated": ended}}
        pod["status"] |= {"phase": "Failed" if code else "Succeeded", "containerStatuses": [container]}
        self.store.touch(pod)

    def _start(self, name: str, pod: Object) -> None:
        """Start a pod's program, once its Secret exists; it checks whether it may run."""
        container = pod["spec"]["containers"][0]
        plain = {one["name"]: one.get("value", "") for one in container.get("env") or ()}
        if ATTEMPTS in plain:
            for line in plain[ATTEMPTS].splitlines():
                self.claims.pop(line.partition("\t")[0].rpartition("/")[2], None)
            self._exit(pod, 0)
            return
        secret = self.store.find("secrets", "slipway", name)
        if secret is None:
            return
        pod["status"] |= {"phase": "Running", "startTime": self.store.now()}
        self.store.touch(pod)
        if ranks := self._ranks_beside(name):
            self.violations.append(f"{', '.join(ranks)} runs on beside {name}")
        if index_of(pod):
            return  # it only serves the first pod
        code = self._refusal(name, secret["data"]) if self._fenced else None
        if code is not None:
            self._exit(pod, code)
            return
        if attempts_of(name) in map(attempts_of, self.alive.values()):
            self.violations.append(f"{name} runs while another run of the job does")
        self.began.append(name)
        self._runs[pod["metadata"]["uid"]] = len(self.began)
        self.alive[len(self.began)] = name

    def _ranks_beside(self, name: str) -> list[str]:
        """The ranks of other attempts of the job that live on nodes that answer."""
        return [
            pod["metadata"]["name"]
            for pod in self.store.all("pods")
            if pod["status"]["phase"] == "Running" and pod["metadata"]["uid"] not in self._lost
            if (other := pod["metadata"]["labels"].get("job-name", "")) != name
            and attempts_of(other) == attempts_of(name)
        ]

    def _refusal(self, name: str, data: Mapping[str, str]) -> int | None:
        """The exit code of a copy that must not run; None if it may, in place of earlier runs."""
        variables = ("SLIPWAY_TOKEN", "SLIPWAY_EARLIER", PROOFS)
        token, lines, proofs = (base64.b64decode(data.get(key, "")).decode() for key in variables)
        keys = {whose: own for whose, *own in map(str.split, proofs.splitlines())}
        earlier = [
            Earlier(before, its_token, reason, keys.get(its_token, ()))
            for before, its_token, reason in (line.split("\t") for line in lines.splitlines())
        ]
        code = self.claims.take(name, token, "", keys.get(token, ()), earlier)
        lost = {one for one in self.alive.values() if self.claims.has_lost(one)}
        self.alive = {
            n: one for n, one in self.alive.items() if one not in lost and (code is not None or one != name)
        }
        return code
