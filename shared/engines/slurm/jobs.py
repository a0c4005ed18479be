"""The jobs of one Slurm cluster: listed together, and one by one released, cancelled, asked."""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Mapping, Sequence

from shared.engines.slurm.client import Answer, SlurmClient
from shared.engines.slurm.dialect import Copy, copy_of
from shared.errors import EngineError, NotFound, Transient

log = logging.getLogger(__name__)

Named = Mapping[str, Sequence[Copy]]
#: Codes that say: there is nothing left to be done with that job (unknown, completing, started, finished).
_OVER = frozenset({2017, 2021, 2083, 2084, 2085, 2086})


class SlurmJobs:
    """The queue of one cluster. Whoever asks for the list while one is under way shares the next one."""

    def __init__(self, client: SlurmClient) -> None:
        self._client = client
        self._flying: asyncio.Future[Named] | None = None
        self._next: asyncio.Future[Named] | None = None

    async def named(self) -> Named:
        """All jobs by name, from a list that was taken after the call."""
        if self._next is None:
            self._next = asyncio.ensure_future(self._after(self._flying))
            self._next.add_done_callback(_heard)
        return await asyncio.shield(self._next)

    async def states(self) -> Mapping[int, frozenset[str]]:
        """The states alone, by number."""
        answer = await self._client.call("GET", "/jobs/state/")
        if failure := answer.failure():
            raise failure
        found = answer.body.get("jobs") or ()
        return {int(job["job_id"]): frozenset(_words(job.get("state"))) for job in found}

    async def one(self, number: int) -> Copy:
        """One job. Raises NotFound."""
        answer = await self._client.call("GET", f"/job/{number}")
        copies = await self._copies(answer)
        if not copies:
            raise answer.failure() or NotFound(f"Slurm does not know job {number}")
        return copies[0]

    async def release(self, copy: Copy) -> None:
        """Let it run. One that cannot be released stays held, and is told of again by the next list."""
        if await self._update(copy.id, {"hold": False}) and copy.wanted is not None:
            await self.prioritise(copy)

    async def prioritise(self, copy: Copy) -> None:
        """Give it the explicit priority that it is to have: a held job has none."""
        dialect = await self._client.agree()
        assert copy.wanted is not None
        await self._update(copy.id, {"priority": dialect.number(copy.wanted)})

    async def discard(self, number: int) -> None:
        """Cancel a held job that is not to run, and take our mark off it: its end says nothing."""
        if await self._update(number, {"comment": "surplus"}):
            await self.cancel(number)

    async def cancel(self, number: int) -> None:
        """Ask for its end; one that ended or is unknown is fine."""
        answer = await self._client.call("DELETE", f"/job/{number}")
        failure = answer.failure()
        if failure is not None and not any(code in _OVER for code, _ in answer.errors):
            raise failure

    async def _update(self, number: int, change: Mapping[str, object]) -> bool:
        try:
            answer = await self._client.call("POST", f"/job/{number}", change)
        except EngineError as error:
            log.warning("Slurm job %s: %s", number, error)
            return False
        if answer.failure() and not any(code in _OVER for code, _ in answer.errors):
            log.warning("Slurm job %s: %s", number, answer.failure())
        return answer.failure() is None

    async def _after(self, before: asyncio.Future[Named] | None) -> Named:
        if before is not None:
            await asyncio.wait([before])
        self._flying, self._next = self._next, None
        answer = await self._client.call("GET", "/jobs/")
        if failure := answer.failure():
            raise failure
        if "jobs" not in answer.body:
            raise Transient("Slurm lists its jobs in a form that nobody here knows")
        found = defaultdict(list)
        for copy in await self._copies(answer):
            found[copy.name].append(copy)
        return found

    async def _copies(self, answer: Answer) -> list[Copy]:
        dialect = await self._client.agree()
        try:
            return [copy_of(dialect, job) for job in answer.body.get("jobs") or ()]
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise Transient(f"Slurm said something unreadable: {type(error).__name__}") from error


def _words(state: object) -> Sequence[str]:
    words = [state] if isinstance(state, str) else state
    return [str(word) for word in words] if isinstance(words, list) else []


def _heard(task: asyncio.Future[Named]) -> None:
    """Whoever waited heard the error; nobody has to be left who did."""
    if not task.cancelled():
        task.exception()
