"""Records as they may stand in the ledger, made without a journey, and what is written of them."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from shared.core.errors import Unavailable, Unreadable
from shared.core.job import Drop, Entry, Job, JobState, Reason, Stored, Target
from shared.core.ports import Ports
from tests.doubles.memory import MemoryDrops
from tests.unit.world import World

NOON = datetime(2026, 1, 1, 12, 0, tzinfo=UTC)
ID = "j_abcdefghijklmnop23456722"
TARGET = Target(engine="slurm", cluster="dev", experiment="e", name="n-abcdefghijklmnop-1", token="t")
DROP = Drop(container="scripts", folder="digits", job_file="digits/job.json", files={}, etags={})
#: Entries of a job that ran, and its end.
RUN = ((0, JobState.ACCEPTED), (1, JobState.RUNNING))
FAILED = (2, JobState.FAILED)


def at(seconds: float) -> datetime:
    return NOON + timedelta(seconds=seconds)


def job_of(*history: tuple[Any, ...], **members: Any) -> Job:
    """A record with entries of (seconds, state, attempt, reason, note), the last of which is where it is."""
    entries = tuple(_entry(n, *one) for n, one in enumerate(history or [(0, JobState.SUCCEEDED)], 1))
    last = entries[-1]
    required: dict[str, Any] = {"id": ID, "key": "k", "payload": "p", "door": "http"}
    named = {"name": "n", "experiment": "e", "cluster": "dev", "receipt": "default/r"}
    values: dict[str, Any] = {"state": last.state, "attempt": last.attempt, "sequence": last.sequence}
    times = {"created": NOON, "due": NOON}
    return Job(**{**required, **named, **values, **times, "history": entries, **members})


def _entry(
    sequence: int,
    seconds: float,
    state: JobState,
    attempt: int = 1,
    reason: Reason | None = None,
    note: str = "",
) -> Entry:
    return Entry(
        sequence=sequence, state=state, at=at(seconds), token="t", attempt=attempt, reason=reason, note=note
    )


def spec(**properties: Any) -> dict[str, Any]:
    return {"properties": {"nodeCount": 2, "stdOutErrPathPrefix": "$R/logs", **properties}}


@dataclass
class Recorded:
    """A ledger with one record."""

    job: Job | None = None
    document: dict[str, Any] | None = None
    unreadable: bool = False

    async def get(self, job_id: str) -> Stored | None:
        return Stored(self.job, "1", None) if self.job is not None and self.job.id == job_id else None

    async def spec(self, job_id: str) -> dict[str, Any] | None:
        if self.unreadable:
            raise Unreadable(f"the spec of {job_id}", "Spec")
        return self.document


@dataclass
class Written(MemoryDrops):
    """Notes each write in its order, of STATUS also whether a line was expected; `away` fails for STATUS."""

    order: list[str] = field(default_factory=list)
    fresh: list[bool] = field(default_factory=list)
    away: bool = False
    at_once: int = 0
    most_at_once: int = 0

    async def put_receipt_file(self, name: str, body: bytes, *, replace: bool) -> None:
        await asyncio.sleep(0)  # as a service: others get their turn
        self.order.append(name)
        await super().put_receipt_file(name, body, replace=replace)

    async def put_status(self, name: str, line: bytes, sequence: int, *, fresh: bool = False) -> bool:
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        await asyncio.sleep(0)
        self.at_once -= 1
        if self.away:
            raise Unavailable("storage did not answer")
        self.order.append(name)
        self.fresh.append(fresh)
        return await super().put_status(name, line, sequence, fresh=fresh)


def ports_of(
    world: World, drops: MemoryDrops, job: Job | None, document: dict[str, Any] | None = None, **more: Any
) -> Ports:
    return replace(world.ports, ledger=Recorded(job, document), drops=drops, **more)  # type: ignore[arg-type]
