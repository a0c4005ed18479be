"""grants: leads the jobs of a pass through the gates; what a counted gate gives is committed first.

Each keeper gives what it has to the jobs that wait at its gate: seats, claims, slots. Seats and claims go on
while submissions are paused; where no job is left to submit, that is not asked.
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeVar

from shared.admission.gates import GATES, PERSON, QUOTA, SEAT, SLOT, Gate, Wait, World, judge
from shared.admission.line import compete, first_in_line, in_line
from shared.admission.pauses import paused
from shared.admission.reason import sentence
from shared.admission.sentences import OTHERS_OF_PERSON, describe_pause, hourly_limit, why_slot
from shared.core.errors import SlipwayError, quoted
from shared.core.job import JobState
from shared.core.ledger.entries import Active
from shared.core.pacing.wait_kinds import WaitKind
from shared.core.policy import Policy
from shared.core.ports import Ports
from shared.lifecycle.current_teams import current_teams
from shared.lifecycle.job_sweeps.seats import seat
from shared.lifecycle.teams.claims import claimed
from shared.lifecycle.teams.rows import quota_of
from shared.lifecycle.waiting.dependents import settle
from shared.lifecycle.waiting.lines import note_waits

log = logging.getLogger(__name__)
T = TypeVar("T")


class Loaded(NamedTuple):
    """What a pass read, and what it has seen since."""

    #: all active jobs, and the job sweeps that have not ended
    rows: Sequence[Active]
    sweeps: Sequence[str]
    #: the jobs that may have ended since
    moved: Collection[str] = frozenset()


class Admitted(NamedTuple):
    """The jobs that no gate holds, the first in line first; and what that was judged by."""

    rows: Sequence[Active]
    world: World


Keeper = Callable[[Ports, Loaded, Sequence[Active], World], Awaitable[World]]


async def admitted(ports: Ports, loaded: Loaded) -> Admitted:
    """Judge all jobs that wait in the ledger. Raises SlipwayError where that is not known of any.

    A keeper that fails gives nothing, and keeps no job waiting at another gate.
    """
    end = asyncio.get_running_loop().time() + ports.policy.pass_deadline
    asking = await _in_time(end, "others", _settled(ports, loaded), _asking(loaded.rows))
    world = World(ports.policy, ports.clock())
    lines = _by_gate(asking, world)
    for gate, keeper in KEEPERS:
        line = lines.pop(gate, [])
        world = await _in_time(end, f"a {gate.name}", keeper(ports, loaded, line, world), world)
        for following, rows in _by_gate(line, world, gate).items():
            lines[following] += rows
    await _in_time(end, "another gate by now", _note_later_gates(ports, lines, world), None)
    if not (ready := lines[None]):
        return Admitted([], world)
    world = replace(world, pause=await paused(ports))
    if world.pause is not None:
        log.info("%s: %d jobs wait", describe_pause(world.pause), len(ready))
        return Admitted([], world)
    ready = in_line(ready)
    if not ports.policy.max_active_jobs:
        return Admitted(ready, world)
    return await _with_slots(ports, loaded, ready, world)


def _by_gate(rows: Iterable[Active], world: World, begin: Gate = GATES[0]) -> dict[Gate | None, list[Active]]:
    """The jobs that wait at each gate, and at none; they have passed those before the first one named."""
    lines: dict[Gate | None, list[Active]] = defaultdict(list)
    number = GATES.index(begin)
    for row in rows:
        verdict = judge(row, world, number)
        lines[verdict.gate if isinstance(verdict, Wait) else None].append(row)
    return lines


async def _in_time(end: float, name: str, act: Awaitable[T], otherwise: T) -> T:
    """What an act returns; `otherwise` where it fails, or the time is over, which the log says."""
    try:
        async with asyncio.timeout_at(end):
            return await act
    except (SlipwayError, TimeoutError) as error:
        log.warning("sweeper: jobs that wait for %s are left to the next pass, after %s", name, quoted(error))
    except Exception:
        # The gates do not need each other; what failed here is tried again by the next pass.
        log.exception("sweeper: jobs that wait for %s are left to the next pass", name)
    return otherwise


def _asking(rows: Iterable[Active]) -> Sequence[Active]:
    return [row for row in rows if row.state is JobState.ACCEPTED]


async def _settled(ports: Ports, loaded: Loaded) -> Sequence[Active]:
    """The jobs that ask to be submitted, after the ends of others on which they depend."""
    released = {row.job_id: row for row in await settle(ports, loaded.rows, loaded.moved)}
    return [released.get(row.job_id, row) for row in _asking(loaded.rows)]


async def _note_later_gates(ports: Ports, lines: Mapping[Gate | None, list[Active]], world: World) -> None:
    """Say where jobs wait now whose records still name a gate that holds them no longer.

    That is the hourly limit, or a quota: the team's or the person's. Costs a write for each such job.
    """
    for gate in (SEAT, QUOTA, PERSON):
        if rows := [row for row in lines[gate] if _names_another(row, gate, ports.policy)]:
            quotas = {row.team: await quota_of(ports, row.team) for row in rows}
            await note_waits(ports, rows, Wait(gate, replace(world, quotas=quotas)))


def _names_another(row: Active, gate: Gate, policy: Policy) -> bool:
    """Whether its record names another gate than the one at which it waits."""
    return _names_rate(row, policy) or row.waits.startswith(OTHERS_OF_PERSON) is not (gate is PERSON)


def _names_rate(row: Active, policy: Policy) -> bool:
    """Whether its record names the hourly limit."""
    return row.wait is WaitKind.SLOT and row.waits == sentence(hourly_limit(policy))


async def _with_seats(ports: Ports, loaded: Loaded, _: Sequence[Active], world: World) -> World:
    if not loaded.sweeps and not any(row.sweep for row in loaded.rows):
        return world
    return replace(world, seats=await seat(ports, loaded.rows, loaded.sweeps, loaded.moved))


async def _with_claims(ports: Ports, loaded: Loaded, line: Sequence[Active], world: World) -> World:
    if not any(row.claim is not None for row in loaded.rows):
        return world
    given_out = await claimed(ports, loaded.rows, line, loaded.moved)
    return replace(world, claims=given_out.claims, held_back=given_out.held_back)


async def _with_slots(ports: Ports, loaded: Loaded, ready: Sequence[Active], world: World) -> Admitted:
    """Choose the jobs that are next. Others that came here from another gate say that they wait here."""
    at_work = [row.team for row in loaded.rows if row.state is not JobState.ACCEPTED]
    room = ports.policy.max_active_jobs - len(at_work)
    weights: dict[str, float] = {}
    if 0 < room < len(ready) and compete(ready):
        weights = {name: team.weight for name, team in (await current_teams(ports)).teams.items()}
    first = first_in_line(ready, at_work, weights, room)
    chosen = {row.job_id for row in first}
    world = replace(world, slots=chosen)
    text = sentence(why_slot(ports.policy))
    behind = (row for row in ready if row.job_id not in chosen and row.waits != text)
    others = (row for row in behind if row.needs_seat or row.needs_claim or _names_rate(row, ports.policy))
    await note_waits(ports, others, Wait(SLOT, world))
    return Admitted(first, world)


#: What commits, before it counts, what it gives to the jobs at a gate; in the order of the gates.
KEEPERS: tuple[tuple[Gate, Keeper], ...] = ((SEAT, _with_seats), (QUOTA, _with_claims))
