"""Lists, reads and cancels sweeps of jobs for people."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

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
from shared.operate.listing import limit_of, moment

log = logging.getLogger(__name__)

#: Tries to write a record that the timer writes, too.
_TRIES = 5
#: The most records of ended sweeps that one list reads.
_MOST_ENDED = 400


class ListedSweeps(NamedTuple):
    """The active sweeps, the newest first, then those that have ended, the last end first."""

    sweeps: Sequence[JobSweep]
    #: whether there are more, or may be
    more: bool


async def job_sweeps(ports: Ports, parameters: Mapping[str, str], who: Caller = KEY_HOLDER) -> ListedSweeps:
    """The sweeps that the caller may see: those that are active, or have ended since `since`. Raises Misuse.

    Two range queries a shard, a point read for each active sweep, and about one for each ended one that is
    shown. A record that cannot be read is left out.
    """
    limit, since = limit_of(parameters), moment("since", parameters.get("since", "7d"), ports.clock())
    shards = await asyncio.gather(*(ports.job_sweeps.recent(n, since) for n in range(ports.ledger.shards)))
    active = {identity for keys in shards for identity in keys.active}
    ends = sorted((key for keys in shards for key in keys.ended), reverse=True)
    ended = [identity for key in ends if (identity := key.rpartition("|")[2]) not in active]
    sweeps = await _visible(ports, active, who)
    sweeps.sort(key=lambda one: (one.ended is None, one.ended or one.created, one.id), reverse=True)
    unread = ended[:_MOST_ENDED]
    while unread and len(sweeps) <= limit:
        number = limit + 1 - len(sweeps)
        sweeps += await _visible(ports, unread[:number], who)
        unread = unread[number:]
    return ListedSweeps(sweeps[:limit], len(sweeps) > limit or len(ended) > _MOST_ENDED)


async def _visible(ports: Ports, ids: Iterable[str], who: Caller) -> list[JobSweep]:
    """Those of these that the caller may see, in the same order."""

    async def one(sweep_id: str) -> JobSweep | None:
        try:
            stored = await ports.job_sweeps.get(sweep_id)
        except Unreadable:  # it is noted
            return None
        return stored.sweep if stored is not None and who.sees(stored.sweep) else None

    return [sweep for sweep in await each(ids, one) if sweep is not None]


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
            return await _as_ended(ports, written, await _end_jobs(ports, written.sweep, patience))
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


async def _as_ended(ports: Ports, stored: StoredSweep, ends: dict[str, JobState]) -> JobSweep:
    """The record with these ends; without them if it cannot be written now: the timer does it."""
    try:
        return (await advance(ports, stored, ends)).sweep
    except SlipwayError as error:
        log.warning("the ends of jobs of %s are left to the timer: %s", stored.sweep.id, error)
        return stored.sweep
