"""The attempts on one cluster, as tasks. Each is submitted once, even if an answer is lost."""

from __future__ import annotations

import json
import logging
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from shared.core.each import each
from shared.core.engine import Observation, Order
from shared.core.errors import Conflict, EngineError, NotFound
from shared.core.job import JobState, Target
from shared.core.relations.entrance import Entrance, entrance
from shared.engines.alone import alone
from shared.engines.batch.cluster import BatchCluster
from shared.engines.batch.job.request import forgetting, life, queue, submission
from shared.engines.batch.pool import Pool
from shared.engines.batch.queues import Queues
from shared.engines.batch.scaling import demand
from shared.engines.batch.situation import Situation, by_record, ended, unfinished
from shared.engines.batch.storage.access import Access
from shared.engines.batch.storage.blob_records import BlobRecords
from shared.engines.batch.tasks import Listed, Tasks
from shared.engines.batch.translation import ended_by_request, nodes_of
from shared.engines.leftovers import FORGET, removal_plan, remove
from shared.engines.recent import Lately
from shared.engines.recorded import placed
from shared.engines.shared_records import Records

log = logging.getLogger(__name__)

#: Why no command of Slipway enters a node: its users stay for a day, and meet the next team's job.
BY_HAND = (
    "Azure Batch lets people in as users of a node, who outlive the job there: make one yourself, with "
    "`az batch node user create`, and delete it when you are done"
)

#: How far a list reaches back before the previous one: clocks differ, and lists lag.
_OVERLAP = timedelta(minutes=5)
#: How far back the first list of a process reaches. Tasks that ended earlier are read one by one.
_FIRST = timedelta(hours=1)
#: Requests to end that are remembered.
_REMEMBERED = 20_000
#: Seconds for which a view of the pool is recent enough to explain a wait.
_GOOD = 30.0


class Attempts:
    """The attempts on one cluster."""

    def __init__(
        self,
        cluster: BatchCluster,
        tasks: Tasks,
        queues: Queues,
        pool: Pool,
        lately: Lately[str],
        records: Records | BlobRecords,
        access: Access,
        clock: Callable[[], float],
    ) -> None:
        self._cluster, self._tasks, self._queues, self._pool = cluster, tasks, queues, pool
        self._lately, self._records, self._clock = lately, records, clock
        self._access = access
        self._looked: datetime | None = None
        #: name → when the attempt was first asked to end
        self._requests: dict[str, float] = {}

    async def submit(self, order: Order) -> Observation:
        """Add the attempt's task. An existing task with the same name and token counts as success."""
        target = order.target
        lives = life(self._cluster, order, datetime.fromtimestamp(self._clock(), UTC))
        signature = self._access.signature(lives.until)
        order = self._records.proofs.with_keys(order)
        task = submission(self._cluster, order, uuid.uuid4().hex, signature, lives)
        if await self._tasks.add(task):
            return Observation(JobState.QUEUED, handle=f"{queue(self._cluster, order)}/{target.name}")
        existing = await self._tasks.find(target)
        if existing is not None and existing.token != target.token:
            raise Conflict(f"the name {target.name} belongs to another job on {self._cluster.name}")
        if existing is None:  # deleted in between
            raise NotFound(f"Azure Batch no longer has the task {target.name}")
        return await self._observed(existing, target)

    async def status(self, targets: Sequence[Target]) -> Mapping[str, Observation]:
        """One filtered list for each Batch job. Attempts missing from it are read one by one."""
        now = datetime.fromtimestamp(self._clock(), UTC)
        since = (self._looked or now - _FIRST) - _OVERLAP
        listed = [one async for one in self._tasks.listed(since)]
        self._looked = now
        sizes = [nodes_of(one.task) for one in listed if not one.is_over and one.is_readable]
        situation = await self._situation() if sizes else Situation()
        if sizes:
            await self._pool.scale(demand(sizes, self._pool.slots))
            await self._pool.restart_failed()
        over = [one for one in listed if one.is_over and one.name.startswith(FORGET)]
        await each(over, self._tasks.delete)
        by_name = {one.name: one for one in listed}
        result, unclear = dict[str, Observation](), list[Target]()
        for target in targets:
            task = by_name.get(target.name.lower())
            if task is None or task.is_over or not task.is_readable:
                unclear.append(target)
            elif task.token == target.token:
                result[target.name] = unfinished(task, situation)

        async def look_at(target: Target) -> Observation | None:
            task = by_name.get(target.name.lower()) or await self._tasks.find(target)
            if task is None or task.token != target.token:
                return await alone(target.name, self._by_record(target)) if task is None else None
            return await alone(target.name, self._understood(task, target, situation))

        answers = await each(unclear, look_at)
        looks = {one.name: answer for one, answer in zip(unclear, answers, strict=True) if answer is not None}
        return result | looks

    async def at_work(self) -> Mapping[str, str]:
        """The token of every task that has not ended."""
        listed = [one async for one in self._tasks.listed()]
        return {str(one.task["id"]): one.token for one in listed if one.token and not one.is_over}

    async def see(self, target: Target) -> Observation:
        """Read one task, or the record of one that is gone. Raises NotFound."""
        try:
            task = await self._own(target)
        except NotFound:
            if end := await self._by_record(target):
                return end
            raise
        return await self._observed(task, target)

    async def entrance(self, target: Target, number: int) -> Entrance:
        """Where the task is on the node of that number. Raises NotFound."""
        task = await self._own(target)
        node, directory = await self._tasks.place(task, number)
        pool, name = self._cluster.pool, str(task.task["id"])
        return entrance("task", BY_HAND, pool=pool, node=node, job=task.queue, task=name, directory=directory)

    async def cancel(self, target: Target) -> None:
        """End the task, if there is one: one that runs is asked first, and terminated later."""
        task = await self._tasks.find(target)
        if task is None or task.token != target.token or task.is_over:
            return
        if task.task.get("state") != "running" or await self._is_late(target):
            await self._tasks.terminate(task)

    async def forget(self, targets: Sequence[Target]) -> frozenset[str]:
        """Delete the tasks, then add a small task that removes their records, which only nodes can write."""
        await each(targets, self._delete)
        if isinstance(self._records, BlobRecords):
            await self._records.remove(targets)
            return frozenset(one.name for one in await self._records.remaining(targets))
        return await remove(self._records, targets, self._clear)

    async def _is_late(self, target: Target) -> bool:
        """Whether an attempt has had its time after the request to end; also where it cannot be asked."""
        if not isinstance(self._records, BlobRecords):
            return True
        now = self._clock()
        try:
            since = await self._records.ask(target, now)
            # A job that removes the request each time gains nothing.
            since = self._requests[target.name] = min(since, self._requests.get(target.name, now))
            while len(self._requests) > _REMEMBERED:
                self._requests.pop(next(iter(self._requests)))
            return not 0 <= now - since < self._cluster.terminated_after
        except EngineError as error:
            log.warning("%s is not asked to end, but terminated: %r", target.name, error)
            return True

    async def _clear(self, targets: Sequence[Target]) -> bool:
        plan = json.dumps(removal_plan(self._cluster.layout, targets, self._cluster.ends))
        # One name at a time, so that no second task is added while one runs.
        name = f"{FORGET}-{int(self._clock() // 60)}"
        return await self._tasks.add(forgetting(self._cluster, name, plan))

    async def _delete(self, target: Target) -> None:
        task = await self._tasks.find(target)
        if task is not None and task.token == target.token:
            await self._tasks.delete(task)

    async def _own(self, target: Target) -> Listed:
        task = await self._tasks.find(target)
        if task is None or task.token != target.token:
            raise NotFound(f"Azure Batch does not know the task {target.name}")
        return task

    async def _observed(self, task: Listed, target: Target) -> Observation:
        waits = task.task.get("state") == "active"
        return await self._understood(task, target, await self._situation() if waits else Situation())

    async def _situation(self) -> Situation:
        """The pool, as far as it is known, or why it is refused; the Batch jobs."""
        name = self._cluster.name
        view = await self._lately.now(name, _GOOD) or self._lately.refusal(name)
        return Situation(view, await self._queues.states())

    async def _understood(self, task: Listed, target: Target, situation: Situation) -> Observation:
        if not task.checked().is_over:
            return unfinished(task, situation)
        if ended_by_request(task.task):
            situation = replace(situation, states=await self._queues.states())
        record = await self._records.find(target)
        segment = self._records.segment(target, record) if record is not None else ""
        return placed(ended(task, record, situation), record, segment)

    async def _by_record(self, target: Target) -> Observation | None:
        """How an attempt ended whose task someone deleted; None if that is not known."""
        record = await self._records.find(target)
        return by_record(record, self._records.segment(target, record) if record is not None else "")
