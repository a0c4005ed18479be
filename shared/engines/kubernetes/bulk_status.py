"""All active attempts of one cluster at once, by lists of rows. Only what has changed is read one by one."""

from __future__ import annotations

import logging
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from shared.core.each import each
from shared.core.engine import Observation
from shared.core.errors import EngineError
from shared.core.job import JobState, Target
from shared.engines.alone import alone
from shared.engines.kubernetes.cluster import KubernetesCluster
from shared.engines.kubernetes.looks import Looks
from shared.engines.kubernetes.namespace import ONLY_POD, POD_OF, Namespace
from shared.engines.kubernetes.translation.rows import POD_RUNS, is_partly_there, steady
from shared.engines.kubernetes.wire.objects import TOKEN
from shared.engines.kubernetes.wire.table import Row

#: How many attempts' tokens are remembered; and how many new attempts are read one by one, before a list of
#: full objects is read instead.
_REMEMBERED, _FEW = 50_000, 10
#: The number of attempts that a pass reads only to explain their wait in detail.
_CURIOUS = 3
#: Seconds after which the explanation of a wait is renewed.
_EXPLAINED = 120.0

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Memory:
    """What this process remembers of an attempt beyond its rows."""

    token: str
    #: the first pod in the last list
    pod: str = ""
    #: the pod's word in the list at the last explanation, that explanation, and its time (Unix)
    words: str = ""
    observation: Observation | None = None
    at: float = 0.0


class _Pods(NamedTuple):
    """The first pod of each Job, and how many of its pods run."""

    first: Mapping[str, Row]
    running: Counter[str]


@dataclass(frozen=True)
class _Lists:
    """The lists of one pass, by the names of Jobs."""

    jobs: Mapping[str, Row]
    #: the first pod of each Job, and how many of its pods run
    pods: Mapping[str, Row]
    running: Counter[str]
    failures: Mapping[str, list[Mapping[str, Any]]]
    workloads: Mapping[str, Mapping[str, Any]]


class BulkStatus:
    """Status in bulk. `clock` gives Unix time."""

    def __init__(
        self, cluster: KubernetesCluster, namespace: Namespace, looks: Looks, clock: Callable[[], float]
    ) -> None:
        self._cluster, self._namespace, self._looks, self._clock = cluster, namespace, looks, clock
        self._memories: OrderedDict[str, _Memory] = OrderedDict()

    def remember(self, target: Target) -> None:
        """Remember the attempt's token, so that its Job needs no check."""
        self._memories[target.name] = _Memory(target.token)
        while len(self._memories) > _REMEMBERED:
            self._memories.popitem(last=False)

    async def status(self, targets: Sequence[Target]) -> Mapping[str, Observation]:
        """Two lists, or four if some attempts wait for a quota. Changed attempts are read one by one."""
        lists = await self._list(targets)
        result: dict[str, Observation] = {}
        unclear, looks_left = list[Target](), _CURIOUS
        for target in targets:
            observed = self._steady(target, lists)
            if observed is None:
                unclear.append(target)
            elif looks_left and not self._is_clear(target, observed, lists):
                looks_left -= 1
                unclear.append(target)
            else:
                result[target.name] = self._explained(target, observed, lists)
        # Tasks are expensive: only attempts that need a read get one.
        answers = await each(unclear, lambda target: alone(target.name, self._look_at(target, lists)))
        looks = {one.name: answer for one, answer in zip(unclear, answers, strict=True) if answer is not None}
        return result | looks

    async def _list(self, targets: Sequence[Target]) -> _Lists:
        new = sum(1 for one in targets if not self._is_known(one))
        jobs = {row.name: row for row in await self._namespace.job_rows(with_metadata=new > _FEW)}
        pods = await self._pods()
        for target in targets if new > _FEW else ():
            row = jobs.get(target.name)
            if row and not self._is_known(target) and row.annotation(TOKEN) == target.token:
                self.remember(target)
        rows = [jobs[one.name] for one in targets if one.name in jobs]
        waiting = any(row.words.get("Status") == "Suspended" for row in rows)
        without = any(row.words.get("Status") == "Running" and row.name not in pods.first for row in rows)
        failures: dict[str, list[Mapping[str, Any]]] = {}
        for event in await self._namespace.failures() if without else ():
            failures.setdefault(str((event.get("involvedObject") or {}).get("name")), []).append(event)
        has_queue = bool(self._cluster.queue) and waiting
        return _Lists(jobs, pods.first, pods.running, failures, await self._workloads() if has_queue else {})

    async def _pods(self) -> _Pods:
        has_index = (await self._namespace.version()).is_supported
        first, running = dict[str, Row](), Counter[str]()
        for row in await self._namespace.pod_rows():
            match = (POD_OF if has_index else ONLY_POD).fullmatch(row.name)
            if match is None:
                continue
            if not has_index or match[2] == "0":
                first[match[1]] = row
            if row.words.get("Status") == POD_RUNS:
                running[match[1]] += 1
        return _Pods(first, running)

    async def _workloads(self) -> Mapping[str, Mapping[str, Any]]:
        """Why jobs wait in the queue, if it can be read: no end of a job depends on it."""
        try:
            return await self._namespace.workloads.by_job()
        except EngineError as error:
            log.warning("the Workloads of %s cannot be read: %s", self._cluster.name, error)
            return {}

    def _is_known(self, target: Target) -> bool:
        memory = self._memories.get(target.name)
        return memory is not None and memory.token == target.token

    def _steady(self, target: Target, lists: _Lists) -> Observation | None:
        """The observation from the lists; None if they do not suffice."""
        row, pod = lists.jobs.get(target.name), lists.pods.get(target.name)
        if row is None or not self._is_known(target):
            return None
        memory = self._memories[target.name]
        if pod is not None and memory.pod and pod.name != memory.pod:
            return None  # it runs again, in another pod
        failures = lists.failures.get(target.name, [])
        if pod is not None and is_partly_there(row.words, lists.running[target.name]):
            # Its ranks wait for others, or some have ended: only the objects show which.
            return memory.observation if self._is_fresh(target, lists) else None
        observed = steady(row.words, pod.words if pod else None, failures, lists.workloads.get(target.name))
        if observed is not None and pod is not None and not memory.pod:
            self._memories[target.name] = replace(memory, pod=pod.name)
        return observed and observed._replace(handle=self._looks.handle(target))

    def _is_clear(self, target: Target, observed: Observation, lists: _Lists) -> bool:
        """Whether the reason for the wait is fully known."""
        if observed.state is not JobState.QUEUED or target.name not in lists.pods:
            return True
        return self._is_fresh(target, lists)

    def _is_fresh(self, target: Target, lists: _Lists) -> bool:
        """Whether its objects were read not long ago, and its rows have not changed since then."""
        memory = self._memories[target.name]
        is_fresh = abs(self._clock() - memory.at) < _EXPLAINED
        return is_fresh and memory.words == _words(target, lists)

    def _explained(self, target: Target, observed: Observation, lists: _Lists) -> Observation:
        """The observation with the explanation from an earlier read of the same word, if there is one."""
        memory, pod = self._memories[target.name], lists.pods.get(target.name)
        if observed.state is not JobState.QUEUED or pod is None or memory.words != _words(target, lists):
            return observed
        return observed._replace(why=memory.observation.why) if memory.observation else observed

    async def _look_at(self, target: Target, lists: _Lists) -> Observation | None:
        observed = await self._looks.observe(target)
        if observed is None or observed.state.terminal:
            self._memories.pop(target.name, None)
            return observed
        pod = lists.pods.get(target.name)
        words, name = _words(target, lists), pod.name if pod else ""
        self._memories[target.name] = _Memory(target.token, name, words, observed, self._clock())
        return observed


def _words(target: Target, lists: _Lists) -> str:
    """What the rows of its pods show; "" without one."""
    pod = lists.pods.get(target.name)
    if pod is None:
        return ""
    return f"{pod.name} {pod.words.get('Status')} {pod.words.get('Node')} {lists.running[target.name]}"
