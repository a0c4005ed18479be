"""receipt_files: the files in the container `runs` for the person who dropped something.

The last receipt and the diagnostics are guaranteed: the outbox row of the end writes them. STATUS is one line
in a blob that carries its number, the sequence of its transition; the receipt of a drop changes together with
it, and has the same number. Every write names the text that it replaces, so a late writer finds a greater
number there and leaves it. The last line is guaranteed like the receipt; the next pass writes earlier lines
that a process could not write.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Mapping
from typing import Any

from shared.core.each import each
from shared.core.errors import SlipwayError, Unreadable
from shared.core.job import Job, JobState, Target
from shared.core.ledger.entries import Active, StatusLine
from shared.core.ports import Engines, Ports
from shared.delivery.last_lines import read_end_soon
from shared.delivery.receipt import LastLines, diagnostics, diagnostics_json, receipt, status, status_line

log = logging.getLogger(__name__)


async def put_accepted(ports: Ports, job: Job, document: Mapping[str, Any] | None) -> None:
    """The first receipt: accepted. Never replaces a later one."""
    await asyncio.gather(
        ports.drops.put_receipt_file(
            f"{job.receipt}/receipt.json",
            receipt(job, document, drops=ports.policy.drop_container),
            replace=False,
        ),
        put_status(ports, job, fresh=True),
    )


async def put_final(ports: Ports, job_id: str) -> None:
    """The last receipt, from the record as it ended; may be repeated."""
    stored = await ports.ledger.get(job_id)
    if stored is None or stored.job.archived:
        return  # an archived job got its receipt long ago, and a tombstone lacks the content
    job = stored.job
    if job.state is JobState.REJECTED:
        await asyncio.gather(
            ports.drops.put_receipt_file(f"{job.receipt}/diagnostics.txt", diagnostics(job), replace=True),
            ports.drops.put_receipt_file(
                f"{job.receipt}/diagnostics.json", diagnostics_json(job), replace=True
            ),
        )
    document, legible = None, True
    try:
        document = await ports.ledger.spec(job_id)
    except Unreadable:
        legible = False  # the receipt can still show what the record has
    engine, last = "", None
    if job.target is not None:
        engine = _engine(ports.engines, job.target)
    if job.target is not None and legible:  # otherwise its secrets are unknown and could not be masked
        last = await _last_lines(ports, job, job.target, document)
    body = receipt(job, document, engine=engine, last=last, drops=ports.policy.drop_container)
    if not job.status_file:
        await ports.drops.put_receipt_file(f"{job.receipt}/receipt.json", body, replace=True)
        return
    await ports.drops.put_status(f"{job.receipt}/receipt.json", body, job.line.sequence)
    # After the receipt, so that readers who see the end here also find the receipt.
    await ports.drops.put_status(job.status_file, status(job), job.line.sequence)


async def put_news(ports: Ports, job: Job, document: Mapping[str, Any] | None = None) -> None:
    """Write receipt and STATUS of an active drop whose line has changed. Never raises.

    `document` is the accepted one, which is read if the caller does not have it.
    """
    if job.status_file and not job.state.terminal and await _put_receipt(ports, job, document):
        await put_status(ports, job)


async def _put_receipt(ports: Ports, job: Job, document: Mapping[str, Any] | None) -> bool:
    """Returns whether STATUS may be written: an outdated STATUS shows the sweeper an outdated receipt."""
    try:
        document = document or await ports.ledger.spec(job.id)
        engine = _engine(ports.engines, job.target) if job.target else ""
        body = receipt(job, document, engine=engine, drops=ports.policy.drop_container)
        await ports.drops.put_status(f"{job.receipt}/receipt.json", body, job.line.sequence)
    except Unreadable:
        return True  # there is no receipt before the end
    except SlipwayError as error:
        log.warning("the receipt of %s is left to the sweeper: %s", job.id, error, extra={"job": job.id})
        return False
    return True


async def put_status(ports: Ports, job: Job, *, fresh: bool = False) -> None:
    """Write the current line of an active drop; `put_final` writes its end. Never raises."""
    if not job.status_file or job.state.terminal:
        return
    try:
        await ports.drops.put_status(job.status_file, status(job), job.line.sequence, fresh=fresh)
    except SlipwayError as error:
        log.warning("STATUS of %s is left to the sweeper: %s", job.id, error, extra={"job": job.id})


async def put_statuses(ports: Ports, rows: Iterable[Active]) -> None:
    """Write lines that a process failed to write. Lines known to this process cost nothing."""

    async def one(row_shown: tuple[Active, StatusLine]) -> None:
        row, shown = row_shown
        line = status_line(row.job_id, row.state, shown.since, row.waits, shown.absent_files)
        try:
            if await ports.drops.put_status(shown.name, line, shown.sequence):
                await _put_receipt(ports, row.stored.job, None)
        except SlipwayError as error:
            log.warning("STATUS of %s is left to the sweeper: %s", row.job_id, error)

    await each(((row, row.shown) for row in rows if row.shown is not None), one)


def _engine(engines: Engines, target: Target) -> str:
    try:
        return engines.get(target.engine).version
    except SlipwayError:
        return target.engine


async def _last_lines(
    ports: Ports, job: Job, target: Target, document: Mapping[str, Any] | None
) -> LastLines | None:
    """The last lines of a failed job's standard error, if the engine returns them in time."""
    ran = any(entry.state in (JobState.QUEUED, JobState.RUNNING) for entry in job.history)
    if job.state is not JobState.FAILED or not ran:
        return None
    patience = ports.policy.last_lines_patience
    return await read_end_soon(ports, job, target, document, patience, job.reason)
