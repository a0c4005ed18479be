"""answers: what is left in the container `runs` for the person who dropped something.

The receipt and the diagnostics are guaranteed: the outbox row of the end writes them. STATUS is one line in a
blob that carries its number, the sequence of the transition it tells of. Every write names the line that it
replaces, so a writer that comes late finds a greater number there and leaves it. The last line is guaranteed
like the receipt; one that a process could not write before is written by the next sweep.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Mapping
from typing import Any

from shared.conceal import without_secrets
from shared.errors import SlipwayError
from shared.job import Job, JobState, Reason
from shared.ports import Active, OutputFile, Ports, Shown
from shared.receipt import LastLines, diagnostics, diagnostics_json, receipt, status, status_line

log = logging.getLogger(__name__)

#: Seconds for the last lines of a failed job; a receipt does not wait longer for them.
_PATIENCE = 2.0
_LAST_BYTES, _LAST_LINES = 4096, 20
#: How many lines are checked at once.
_PARALLEL = 16


async def put_accepted(ports: Ports, job: Job, document: Mapping[str, Any] | None) -> None:
    """The first answer: accepted. Never replaces a later one, whoever is late."""
    await asyncio.gather(
        ports.drops.put_answer(f"{job.receipt}/receipt.json", receipt(job, document), replace=False),
        put_status(ports, job, fresh=True),
    )


async def put_final(ports: Ports, job_id: str) -> None:
    """The last answer, from the record as it ended; may be repeated."""
    stored = await ports.ledger.get(job_id)
    if stored is None or stored.job.archived:
        return  # the answer of an archived job was given long ago, from more than a tombstone holds
    job = stored.job
    if job.state is JobState.REJECTED:
        await asyncio.gather(
            ports.drops.put_answer(f"{job.receipt}/diagnostics.txt", diagnostics(job), replace=True),
            ports.drops.put_answer(f"{job.receipt}/diagnostics.json", diagnostics_json(job), replace=True),
        )
    document = await ports.ledger.spec(job_id)
    last = await _last_lines(ports, job, document)
    body = receipt(job, document, engine=_engine(ports, job), last=last)
    await ports.drops.put_answer(f"{job.receipt}/receipt.json", body, replace=True)
    if job.status_file:  # after the receipt: who reads the end here finds it there
        await ports.drops.put_status(job.status_file, status(job), job.stage.sequence)


async def put_status(ports: Ports, job: Job, *, fresh: bool = False) -> None:
    """The present line of a drop that goes on; its end is told by `put_final`. Never raises."""
    if not job.status_file or job.state.terminal:
        return
    try:
        await ports.drops.put_status(job.status_file, status(job), job.stage.sequence, fresh=fresh)
    except SlipwayError as error:
        log.warning("STATUS of %s is left to the sweep: %s", job.id, error, extra={"job": job.id})


async def put_statuses(ports: Ports, rows: Iterable[Active]) -> None:
    """Whatever line a process failed to write. Costs nothing for lines that this process knows of."""
    gate = asyncio.Semaphore(_PARALLEL)

    async def one(row: Active, shown: Shown) -> None:
        line = status_line(row.job_id, row.state, shown.since)
        async with gate:
            try:
                await ports.drops.put_status(shown.name, line, shown.sequence)
            except SlipwayError as error:
                log.warning("STATUS of %s is left to the next sweep: %s", row.job_id, error)

    await asyncio.gather(*(one(row, row.shown) for row in rows if row.shown is not None))


def _engine(ports: Ports, job: Job) -> str:
    if job.target is None:
        return ""
    try:
        return ports.engines.of(job.target.engine).version
    except SlipwayError:
        return job.target.engine


async def _last_lines(ports: Ports, job: Job, document: Mapping[str, Any] | None) -> LastLines | None:
    """The end of what a failed job wrote to standard error, as far as the engine gives it at once."""
    ran = any(entry.state in (JobState.QUEUED, JobState.RUNNING) for entry in job.history)
    if job.target is None or job.state is not JobState.FAILED or not ran:
        return None
    try:
        async with asyncio.timeout(_PATIENCE):
            engine = ports.engines.of(job.target.engine)
            file = _stderr(await engine.files(job.target, "stdouterr"), job.reason)
            if file is None:
                return None
            start = max(0, (file.size or 0) - _LAST_BYTES)
            chunk = await engine.log(job.target, file.name, start, _LAST_BYTES)
            text = without_secrets(ports, job, document, chunk.data.decode("utf-8", "replace"))
    except (SlipwayError, TimeoutError):
        return None
    lines = text.splitlines()[1 if start else 0 :]  # the first one is cut
    return LastLines(file.name, tuple(lines[-_LAST_LINES:])) if lines else None


def _stderr(files: Iterable[OutputFile], reason: Reason | None) -> OutputFile | None:
    """The file that most likely says why: of the preparation if that failed, else the first with text."""
    found = sorted((f for f in files if f.name.startswith("stderr") and f.size), key=lambda f: f.name)
    preparation = reason is Reason.PREPARATION
    fitting = [f for f in found if ("job_prep" in f.name) is preparation]
    return next(iter(fitting or found), None)
