"""seats: the jobs of a job sweep get their seats, and the sweep ends with the last of them.

A seat is written before the job's first submission, and is free only after its end was recorded, which never
changes. So no process, however late, can make more jobs work at once than the sweep allows; a crash leaves a
seat at most, which its job uses, or the next pass frees.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import timedelta

from shared.core.each import each
from shared.core.errors import SlipwayError
from shared.core.job_sweeps.record import JobSweep, StoredSweep
from shared.core.job_sweeps.view import notice_of_end
from shared.core.ledger.entries import Active
from shared.core.ledger.job_sweeps import JobSweeps
from shared.core.messages import QUEUE, expand_message
from shared.core.notify.events import Notice
from shared.core.ports import Ports
from shared.delivery.deliver import deliver_now
from shared.lifecycle.carry_out import request_end
from shared.lifecycle.lookup import legible
from shared.lifecycle.waiting.dependents import Ends, ends_of

log = logging.getLogger(__name__)

#: Tries to write a record that other processes write, too.
_WRITES = 5


async def seat(
    ports: Ports, rows: Sequence[Active], sweeps: Iterable[str], moved: Collection[str]
) -> set[str]:
    """Update the open job sweeps. Returns the jobs with a seat.

    `moved`: the jobs that may have ended since the rows were read. Costs a point read for each sweep, a write
    if something changed, and a read for each job that ended.
    """
    own = await asyncio.gather(*(_read(ports.job_sweeps, one) for one in dict.fromkeys(sweeps)))
    records = {one.sweep.id: one for one in own if one is not None}
    ends = await _ends(ports, records.values(), {row.job_id for row in rows}.difference(moved))
    advanced = await asyncio.gather(*(_advance(ports, one, ends) for one in records.values()))
    records |= {one.sweep.id: one for one in advanced}
    cancelled = {name: one.sweep.cancelled_by for name, one in records.items() if one.sweep.cancel}
    await _end_cancelled(ports, rows, cancelled)
    going_on = (one.sweep for one in records.values() if not one.sweep.cancel)
    return {sweep.job_id(index) for sweep in going_on for index in sweep.seats}


async def _read(job_sweeps: JobSweeps, sweep_id: str) -> StoredSweep | None:
    """The record; None if there is none, or it cannot be read now: its jobs keep waiting."""
    try:
        return await job_sweeps.get(sweep_id)
    except SlipwayError as error:
        log.warning("the job sweep %s is left to the next pass: %s", sweep_id, error)
        return None


async def _ends(ports: Ports, records: Iterable[StoredSweep], active: Collection[str]) -> Ends:
    """How those jobs of these sweeps ended that are no longer active."""
    ids = {one.sweep.job_id(index) for one in records for index in one.sweep.open}
    try:
        return await ends_of(ports, ids.difference(active))
    except SlipwayError as error:
        log.warning("the ends of sweeps' jobs are left to the next pass: %s", error)
        return {}


async def _advance(ports: Ports, stored: StoredSweep, ends: Ends) -> StoredSweep:
    """The record after these ends, with new seats, or ended. Errors are logged here."""
    try:
        if stored.sweep.recorded_jobs < stored.sweep.total:
            await ports.queues.send(QUEUE, expand_message(stored.sweep.id))
        return await advance(ports, stored, ends)
    except SlipwayError as error:
        log.warning("the job sweep %s is left to the next pass: %s", stored.sweep.id, error)
        return stored


async def advance(ports: Ports, stored: StoredSweep, ends: Ends) -> StoredSweep:
    """The record after these ends, with the sweep's own end if that was the last job. Raises SlipwayError."""
    for _ in range(_WRITES):
        sweep = stored.sweep
        if sweep.ended is not None:
            return stored
        numbers = {sweep.job_id(index): index for index in sweep.open}
        after = sweep.after_ends({numbers[job]: state for job, state in ends.items() if job in numbers})
        after = after if after.cancel else after.with_seats(after.open)
        notice: Notice | None = None
        if after.all_ended:
            after = after.model_copy(update={"ended": ports.clock()})
            notice = _notice(ports, after)
            written = await ports.job_sweeps.end(stored, after, notice)
        elif after == sweep:
            return stored
        else:
            written = await ports.job_sweeps.change(stored, after)
        if written is not None:
            await _report(ports, written.sweep, notice)
            return written
        stored = await ports.job_sweeps.get(sweep.id) or stored
    return stored


def _notice(ports: Ports, sweep: JobSweep) -> Notice | None:
    now, policy = ports.clock(), ports.policy
    due = now + timedelta(seconds=policy.deliver_grace)
    return notice_of_end(sweep, at=now, source=policy.source, due=due, pull=policy.notices)


async def _report(ports: Ports, sweep: JobSweep, notice: Notice | None) -> None:
    if sweep.ended is not None:
        log.info("the job sweep %s has ended", sweep.id, extra={"sweep": sweep.id})
    if notice is not None:
        await deliver_now(ports, notice)


async def _end_cancelled(ports: Ports, rows: Iterable[Active], cancelled: Mapping[str, str]) -> None:
    """Request the end of every job of a cancelled sweep, if not requested yet; by whom, by sweep."""

    async def one(row: Active) -> None:
        try:
            stored = await legible(ports, row.job_id)
            if stored is not None:
                await request_end(ports, stored, cancelled[row.sweep])
        except SlipwayError as error:
            log.warning("the cancel of %s is left to the next pass: %s", row.job_id, error)

    await each((row for row in rows if row.sweep in cancelled and not row.cancel), one)
