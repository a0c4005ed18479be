"""Slipway's jobs on one Slurm cluster: listed together; released, cancelled and read one by one.

Every user of a cluster sees names and comments, and can copy them. Jobs of other users are ignored here,
before any other check.
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from shared.core.errors import Busy, EngineError, NotFound, Transient
from shared.core.job import plain
from shared.engines.slurm.cluster import SlurmCluster
from shared.engines.slurm.queue import Queue, in_line
from shared.engines.slurm.wire.answer import Answer
from shared.engines.slurm.wire.client import SlurmClient
from shared.engines.slurm.wire.dialect import Copy, copy_of, integer, name_of, user_of

log = logging.getLogger(__name__)

#: Codes for a job that needs nothing more (unknown, completing, started, finished).
_NOTHING_TO_DO = frozenset({2017, 2021, 2083, 2084, 2085, 2086})


class _Listed(NamedTuple):
    """The jobs of an answer, and the rows that cannot be read as one."""

    copies: list[Copy]
    damaged: list[Any]


class SlurmJobs:
    """The user's part of the queue. Callers during a list share the next one."""

    def __init__(self, cluster: SlurmCluster, client: SlurmClient) -> None:
        self._cluster, self._client = cluster, client
        #: numbers of other users' jobs that look like ours, for one warning each
        self._foreign: frozenset[int] = frozenset()
        #: the names of the jobs in the last list that cannot be read, None for one without, for one warning
        self._damaged: frozenset[str | None] = frozenset()
        self._flying: asyncio.Future[Queue] | None = None
        self._next: asyncio.Future[Queue] | None = None

    async def queue(self) -> Queue:
        """Our jobs, from a list that was taken after the call."""
        if self._next is None:
            self._next = asyncio.ensure_future(self._list_after(self._flying))
            self._next.add_done_callback(_retrieve_error)
        return await asyncio.shield(self._next)

    async def states(self) -> Mapping[int, frozenset[str]]:
        """The states alone, by job number, of all that can be read."""
        answer = await self._client.call("GET", "/jobs/state/")
        if failure := answer.failure():
            raise failure
        jobs = answer.body.get("jobs") or []
        readable = [job for job in jobs if isinstance(job, dict)] if isinstance(jobs, list) else []
        numbered = ((_number(job.get("job_id")), job.get("state")) for job in readable)
        return {number: frozenset(_words(state)) for number, state in numbered if number is not None}

    async def statistics_epoch(self) -> int | None:
        """When the controller's statistics began: two equal numbers mean no restart in between.

        It changes when the controller starts, and at midnight. None if no caller needs it.
        """
        if not (await self._client.agree()).states:
            return None
        answer = await self._client.call("GET", "/diag/")
        statistics = answer.body.get("statistics")
        return integer(statistics.get("req_time_start")) if isinstance(statistics, dict) else None

    async def one(self, number: int) -> Copy:
        """One job. Raises NotFound, also if another user's job has the number now."""
        answer = await self._client.call("GET", f"/job/{number}")
        copies, damaged = await self._read(answer)
        ours = [copy for copy in copies if copy.user == self._cluster.user]
        if damaged and not ours:
            raise Busy(f"Slurm describes the job {number} in a form that cannot be read")
        if not ours:
            raise answer.failure() or NotFound(f"Slurm does not know the job {number}")
        return ours[0]

    async def release(self, copy: Copy) -> None:
        """Release a job. One that cannot be released stays held, and the next list shows it again."""
        if copy.description:  # Slurm holds a job whose launch failed, and drains the node
            log.warning(
                "Slurm job %s of %s is released again: %s", copy.id, copy.name, plain(copy.description)
            )
        if await self._update(copy.id, {"hold": False}) and copy.marked_priority is not None:
            await self.prioritise(copy.id, copy.marked_priority)

    async def prioritise(self, number: int, priority: int) -> None:
        """Set the explicit priority, which a held job does not have."""
        dialect = await self._client.agree()
        await self._update(number, {"priority": dialect.number(priority)})

    async def discard(self, number: int) -> None:
        """Cancel a held job that must not run, and remove the mark, so that its end is ignored."""
        if await self._update(number, {"comment": "surplus"}):
            await self.cancel(number)

    async def cancel(self, number: int) -> None:
        """Cancel a job. One that ended or is unknown counts as success."""
        answer = await self._client.call("DELETE", f"/job/{number}")
        failure = answer.failure()
        if failure is not None and not any(code in _NOTHING_TO_DO for code, _ in answer.errors):
            raise failure

    async def _update(self, number: int, change: Mapping[str, object]) -> bool:
        try:
            answer = await self._client.call("POST", f"/job/{number}", change)
        except EngineError as error:
            log.warning("Slurm job %s: %s", number, error)
            return False
        if answer.failure() and not any(code in _NOTHING_TO_DO for code, _ in answer.errors):
            log.warning("Slurm job %s: %s", number, answer.failure())
        return answer.failure() is None

    async def _list_after(self, before: asyncio.Future[Queue] | None) -> Queue:
        if before is not None:
            await asyncio.wait([before])
        self._flying, self._next = self._next, None
        answer = await self._client.call("GET", "/jobs/")
        if failure := answer.failure():
            raise failure
        if "jobs" not in answer.body:
            raise Transient("Slurm lists its jobs in an unknown form")
        copies = defaultdict(list)
        foreign = []
        readable, damaged = await self._read(answer)
        for copy in in_line(readable):
            if copy.user == self._cluster.user:
                copies[copy.name].append(copy)
            elif copy.token:
                foreign.append(copy)
        self._warn_of(foreign)
        names = [name_of(job) for job in damaged if user_of(job) in (None, "", self._cluster.user)]
        self._warn_of_damage(frozenset(name or None for name in names))
        return Queue(copies, frozenset(filter(None, names)), has_nameless=not all(names))

    def _warn_of(self, foreign: Sequence[Copy]) -> None:
        """Warn once of each: another user imitates our jobs, or the user is configured under another name."""
        for copy in foreign:
            if copy.id not in self._foreign:
                log.warning(
                    "Slurm job %s on %s has the name and the mark of %s, but belongs to the user %r, not %r: "
                    "it is ignored. If both are the same user, configure the name that Slurm lists",
                    copy.id,
                    self._cluster.name,
                    plain(copy.name, 80),
                    plain(copy.user, 80),
                    self._cluster.user,
                )
        self._foreign = frozenset(copy.id for copy in foreign)

    def _warn_of_damage(self, names: frozenset[str | None]) -> None:
        """Log once what unreadable jobs in a list mean, and when that changes."""
        if names == self._damaged:
            return
        self._damaged = names
        cluster = self._cluster.name
        if None in names:
            log.warning(
                "Slurm's list of %s has jobs of which not even the names can be read: until they leave it, "
                "no held job there is released or cancelled, and no missing one is submitted again",
                cluster,
            )
        if texts := sorted(plain(name, 80) for name in names if name):
            log.warning("Slurm's list of %s has jobs that cannot be read: %s", cluster, texts[:20])
        if not names:
            log.warning("Slurm's list of %s can be read again", cluster)

    async def _read(self, answer: Answer) -> _Listed:
        dialect, copies, damaged = await self._client.agree(), list[Copy](), list[Any]()
        jobs = answer.body.get("jobs") or []
        if not isinstance(jobs, list):
            raise Transient("Slurm sent an unreadable answer")
        for job in jobs:
            try:
                copies.append(copy_of(dialect, job))
            except (ValueError, KeyError, TypeError, AttributeError, OverflowError):
                damaged.append(job)
        return _Listed(copies, damaged)


def _number(value: object) -> int | None:
    """The number of a job, which this list has as a text."""
    return int(value) if isinstance(value, str) and value.isdecimal() else integer(value)


def _words(state: object) -> Sequence[str]:
    words = [state] if isinstance(state, str) else state
    return [str(word) for word in words] if isinstance(words, list) else []


def _retrieve_error(task: asyncio.Future[Queue]) -> None:
    """Retrieve the error of a task that may have no waiter left."""
    if not task.cancelled():
        task.exception()
