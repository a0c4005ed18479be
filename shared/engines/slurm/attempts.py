"""The attempts of our jobs on one Slurm cluster: submitted reliably, looked up, cancelled.

An acknowledgement means little: a killed slurmctld forgets the jobs of the last seconds, and gives their
numbers to others. So a job is submitted held, and counts when a list shows it under its name. It is released
when it is old enough to be on the controller's disk, so that a job that can still be forgotten has never run;
and only if the ledger asks for it, so that a worker that slept starts nothing. A forgotten job is submitted
again. The claim on the nodes (`node/claim.py`) is the last guard: a second copy that runs finds it, and ends.
"""

from __future__ import annotations

import logging
import math
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from shared.core.each import each
from shared.core.engine import Observation, Order
from shared.core.errors import Busy, Conflict, Misconfigured, NotFound, Rejected, Transient
from shared.core.job import JobState, Target
from shared.engines.alone import alone
from shared.engines.shared_records import Records
from shared.engines.slurm.cluster import SlurmCluster
from shared.engines.slurm.copies import Settled, Sightings, Verdict, judge
from shared.engines.slurm.ended.leftovers import Leftovers
from shared.engines.slurm.ended.sources import EndSources
from shared.engines.slurm.job.chosen import Listings, refusal, unknown_option
from shared.engines.slurm.job.request import is_too_long, submission, too_long
from shared.engines.slurm.jobs import SlurmJobs
from shared.engines.slurm.queue import Queue
from shared.engines.slurm.translation import has_ended, observation, state_of
from shared.engines.slurm.wire.answer import SLURMCTLD, Answer
from shared.engines.slurm.wire.client import SlurmClient
from shared.engines.slurm.wire.dialect import Copy
from shared.jobspec import JsonObject

log = logging.getLogger(__name__)

_TOO_LONG = 2051  # the code for a time limit that is too long (slurm_errno.h)
#: Names of submissions to remember, so that one is looked up before it is repeated.
_REMEMBERED = 20_000
#: Seconds after which a held copy that no one queries counts as abandoned.
_ORPHANED = 3600.0
#: Seconds between lists for waiting jobs: states alone show neither the reason nor a hold.
_LOOK_AGAIN = 60.0


Clock = Callable[[], float]


class Attempts:
    """The attempts on one cluster. `clock` gives Unix time."""

    def __init__(
        self, cluster: SlurmCluster, client: SlurmClient, records: Records, clock: Clock, listings: Listings
    ) -> None:
        self._cluster, self._client, self._clock = cluster, client, clock
        self._proofs = records.proofs
        self._finished = EndSources(cluster, client, records, listings)
        self._leftovers = Leftovers(cluster, client, records)
        self.jobs = SlurmJobs(cluster, client)
        self._sightings = Sightings()
        #: name → token of each submission by this process
        self._own_tokens: dict[str, str] = {}
        #: name → a job that is released and durable: while the controller lives, no other job gets its number
        self._settled: dict[str, Settled] = {}
        #: the time of the last full list
        self._listed = 0.0

    async def submit(self, order: Order, cluster: SlurmCluster) -> Observation | None:
        """Submit the job, held, to the cluster.

        A job that this process has submitted before is looked up first; then None.
        """
        target = order.target
        if target.name in self._own_tokens and await self._is_submitted(target):
            return None
        self._own_tokens[target.name] = target.token
        while len(self._own_tokens) > _REMEMBERED:
            self._own_tokens.pop(next(iter(self._own_tokens)))
        if is_too_long(cluster, order):
            raise too_long(cluster, order)
        dialect = await self._client.agree()
        order = self._proofs.with_keys(order)
        request = submission(cluster, dialect, order, uuid.uuid4().hex)
        answer = await self._client.call(request.method, "/job/submit", request.body)
        number = answer.number()
        if number is None and any(code == _TOO_LONG for code, _ in answer.errors):
            raise too_long(cluster, order, str(answer.failure()))
        if number is None:
            error = answer.full() or refusal(answer, order.resources, dict(cluster.resources))
            raise error or Transient("Slurm gave no number to a submission")
        await self._complain(answer, number, order.resources)
        return Observation(JobState.QUEUED, handle=str(number))

    async def status(self, targets: Sequence[Target]) -> Mapping[str, Observation]:
        """One list for all jobs, or one of states alone if the server has that and all jobs are settled."""
        quick = await self._by_state(targets)
        rest = [target for target in targets if target.name not in quick]
        if not rest:
            return quick
        pending = [t for t in targets if t.name in quick and quick[t.name].state is JobState.QUEUED]
        # A list that is fetched anyway has the reason of each waiting job.
        rest, self._listed = rest + pending, self._clock()
        since, queue = await self.jobs.statistics_epoch(), await self.jobs.queue()
        await self._settle(queue, rest, since)
        results = await each(rest, lambda target: alone(target.name, self._observed(target, queue)))
        return quick | {t.name: one for t, one in zip(rest, results, strict=True) if one is not None}

    async def at_work(self) -> Mapping[str, str]:
        """Every copy with a token that has not ended."""
        marked = [copy for copy in await self.jobs.queue() if copy.token]
        return {copy.name: copy.token for copy in marked if not has_ended(copy)}

    async def see(self, target: Target) -> Observation:
        """What Slurm, or the record of the run, reports about one attempt now. Raises NotFound."""
        since, queue = await self.jobs.statistics_epoch(), await self.jobs.queue()
        await self._settle(queue, [target], since)
        observation = await self._observed(target, queue)
        if observation is None:
            raise NotFound(f"neither Slurm nor a record knows {target.name}")
        return observation

    async def cancel(self, target: Target) -> None:
        """Cancel every copy that has not ended. Raises Busy while one that cannot be read may run."""
        queue = await self.jobs.queue()
        copies = _ours(queue, target)
        if all(copy.held for copy in copies):
            queue.check_absent(target.name)
        for copy in copies:
            if not has_ended(copy):
                await self.jobs.cancel(copy.id)

    async def forget(self, targets: Sequence[Target]) -> frozenset[str]:
        """Remove the records by a small job on one node: only nodes can write to their shared directory."""
        return await self._leftovers.remove(targets)

    async def _is_submitted(self, target: Target) -> bool:
        """Whether no further submission is needed. Raises Conflict."""
        queue = await self.jobs.queue()
        if _ours(queue, target) or await self._finished.find(target) is not None:
            return True
        if self._own_tokens[target.name] != target.token or any(c.token for c in queue.named(target.name)):
            raise Conflict(f"the name {target.name} belongs to another job on {self._cluster.name}")
        queue.check_absent(target.name)
        return False

    async def _complain(self, answer: Answer, number: int, chosen: JsonObject) -> None:
        """Refuse a job with warnings: the server may have dropped what it did not understand.

        A warning of slurmctld itself explains why the job does not start now: a reason to wait.
        """
        faults = [text for code, text in answer.errors if code not in SLURMCTLD]
        faults += [text for text in answer.warnings if "held" not in text.lower()]
        if faults:
            await self.jobs.discard(number)
            text = (
                f"slurmrestd of {self._cluster.name} accepted a job with warnings: {'; '.join(faults)[:500]}"
            )
            if unknown_option(faults, chosen):
                raise Rejected(f"resources.options: {text}. It was cancelled, and ran nothing")
            raise Misconfigured(f"{text}. It was cancelled; it is not known what it ran without")

    async def _observed(self, target: Target, queue: Queue) -> Observation | None:
        copy = self._judged(target, queue).copy
        if copy is not None:
            return await self._finished.combine(target, copy)
        end = await self._finished.find(target)
        if end is None:
            queue.check_absent(target.name)
        return end

    def _judged(self, target: Target, queue: Queue) -> Verdict:
        # A job whose name cannot be read may be another copy, which runs: nothing is released beside it.
        settle, now = math.inf if queue.has_nameless else self._cluster.settle_seconds, self._clock()
        return judge(self._sightings.aged(_ours(queue, target), now), now, settle)

    async def _by_state(self, targets: Sequence[Target]) -> dict[str, Observation]:
        """The observations from states alone, for jobs whose numbers are certain. Changed jobs are read."""
        old = [target for target in targets if target.name in self._settled]
        dialect = await self._client.agree()
        if not dialect.states or not old:
            return {}
        states, since = await self.jobs.states(), await self.jobs.statistics_epoch()
        listed = abs(self._clock() - self._listed) < _LOOK_AGAIN
        observations: dict[str, Observation] = {}
        moved = []
        for target in old:
            settled = self._settled[target.name]
            # A controller that lost its state numbers from 1 again; then the list counts.
            words = states.get(settled.copy.id, frozenset()) if settled.since == since else frozenset()
            try:
                before, state = (state_of(one, target.name).state for one in (settled.copy.states, words))
            except Busy:
                del self._settled[target.name]  # gone, or in an unknown state: the list shows which
                continue
            if state is not before or state.terminal or "SUSPENDED" in words ^ settled.copy.states:
                moved.append(target)
            elif listed or state is JobState.RUNNING:
                observations[target.name] = observation(settled.copy, None)
        results = await each(moved, lambda target: alone(target.name, self._by_number(target)))
        observations |= {
            target.name: one for target, one in zip(moved, results, strict=True) if one is not None
        }
        return observations

    async def _by_number(self, target: Target) -> Observation | None:
        """A job that has started or ended, by its number; None if another job has that number now."""
        settled = self._settled.pop(target.name)
        try:
            copy = await self.jobs.one(settled.copy.id)
        except NotFound:
            return None
        if not settled.is_still(copy):
            return None
        if not state_of(copy.states, copy.name)[0].terminal:
            self._settled[target.name] = replace(settled, copy=copy)
        return await self._finished.combine(target, copy)

    async def _settle(self, queue: Queue, targets: Sequence[Target], since: int | None) -> None:
        """Release durable copies, and cancel surplus ones."""
        readable = [target for target in targets if target.name not in queue.unreadable]
        verdicts = {target.name: self._judged(target, queue) for target in readable}
        await each(list(verdicts.values()), self._carry_out)
        for name, verdict in verdicts.items():
            copy = verdict.copy
            if copy is not None and since is not None and not copy.held and verdict.priority is None:
                self._settled[name] = Settled(copy, since)
        await each(self._orphans(queue, targets), self.jobs.discard)

    async def _carry_out(self, verdict: Verdict) -> None:
        for copy in verdict.surplus:
            await self.jobs.discard(copy.id)
        if verdict.copy is not None and verdict.release:
            await self.jobs.release(verdict.copy)
        elif verdict.copy is not None and verdict.priority is not None:
            await self.jobs.prioritise(verdict.copy.id, verdict.priority)

    def _orphans(self, queue: Queue, targets: Sequence[Target]) -> list[int]:
        """Held copies that no one has queried for a long time: late effects, or abandoned jobs."""
        old = self._clock() - _ORPHANED
        skipped = {*(target.name for target in targets), *self._settled, *queue.unreadable}
        candidates = (copy for copy in queue if copy.name not in skipped)
        return [copy.id for copy in candidates if copy.held and copy.token and copy.submitted < old]


def _ours(queue: Queue, target: Target) -> list[Copy]:
    """The copies of an attempt. Raises Busy if one of its name cannot be read."""
    return [copy for copy in queue.named(target.name) if copy.token == target.token]
