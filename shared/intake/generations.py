"""generations: where the record of a candidate stands, if its key has records already.

A job that ran keeps its key. A rejected one holds none: the next record of the key is another generation. So
that a key with many rejected documents costs each of them the same, only the first of them is a generation;
the others stand under the key and their payload, where their duplicates find them.
"""

from __future__ import annotations

import hashlib
from typing import NamedTuple

from shared.core.errors import Unavailable
from shared.core.identity import job_id
from shared.core.job import JobState, Stored
from shared.core.ledger.ledger import Ledger
from shared.core.ports import Ports
from shared.core.refusals import key_taken
from shared.intake.candidate import Candidate, Place

#: More generations than any key has: a drop that runs again every second for a week has fewer.
_MOST = 1 << 20


class KeyHolder(NamedTuple):
    """What stands in the last place of a key, if anything does, and that place."""

    stored: Stored | None
    place: Place


async def next_place(ports: Ports, candidate: Candidate, place: Place, *, valid: bool) -> KeyHolder:
    """The record that the candidate joins, or a free place; `place` has a record that it does not join.

    Raises Misuse if the key belongs to another payload. Costs some point reads: twice the logarithm of the
    number of generations, which only rejections of an earlier version, and drops that run again, add to.
    """
    last = await last_of(ports.ledger, place)
    own = _of_rejection(place.key, candidate.request.payload)
    rejected = await ports.ledger.get(own.id) if candidate.drop is None else None
    if rejected is not None:
        return KeyHolder(rejected, own)
    if last.stored is not None and not runs_again(last.stored, candidate):
        return last
    free = last.place._replace(generation=last.place.generation + 1)
    return KeyHolder(None, free if valid or candidate.drop is not None else own)


async def last_of(ledger: Ledger, place: Place) -> KeyHolder:
    """The last generation of a key that has a record, from `place` on.

    Without one, the generation before it. Found in steps that double, and then halve.
    """
    first = place.generation
    stored = {first: await ledger.get(place.id)}
    if stored[first] is None:
        return KeyHolder(None, place._replace(generation=first - 1))
    occupied, free, step = first, first + 1, 1
    while (record := await ledger.get(job_id(place.key, free))) is not None:
        if free - first > _MOST:
            raise Unavailable(f"the records of the key of {place.id} never end")
        stored[free] = record
        occupied, step = free, step * 2
        free = occupied + step
    while free - occupied > 1:
        middle = (occupied + free) // 2
        record = await ledger.get(job_id(place.key, middle))
        if record is None:
            free = middle
        else:
            occupied, stored[middle] = middle, record
    return KeyHolder(stored[occupied], place._replace(generation=occupied))


async def key_holder(ports: Ports, key: str) -> KeyHolder:
    """The job that a key belongs to, rejected ones aside; without one, the first free generation.

    Costs one point read for a new key.
    """
    last = await last_of(ports.ledger, Place(key, 1))
    if last.stored is not None and last.stored.job.state is not JobState.REJECTED:
        return last
    return KeyHolder(None, last.place._replace(generation=last.place.generation + 1))


def runs_again(existing: Stored, candidate: Candidate) -> bool:
    """Whether the candidate starts a new generation; False joins. Raises Misuse for another payload."""
    job = existing.job
    ended = existing.stored if job.state.terminal else None
    if candidate.modified is not None and ended is not None:
        if candidate.modified > ended:
            return True
        # Last-Modified has whole seconds: in the second of the end, only different ETags reveal a new upload.
        # A rejected job may be corrected in any of its files: a template, the envelope.
        decisive = job.state is JobState.REJECTED or candidate.modified >= ended.replace(microsecond=0)
        if decisive and candidate.drop and job.drop and candidate.drop.etags != job.drop.etags:
            return True
    if job.payload == candidate.request.payload:
        return False
    if job.state is JobState.REJECTED:
        return True
    raise key_taken(f"job {job.id}")


def _of_rejection(key: str, payload: str) -> Place:
    """Where a document is rejected whose key has a rejected document already."""
    return Place(hashlib.sha256(f"{key}|rejected|{payload}".encode()).hexdigest(), 1)
