"""Reads and cancels sweeps of jobs for people."""

from __future__ import annotations

import asyncio
import logging

from shared.core.caller import KEY_HOLDER, Caller
from shared.core.each import each
from shared.core.errors import Misuse, SlipwayError, Unavailable, Unreadable
from shared.core.identity import is_sweep_id
from shared.core.job_sweeps.record import JobSweep, StoredSweep
from shared.core.ledger.finished_jobs import location_of
from shared.core.ledger.job_sweeps import sweep_of_line
from shared.core.ports import Ports
from shared.core.states import JobState
from shared.lifecycle.carry_out import request_end
from shared.lifecycle.job_sweeps.seats import advance
from shared.lifecycle.lookup import legible
from shared.operate.ends.cancel_jobs import PATIENCE

log = logging.getLogger(__name__)

#: Tries to write a record that the timer writes, too.
_TRIES = 5


async def job_sweep(ports: Ports, sweep_id: str, who: Caller = KEY_HOLDER) -> StoredSweep:
    """One record, even if it is archived. Raises Misuse (404), also if the caller may not see it."""
    stored = await ports.job_sweeps.get(sweep_id) if is_sweep_id(sweep_id) else None
    if stored is None or not who.sees(stored.sweep):
        raise Misuse(
            f"there is no sweep {sweep_id[:80]}", status=404, remedy="its id is in the answer to its request"
        )
    if not stored.sweep.archived:
        return stored
    line = await ports.archive.read(location_of(stored.sweep))
    if line is None:
        return stored  # the archive has been cleared; the tombstone has the counts
    try:
        archived = sweep_of_line(line)
        if archived.id != sweep_id:
            raise ValueError("the line of another sweep")
        return StoredSweep(archived, stored.etag)
    except (ValueError, KeyError, TypeError) as error:
        raise Unreadable(f"{stored.sweep.archived} of the archive", "the line") from error


async def cancel_sweep(
    ports: Ports, sweep_id: str, who: Caller = KEY_HOLDER, patience: float = PATIENCE
) -> JobSweep:
    """Request the end of every job of a sweep; ended jobs stay as they are. Raises Misuse (404, 403).

    The flag in the record decides: the timer ends what fails here, or what there is no time for.
    """
    flags = {"cancel": True, "cancelled_by": who.name}
    for _ in range(_TRIES):
        stored = await job_sweep(ports, sweep_id, who)
        who.may_change(stored.sweep)
        if stored.sweep.ended is not None or stored.sweep.cancel:
            return stored.sweep
        written = await ports.job_sweeps.change(stored, stored.sweep.model_copy(update=flags))
        if written is not None:
            return await _with_ends(ports, written, await _end_jobs(ports, written.sweep, patience))
    raise Unavailable(f"sweep {sweep_id} changes too quickly; ask again")


async def _end_jobs(ports: Ports, sweep: JobSweep, patience: float) -> dict[str, JobState]:
    """Ask for the end of each job until the seconds are over. Returns how those ended that have."""
    loop = asyncio.get_running_loop()
    until = loop.time() + patience
    ends: dict[str, JobState] = {}

    async def one(index: int) -> None:
        if loop.time() >= until:
            return
        try:
            stored = await legible(ports, sweep.job_id(index))
            after = stored and await request_end(ports, stored, sweep.cancelled_by)
        except SlipwayError as error:
            log.warning("the cancel of job %d of %s is left to the timer: %s", index, sweep.id, error)
            return
        if after is not None and after.job.state.terminal:
            ends[after.job.id] = after.job.state

    # In reverse order, so that waiting jobs do not take the seats of those that end.
    await each(reversed(sweep.open), one)
    return ends


async def _with_ends(ports: Ports, stored: StoredSweep, ends: dict[str, JobState]) -> JobSweep:
    """The record with these ends; without them if it cannot be written now: the timer does it."""
    try:
        return (await advance(ports, stored, ends)).sweep
    except SlipwayError as error:
        log.warning("the ends of jobs of %s are left to the timer: %s", stored.sweep.id, error)
        return stored.sweep
