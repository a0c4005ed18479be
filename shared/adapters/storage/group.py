"""Group commit: the writes of concurrent callers to one partition share transactions.

A transaction costs one request, for any number of writes. While one is in progress, further writes
gather for the next one; a lone write goes at once. When the service refuses a shared transaction, each of its
writes is repeated in a transaction of its own, so a conflict of one write does not affect the others.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from shared.adapters.storage.table import Operation, Refused, Table
from shared.core.errors import Misuse

#: The limits of one transaction: entities, and bytes of the request (4 MiB); and the bytes around each row.
_ENTITIES, _BYTES, _OVERHEAD = 100, 4_000_000, 600
#: Seconds for which a busy partition waits for further writes. An idle one does not wait.
LINGER = 0.003


@dataclass(frozen=True)
class Write:
    """One change of a job: applied whole or not at all, and never two of the same job in one transaction."""

    job_id: str
    operations: tuple[Operation, ...]

    @property
    def partition(self) -> str:
        """All rows of a job share one."""
        return str(self.operations[0].row["PartitionKey"])

    @cached_property
    def size(self) -> int:
        """The approximate size in the request, in bytes."""
        return sum(len(operation.body) + _OVERHEAD for operation in self.operations)


#: For each write, in order, its new ETags or the error.
_Outcomes = list[list[str] | BaseException]


class _Batch:
    """Writes that will share a transaction; `done` has an outcome for each, in order."""

    def __init__(self, send: Callable[[_Batch], Coroutine[Any, Any, _Outcomes]]) -> None:
        self.writes: list[Write] = []
        self.jobs: set[str] = set()
        self.entities = self.size = 0
        self.open = True
        self.done = asyncio.create_task(send(self))

    def takes(self, write: Write) -> bool:
        """Whether there is room, and no other write of the same job yet."""
        return (
            self.open
            and write.job_id not in self.jobs
            and self.entities + len(write.operations) <= _ENTITIES
            and self.size + write.size <= _BYTES
        )

    def add(self, write: Write) -> int:
        """Take a write that `takes` allowed. Returns its index among the writes of the transaction."""
        self.writes.append(write)
        self.jobs.add(write.job_id)
        self.entities += len(write.operations)
        self.size += write.size
        return len(self.writes) - 1


class GroupCommit:
    """The writes of one process to one table. At most one shared transaction a partition is in flight."""

    def __init__(self, table: Table, linger: float = LINGER) -> None:
        self._table = table
        self._linger = linger
        self._last: dict[str, _Batch] = {}

    async def write(self, write: Write) -> list[str]:
        """The new ETags, one an operation. Raises Refused, and any error of the table."""
        last = self._last.get(write.partition)
        if last is None or not last.takes(write):
            last = self._last[write.partition] = self._begin(last)
        index = last.add(write)
        # Shielded: a caller that gives up must not take the others' transaction with it.
        outcome = (await asyncio.shield(last.done))[index]
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    def _begin(self, before: _Batch | None) -> _Batch:
        return _Batch(lambda batch: self._send(batch, before))

    async def _send(self, batch: _Batch, before: _Batch | None) -> _Outcomes:
        if before is not None and not before.done.done():
            await asyncio.wait({before.done})
            await asyncio.sleep(self._linger)
        batch.open = False
        try:
            return await self._transact(batch.writes)
        finally:
            partition = batch.writes[0].partition
            if self._last[partition] is batch:
                del self._last[partition]

    async def _transact(self, writes: Sequence[Write]) -> _Outcomes:
        operations = [operation for write in writes for operation in write.operations]
        try:
            etags = iter(await self._table.transact(operations))
        except (Refused, Misuse) as refused:
            # A single write may make the transaction too large; the others must not fail with it.
            if len(writes) == 1:
                return [refused]
            alone = (self._table.transact(write.operations) for write in writes)
            return list(await asyncio.gather(*alone, return_exceptions=True))
        return [[next(etags) for _ in write.operations] for write in writes]
