"""An engine in memory: accepts every job, and moves it when the test requests that. For tests.

It logs every start, which is the only evidence that nothing ran twice.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from shared.core.abilities import ABILITIES, Ability
from shared.core.engine import ClusterView, FileChunk, FilePage, Observation, Order, OutputFile, Submission
from shared.core.errors import Conflict, EngineError, NotAFile, NotFound, Transient
from shared.core.facts import NO_FACTS, ClusterFacts
from shared.core.job import JobState, Reason, Target
from shared.core.refusals import gives_none, refused
from shared.core.relations.entrance import Entrance, entrance
from shared.core.relations.hold import Held
from shared.core.relations.variables import Variable
from shared.jobspec import JobSpec, JsonObject, Problem

_ALL = dict.fromkeys(ABILITIES, Ability("yes"))


@dataclass
class MemoryEngine:
    """The engine port over a dict. `fail` holds errors to raise, one per call of any method."""

    jobs: dict[str, Observation] = field(default_factory=dict)
    tokens: dict[str, str] = field(default_factory=dict)
    started: list[str] = field(default_factory=list)
    forgotten: list[str] = field(default_factory=list)
    #: attempts that were started before the previous one had ended
    overlaps: list[str] = field(default_factory=list)
    orders: list[Order] = field(default_factory=list)
    output: dict[str, bytes] = field(default_factory=dict)
    #: of the attempts that have others, by name
    outputs: dict[str, dict[str, bytes]] = field(default_factory=dict)
    #: job → what it saved for its next attempt
    saved: dict[str, dict[str, bytes]] = field(default_factory=dict)
    #: when each file was last written, if the cluster gives it
    modified: dict[str, datetime] = field(default_factory=dict)
    #: path of a folder → the list to return instead of its content
    listed: dict[str, tuple[OutputFile, ...]] = field(default_factory=dict)
    fail: list[EngineError | None] = field(default_factory=list)
    #: whether the cluster does not answer; and how often it was called
    down: bool = False
    calls: int = 0
    #: a toolkit's block → why this engine cannot run it
    cannot: Mapping[str, str] = field(default_factory=dict)
    #: the priorities that it does not have
    no_priorities: Sequence[str] = ()
    #: attempts that failed and whose nodes are kept, by name
    held_jobs: dict[str, Held] = field(default_factory=dict)
    #: what a certificate has to say at its login node; "" where none is wanted
    gate: str = ""
    #: the resources that jobs may choose
    allow: Sequence[str] = ()
    view: ClusterView | None = None
    own_facts: ClusterFacts = NO_FACTS
    abilities: Mapping[str, Ability] = field(default_factory=lambda: _ALL)
    #: what was asked of its files, nodes and facts: the name of the call and its arguments
    queries: list[tuple[Any, ...]] = field(default_factory=list)
    #: the name of such a call, or the path of a file → the error that it raises
    refuses: dict[str, Exception] = field(default_factory=dict)
    #: the names of such calls that never return
    hangs: set[str] = field(default_factory=set)

    @property
    def version(self) -> str:
        return "memory"

    def capabilities(self, cluster: str, view: ClusterView | None = None) -> Mapping[str, Ability]:
        """The test's choice; by default all of them."""
        return self.abilities

    def allots(self, cluster: str, resources: JsonObject) -> tuple[Problem, ...]:
        return gives_none("memory", {name: one for name, one in resources.items() if name not in self.allow})

    def check(self, spec: JobSpec) -> tuple[Problem, ...]:
        """Problems for the toolkits in `cannot`."""
        properties = spec.document()["properties"]
        blocks = ((block, why) for block, why in self.cannot.items() if block in properties)
        problems = [refused("SW109", f"/properties/{block}", why) for block, why in blocks]
        if (priority := properties.get("schedulingPriority")) in self.no_priorities:
            why = f"the cluster does not have the priority {priority}"
            problems.append(refused("SW109", "/properties/schedulingPriority", why, "leave it out"))
        return tuple(problems)

    def submissions(self, order: Order) -> tuple[Submission, ...]:
        """One call, as for a simple engine."""
        return (Submission("PUT", f"/jobs/{order.target.name}", order.document),)

    async def entrance(self, target: Target, spec: JsonObject, rank: int) -> Entrance:
        """A node of Slurm for each rank."""
        await self._ask("entrance", target, rank)
        if self.jobs[target.name].state is not JobState.RUNNING:
            raise NotFound(f"{target.name} does not run")
        login = "head" if self.gate else ""
        place = entrance("srun", job="7", node=f"n{rank}", user="slipway", login=login)
        return replace(place, gate=self.gate)

    def environment(self, order: Order) -> tuple[Variable, ...]:
        own = order.document["properties"].get("environmentVariables") or []
        return tuple(Variable(v["name"], v["value"], "job") for v in own)

    async def submit(self, order: Order) -> Observation | None:
        """Idempotent by name and token."""
        self._trouble()
        name = order.target.name
        if name in self.tokens:
            if self.tokens[name] != order.target.token:
                raise Conflict(f"the name {name} belongs to another job")
            return self.jobs[name]
        start, _, attempt = name.rpartition("-")
        before = self.jobs.get(f"{start}-{int(attempt) - 1}") if attempt.isdigit() else None
        self.overlaps += [name] if before is not None and not before.state.terminal else []
        self.tokens[name] = order.target.token
        self.jobs[name] = Observation(JobState.QUEUED)
        self.started.append(name)
        self.orders.append(order)
        return None

    async def status(self, cluster: str, targets: Sequence[Target]) -> Mapping[str, Observation]:
        self._trouble()
        return {t.name: self.jobs[t.name] for t in targets if t.name in self.jobs and self._is_of(t)}

    async def at_work(self, cluster: str) -> Mapping[str, str]:
        """The jobs that have not ended."""
        self._trouble()
        return {
            name: self.tokens.get(name, "")
            for name, observation in self.jobs.items()
            if not observation.state.terminal
        }

    async def see(self, target: Target) -> Observation:
        self._trouble()
        if target.name not in self.jobs or not self._is_of(target):
            raise NotFound(target.name)
        return self.jobs[target.name]

    async def held(self, target: Target) -> Held | None:
        """The test's choice."""
        self._trouble()
        return self.held_jobs.get(target.name)

    def ending(self, cluster: str) -> float:
        return 30.0

    async def cancel(self, target: Target) -> None:
        self._trouble()
        observation = self.jobs.get(target.name)
        if observation is not None and not observation.state.terminal and self._is_of(target):
            end = Observation(JobState.CANCELLED, Reason.TERMINATED)
            if (held := self.held_jobs.get(target.name)) is not None:  # the record of the run says so
                end = Observation(JobState.FAILED, Reason.USER, held.message, held.exit_code)
            self.jobs[target.name] = end

    def _is_of(self, target: Target) -> bool:
        """Whether the job of that name is the target's own; one that a test put there is."""
        return self.tokens.get(target.name, target.token) == target.token

    async def forget(self, cluster: str, targets: Sequence[Target]) -> frozenset[str]:
        self._trouble()
        for target in targets:
            if self.tokens.get(target.name) == target.token:
                del self.tokens[target.name], self.jobs[target.name]
                self.forgotten.append(target.name)
        return frozenset()

    async def files(self, target: Target, directory: str, path: str = ".") -> tuple[OutputFile, ...]:
        """The output that the test set. Raises NotFound for another directory."""
        await self._ask("files", target, directory, path)
        written = self._written(target, directory)
        if written is None:
            raise NotFound(f"no {directory}")
        if path in self.listed:
            return self.listed[path]
        folder = "" if path == "." else f"{path}/"
        below = {
            name.removeprefix(folder): len(data) for name, data in written.items() if name.startswith(folder)
        }
        files = {name: size for name, size in below.items() if "/" not in name}
        folders = dict.fromkeys(name.partition("/")[0] for name in below if "/" in name)
        return tuple(
            OutputFile(name, size, self.modified.get(name)) for name, size in {**folders, **files}.items()
        )

    async def page(self, target: Target, directory: str, path: str, after: str) -> FilePage:
        """The same in pages of a thousand, by number."""
        files, start = await self.files(target, directory, path), int(after) if after.isdecimal() else 0
        return FilePage(files[start : start + 1000], str(start + 1000) if len(files) > start + 1000 else "")

    async def read(self, target: Target, directory: str, path: str, offset: int, limit: int) -> FileChunk:
        await self._ask("read", target, directory, path, offset, limit)
        if path in self.refuses:
            raise self.refuses[path]
        written = self._written(target, directory) or {}
        if any(name.startswith(f"{path}/") for name in written):
            raise NotAFile(f"{directory}/{path} is a directory")
        if path not in written:
            raise NotFound(f"there is no {directory}/{path}")
        whole = written[path]
        data = whole[offset : offset + limit]
        return FileChunk(data, offset + len(data), len(whole), str(hash(whole)))

    def _written(self, target: Target, directory: str) -> dict[str, bytes] | None:
        if target.name in self.forgotten:
            return None
        if directory == "saved":
            return self.saved.get(target.job_id)
        return self.outputs.get(target.name, self.output) if directory == "stdouterr" else None

    async def nodes(self, cluster: str) -> ClusterView:
        """The test's choice; by default no nodes."""
        await self._ask("nodes", cluster)
        self._trouble()
        return self.view or ClusterView(cluster, "memory", "steady", 0, {}, 0, 1, "none")

    async def facts(self, cluster: str, resources: JsonObject) -> ClusterFacts:
        """The test's choice; by default nothing."""
        await self._ask("facts", cluster, resources)
        return self.own_facts

    async def close(self) -> None:
        """Nothing to close."""

    def set_state(self, name: str, state: JobState, **how: object) -> None:
        """Change the state of a job on the cluster, for the test."""
        self.jobs[name] = Observation(state)._replace(**how)  # type: ignore[arg-type]

    def times(self, call: str) -> int:
        """How often this was asked."""
        return sum(name == call for name, *_ in self.queries)

    async def _ask(self, call: str, *arguments: object) -> None:
        self.queries.append((call, *arguments))
        if call in self.hangs:
            await asyncio.Event().wait()
        if call in self.refuses:
            raise self.refuses[call]

    def _trouble(self) -> None:
        self.calls += 1
        if self.down:
            raise Transient("no answer")
        error = self.fail.pop(0) if self.fail else None
        if error is not None:
            raise error
