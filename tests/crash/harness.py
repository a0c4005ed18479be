"""Runs the real dispatcher over memory, with faults, until nothing changes; then checks the invariants.

Time is the world's own. A message stays until its function returns normally, as on a queue. It comes again in
the next round or, if its host died, ten rounds later; these pass at once where nothing else is left to do.
Timers fire every round, but for two after the death of a host; the cluster moves its jobs on by one state in
each round.
"""

from __future__ import annotations

import asyncio
import itertools
import json
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

from shared.adapters.storage.dead import TableDeadMessages
from shared.adapters.storage.finished_rows import TableFinishedJobs
from shared.adapters.storage.job_sweeps import TableJobSweeps
from shared.adapters.storage.node_history import TableNodeHistories
from shared.adapters.storage.outbox import TableOutbox
from shared.adapters.storage.teams import TableTeams
from shared.core.engine import Cluster, Engine, Why
from shared.core.errors import Misuse, SlipwayError
from shared.core.job import Job, JobState, Reason
from shared.core.notify.receivers import Receivers
from shared.core.pacing.breaker import Breaker
from shared.core.pacing.looks import Looks
from shared.core.pacing.memo import Memo
from shared.core.pacing.shared_call import JointLooks
from shared.core.ports import Ports
from shared.delivery.deliver import deliver
from shared.intake.arrive import message_arrived
from shared.intake.upkeep import upkeep
from shared.lifecycle.sweeper import make_pass
from tests.crash.chaos import WORKER, Chaos, Died, Fault, Seam
from tests.crash.invariants.archived import ended_records
from tests.crash.invariants.changed_jobs import wrongly_changed
from tests.crash.invariants.held_jobs import Holds
from tests.crash.invariants.idle_jobs import Idles
from tests.crash.invariants.listed_jobs import wrongly_listed
from tests.crash.invariants.ordered_jobs import wrongly_ordered
from tests.crash.invariants.requeued_jobs import Requeues
from tests.crash.invariants.swept_jobs import too_many_at_work, waits, wrongly_swept
from tests.crash.invariants.team_claims import over_quota
from tests.doubles.memory import MemoryLedger
from tests.unit.world import World

_ROUNDS = 60
_PUSHES = 8
#: Rounds for which a message stays hidden that its host did not end: `hidden` of local/host/times.py.
_HIDDEN = 10
#: Rounds without timers after the death of a host: a minute for their lease, and one until the next try.
_MISSED = 2
#: Rounds for which a job waits for one thing: longer than a single fault can hide it.
_LASTS = 5
_NEXT = {JobState.QUEUED: JobState.RUNNING, JobState.RUNNING: JobState.SUCCEEDED}


@dataclass
class _Engines:
    engine: Any
    clusters: Mapping[str, Cluster]

    def get(self, engine: str) -> Engine:
        result: Engine = self.engine
        return result


@dataclass
class Message:
    """A message that a trigger holds until its function returns."""

    run: Callable[[Any], Awaitable[Any]]
    #: two workers handle twins at the same time
    twin: bool = False


@dataclass(frozen=True)
class _Process:
    """A process that runs functions; its number identifies it when it dies or sleeps."""

    number: int
    ports: Ports


class Run:
    """One world, one plan of faults."""

    def __init__(
        self,
        plan: Mapping[int, Fault],
        *,
        wake_after: int = 3,
        together: bool = False,
        engine: Engine | None = None,
        twice: bool = False,
    ) -> None:
        self.world = World()
        # A process hangs only by a fault, which decides when it goes on.
        self.world.policy(deliver_grace=30.0, deliver_patience=3600.0, retention=timedelta(minutes=3))
        self.twice = twice
        self.chaos = Chaos(plan)
        self.wake_after = wake_after
        self.messages: list[Message] = []
        #: those that a host had when it died, with the round in which they come again
        self.hidden: list[tuple[int, Message]] = []
        self.zombies: list[asyncio.Task[Any]] = []
        self.violations: list[str] = []
        self.ended: dict[str, JobState] = {}
        #: the content of STATUS at the end of each round
        self.lines: dict[str, set[str]] = {}
        self._numbers = itertools.count(1)
        self._drowsy = 0
        #: for how many rounds each attempt waits
        self._waited: Counter[str] = Counter()
        #: the classic mistake of queue users, as a mutant
        self.acknowledges_first = False
        #: the messages of each round which claim, truly or not, that the jobs have ended
        self.pushes: Callable[[list[str]], list[Message]] = lambda jobs: []
        #: whether one process handles messages that arrive together, and commits them in groups
        self.together = together
        self._engine = engine or self.world.engine
        self._processes = [self._process() for _ in range(2)]

    #: whether the first attempt of every job loses its node
    preempts = False
    #: makes the cluster requeue every running job, and start it again
    requeues: Requeues | None = None
    #: makes a job leave its GPU idle
    idles: Idles | None = None
    #: makes every job fail and keep its node
    holds: Holds | None = None
    #: what every job writes to standard error before it fails; nothing for jobs that succeed
    fails_with = b""
    #: the reasons for which each job waits in its queue, some rounds each
    waits: tuple[Why, ...] = ()
    #: whether records are archived soon after their end; then a run lasts until all are
    archives = False
    #: how many jobs the dispatcher has to refuse
    rejects = 0
    #: how many records only an inventory makes, without a message; then a run lasts until they exist
    unheard = 0
    #: rounds for which an attempt is queued without a reason
    queues_for = 0
    #: how wrong the clock of a process is, by its number, in each round; None: not at all
    skew: Callable[[int, int], timedelta] | None = None
    _rounds = 0
    #: the round in which the timers of a host that died fire again
    _timers_from = 0
    #: whether an inventory finds what no event brought
    inventories = True

    async def until_quiet(self) -> None:
        """Run rounds until nothing is active, undelivered or unread; a violation if that never happens."""
        for number in range(_ROUNDS):
            await self.round(number)
            arrives = self.messages or self.world.queues.messages
            if number > 2 and not arrives and not self._drowsy and self._quiet():
                if not self.hidden:
                    return
                self.world.pass_time(61 * (self.hidden[-1][0] - number))
                self._show(_ROUNDS + _HIDDEN)
        self.violations.append(f"stuck: {[a for n in range(4) for a in await self.world.ledger.active(n)]}")

    async def round(self, number: int) -> None:
        """One minute: handle messages, timers and zombies, and advance the cluster."""
        self.world.pass_time(61)
        self._rounds = number
        self._show(number)
        await self._handle()
        if number >= self._timers_from:
            await self._fire(number)
        # A sleeper wakes some rounds later, when others have taken over.
        self._drowsy = self._drowsy + 1 if self.zombies or self.late() else 0
        if self._drowsy > self.wake_after:
            await self._wake()
        self.advance()
        if number < _PUSHES:
            self.messages += self.pushes([job.id for job in self.jobs()])  # early, late and repeated
        await self._check_order()
        self.violations += [*wrongly_listed(self.world), *too_many_at_work(self.world), *waits(self.world)]
        self.violations += await over_quota(self.world)

    async def _fire(self, number: int) -> None:
        """The timers of a round."""
        if self.twice and number % 3:  # the others are missed
            await asyncio.gather(self._sweep(), self._sweep())
        elif not self.twice:
            await self._sweep()

    async def _sweep(self) -> None:
        """The timer, in one process: no other one does the rest if that dies or hangs."""
        process = self._next()
        await self._work(make_pass, process)
        if process.number not in self.chaos.dead | self.chaos.asleep:
            await self._work(self._upkeep, process)

    async def _upkeep(self, ports: Ports) -> None:
        inventories, archives = (120.0 * often for often in (self.inventories, self.archives))
        policy = replace(ports.policy, inventory_every=inventories, archive_every=archives)
        await upkeep(replace(ports, policy=policy))

    def _show(self, number: int) -> None:
        """The hidden messages come again whose round is there."""
        self.messages += [message for due, message in self.hidden if due <= number]
        self.hidden = [one for one in self.hidden if one[0] > number]

    @property
    def _own_ends(self) -> list[Idles | Holds]:
        """What decides how running jobs end, in place of time."""
        return [one for one in (self.idles, self.holds) if one is not None]

    def late(self) -> bool:
        """Whether calls that seemed to fail are still to be carried out."""
        return bool(self.chaos.late)

    def advance(self) -> None:
        """Move every job of the cluster on by one state."""
        for cluster in self._own_ends:
            cluster.pass_round(self.world)
        for name, observation in list(self.world.engine.jobs.items()):
            if self.preempts and observation.state is JobState.RUNNING and name.endswith("-1"):
                self.world.engine.set_state(name, JobState.FAILED, reason=Reason.PREEMPTED)
            elif self.requeues:
                self.world.engine.jobs[name] = self.requeues.after(name, observation, self.world.clock())
            elif observation.state is JobState.QUEUED and self._waited[name] < _LASTS * len(self.waits):
                self._waited[name] += 1
                if self._waited[name] % _LASTS == 1:
                    why = _after(self.waits, observation.why)
                    self.world.engine.jobs[name] = observation._replace(why=why)
            elif observation.state is JobState.QUEUED and self._waited[name] < self.queues_for:
                self._waited[name] += 1
            elif self.fails_with and observation.state is JobState.RUNNING:
                self.world.engine.output = {"stderr.txt": self.fails_with}
                self.world.engine.set_state(name, JobState.FAILED, reason=Reason.USER)
            elif observation.state in _NEXT and (observation.state is JobState.QUEUED or not self._own_ends):
                self.world.engine.set_state(name, _NEXT[observation.state])

    async def _handle(self) -> None:
        """Give every visible message to a worker; a message that fails returns."""
        messages, self.world.queues.messages[:] = list(self.world.queues.messages), []
        for queue, body, _ in messages:
            self.messages.append(Message(self._handler(queue, body)))
        batch, self.messages = self.messages, []
        groups = [[m for m in batch if m.twin], *[[m] for m in batch if not m.twin]]
        for group in groups:
            process = self._next() if self.together else None
            done = await asyncio.gather(*(self._work(m.run, process) for m in group))
            if not self.acknowledges_first:
                self.messages += [m for m, ok in zip(group, done, strict=True) if ok is False]
                due = self._rounds + _HIDDEN
                self.hidden += [(due, m) for m, ok in zip(group, done, strict=True) if ok is None]

    def _handler(self, queue: str, body: str) -> Callable[[Any], Awaitable[Any]]:
        if queue == "job-events":
            wake = json.loads(body)
            return lambda ports: deliver(ports, wake["job"], wake["sequence"])
        return lambda ports: message_arrived(ports, body.encode(), "look")

    async def _work(
        self, act: Callable[[Ports], Awaitable[Any]], process: _Process | None = None
    ) -> bool | None:
        """One invocation in a living process; whether it returned normally, None if its host died."""
        process = process or self._next()

        async def run() -> bool | None:
            WORKER.set(process.number)
            try:
                await act(process.ports)
            except (Died, SlipwayError) as error:
                if isinstance(error, Died) and process.number in self.chaos.hostless:
                    self._timers_from = self._rounds + 1 + _MISSED
                    return None
                return isinstance(error, Misuse)
            return True

        task = asyncio.create_task(run())
        sleeping = asyncio.create_task(self._sleeps(process.number))
        await asyncio.wait({task, sleeping}, return_when=asyncio.FIRST_COMPLETED)
        sleeping.cancel()
        if task.done():
            return task.result()
        self.zombies.append(task)
        return False

    def _next(self) -> _Process:
        """The next process: they take turns, and a dead or hanging one is replaced."""
        self._processes.reverse()
        if self._processes[0].number in self.chaos.dead | self.chaos.asleep:
            self._processes[0] = self._process()
        return self._processes[0]

    def renew(self) -> None:
        """Start new processes, after the world's ports have changed."""
        self._processes = [self._process() for _ in self._processes]

    def _process(self) -> _Process:
        """A process with its own memory, over the storage and the cluster that all share."""
        ports, chaos, number = self.world.ports, self.chaos, next(self._numbers)
        ledger = MemoryLedger(self.world.clock, table=Seam(self.world.ledger.table, "table", chaos))
        own = replace(
            ports,
            clock=lambda: self._clock_of(number),
            ledger=ledger,
            outbox=TableOutbox(ledger.store),
            dead=TableDeadMessages(ledger.store),
            finished=TableFinishedJobs(ledger.store),
            archive=Seam(ports.archive, "archive", chaos),
            node_histories=TableNodeHistories(ledger.store),
            job_sweeps=TableJobSweeps(ledger.store),
            teams=TableTeams(ledger.store),
            breaker=Breaker(),
            chores=Memo(),
            joint=JointLooks(),
            looks=Looks(),
            receivers=Receivers(),
            drops=Seam(ports.drops, "drops", chaos),
            queues=Seam(ports.queues, "queues", chaos),
            webhooks=Seam(ports.webhooks, "webhooks", chaos),
            engines=_Engines(Seam(self._engine, "engine", chaos), ports.engines.clusters),
        )
        return _Process(number, own)

    def _clock_of(self, process: int) -> datetime:
        wrong = self.skew(process, self._rounds) if self.skew else timedelta()
        return self.world.clock() + wrong

    async def _sleeps(self, process: int) -> None:
        while process not in self.chaos.asleep:
            await self.chaos.slept.wait()
            self.chaos.slept.clear()

    async def _wake(self) -> None:
        """Wake zombies, which go on with what they knew, and carry out late calls."""
        self._drowsy = 0
        await self.chaos.happen_late()
        self.chaos.wake.set()
        await asyncio.gather(*self.zombies, return_exceptions=True)
        self.zombies.clear()
        await self.chaos.happen_late()

    def _quiet(self) -> bool:
        if len(self.jobs()) < self.unheard:
            return False
        kinds = ("n|", "o|", "p|", "g|d|", "v|") if self.archives else ("n|", "o|", "p|")
        return not any(row.startswith(kinds) for _, row in self.world.ledger.rows)

    async def _check_order(self) -> None:
        for job in self.jobs():
            before = self.ended.get(job.id)
            if before is not None and job.state is not before:
                self.violations.append(f"{job.id} went from {before} to {job.state}")
            if job.state.terminal:
                self.ended[job.id] = job.state
            line = self.world.drops.receipt_files.get(job.status_file, b"") if job.status_file else b""
            self.lines.setdefault(job.id, set()).add(line.decode())

    def jobs(self) -> list[Job]:
        """Every record, or its tombstone."""
        return self.world.ledger.jobs

    def check(self, *, accepted: int, started: int | None) -> list[str]:
        """The violations: nothing may be lost or doubled; each end has one id, one body and a receipt."""
        result = self.violations
        jobs = ended_records(self.world, result)
        if len(jobs) != accepted:
            result.append(f"{len(jobs)} records instead of {accepted}")
        result += self.check_cluster(jobs, started)
        result += [*wrongly_ordered(jobs), *wrongly_swept(self.world), *wrongly_changed(self.world, jobs)]
        result += [f"{job.id} ended {job.state}" for job in jobs if not job.state.terminal]
        result += [text for job in jobs if self.requeues for text in self.requeues.wrong(job)]
        for cluster in self._own_ends:
            result += [text for job in jobs for text in cluster.wrong(self.world, job)]
        result += [f"{job.id} has ended and waits" for job in jobs if job.waiting is not None]
        result += [f"{job.id} says nowhere that it waits" for job in jobs if self.waits and self._silent(job)]
        result += [
            f"{job.id} says twice that it waits" for job in jobs if self.waits and self.says_twice(job)
        ]
        bodies: dict[str, set[bytes]] = {}
        reports: dict[str, set[str]] = {}
        output: dict[str, set[str]] = {}
        for _, identity, body in self.world.webhooks.posts:
            bodies.setdefault(identity, set()).add(body)
            data = json.loads(body)["data"]
            if "jobId" in data and JobState(data["state"]).terminal:
                reports.setdefault(data["jobId"], set()).add(identity)
                output.setdefault(data["jobId"], set()).add(data.get("lastError", ""))
        result += [f"event {identity} has {len(b)} bodies" for identity, b in bodies.items() if len(b) > 1]
        for job in jobs:
            if len(reports.get(job.id, ())) != 1:
                result.append(f"the end of {job.id} was reported under {len(reports.get(job.id, ()))} ids")
            if output.get(job.id, {job.last_error}) != {job.last_error}:
                result.append(f"the last error of {job.id} is another in its event than in its record")
            receipt = self.world.drops.receipt_files.get(f"{job.receipt}/receipt.json")
            if receipt is None or json.loads(receipt)["state"] != job.state.value:
                result.append(f"the receipt of {job.id} is missing or stale")
            line = self.world.drops.receipt_files.get(job.status_file, b"") if job.status_file else None
            if line is not None and not line.startswith(f"{job.state.value} ".encode()):
                result.append(f"the STATUS of {job.id} is missing or stale: {line!r}")
        return result

    def _silent(self, job: Job) -> bool:
        """Whether a reason that was recorded for more than a round never appeared in STATUS."""
        output = "".join(self.lines.get(job.id, ()))
        return any(entry.waits not in output for entry in job.history if entry.state is JobState.QUEUED)

    def says_twice(self, job: Job) -> bool:
        """Whether the record of a queued job repeats the reason for which it waits."""
        reports = [entry.waits for entry in job.history if entry.state is JobState.QUEUED]
        return any(one == other != "" for one, other in pairwise(reports))

    def check_cluster(self, jobs: list[Job], started: int | None) -> list[str]:
        """By the cluster, every attempt began once, and the records have its end."""
        engine, result = self.world.engine, []
        right = started in (None, len(engine.started))
        if not right or max(Counter(engine.started).values(), default=0) > 1:
            result.append(f"started {engine.started}, expected {started} starts")
        result += [f"{name} was started before the attempt before it ended" for name in engine.overlaps]
        for job in jobs:
            observation = engine.jobs.get(job.target.name) if job.target else None
            if observation is not None and observation.state is not job.state:
                result.append(f"the cluster says {observation.state} and the record {job.state}")
        return result


def _after(waits: tuple[Why, ...], why: Why | None) -> Why:
    return waits[waits.index(why) + 1 if why else 0]
