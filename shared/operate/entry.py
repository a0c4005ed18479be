"""entry: tells a person where a process of a running job is, and the record of the job who that was.

No byte of a session passes here: the answer has coordinates, and the person's own tool and rights lead there.
Where the login node of a cluster asks for one, a certificate of this deployment is the right: for one person,
one rank and some minutes.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from shared.answers.entry import JobEntry
from shared.core.caller import KEY_HOLDER, Caller
from shared.core.errors import Misuse, NotFound, Unavailable
from shared.core.job import Job, JobState, Stored
from shared.core.ports import Ports
from shared.core.relations.entrance import Entrance, ranks_of
from shared.core.relations.hold import held_end
from shared.core.relations.permit import LIFE, SKEW, Certificate, EntryPermit
from shared.jobspec import JsonObject
from shared.lifecycle.clusters.calling import calling
from shared.lifecycle.current_teams import current_teams
from shared.lifecycle.lookup import changeable
from shared.lifecycle.transition import apply, note

#: The most people that a record names.
_MOST_NAMES = 20


class Entered(NamedTuple):
    """Where a rank of a job is, and what the trail says of it."""

    answer: JobEntry
    detail: str


async def enter(
    ports: Ports, job_id: str, rank: int, who: Caller = KEY_HOLDER, public_key: str = ""
) -> Entered:
    """Where a rank of a job runs now, once the record says who asked. `public_key`: to be certified, or "".

    Raises Misuse: 404, 403, and 409 where nothing of it runs, or where nothing may be entered; EngineError.
    """
    for _ in range(5):
        stored = await changeable(ports, job_id, who)
        job = stored.job
        await _check_open(ports, job)
        spec = await ports.ledger.spec(job.id)
        if spec is None:
            raise Unavailable(f"the document of {job.id} is missing")
        ranks = _checked(spec, rank)
        entrance = await _ask(ports, job, spec, rank)
        permit = _permit(ports, job, rank, entrance, who, public_key) if entrance.gate else None
        signed = ports.certificates.sign(permit) if permit and ports.certificates else None
        if await _noted(ports, stored, who):
            return _answer(job, rank, ranks, entrance, permit, signed)
    raise Unavailable(f"job {job_id} changes too quickly; ask again")


async def _check_open(ports: Ports, job: Job) -> None:
    """Raise Misuse (409) unless it runs, and the deployment, its team and its cluster let people in."""
    if job.state is not JobState.RUNNING or job.target is None:
        over = job.state.terminal
        remedy = "what it wrote stays: slipway log, slipway files" if over else "wait until it runs"
        raise _closed(f"{job.id} is {job.state.value}: no process of it runs", remedy)
    if not ports.policy.enter:
        raise _closed(f"{job.id} cannot be entered: this deployment does not allow it (SLIPWAY_ENTER)")
    team = (await current_teams(ports)).teams.get(job.team)
    if team is not None and not team.enter:
        raise _closed(f"{job.id} cannot be entered: its team {job.team} does not allow it (`enter`)")
    ability = ports.engines.get(job.target.engine).capabilities(job.target.cluster)["enter"]
    if ability.answer != "yes":
        why = f": {ability.note}" if ability.note else ""
        raise _closed(f"{job.id} cannot be entered: {job.target.cluster} does not offer it{why}")


def _closed(text: str, remedy: str = "ask the operator of this deployment") -> Misuse:
    return Misuse(text, status=409, remedy=remedy)


def _checked(spec: JsonObject, rank: int) -> int:
    ranks = ranks_of(spec)
    if not 0 <= rank < ranks:
        raise Misuse(f"there is no rank {rank}: the job has {ranks}", remedy=f"ranks are 0 to {ranks - 1}")
    return ranks


async def _ask(ports: Ports, job: Job, spec: JsonObject, rank: int) -> Entrance:
    target = job.fixed_target
    try:
        async with calling(ports, target.engine, target.cluster, ports.policy.read_patience) as engine:
            return await engine.entrance(target, spec, rank)
    except NotFound as error:
        text = f"{error}: rank {rank} of {job.id} has not started, or has ended"
        raise _closed(text, "ask again in a moment, or for another rank") from error


async def _noted(ports: Ports, stored: Stored, who: Caller) -> bool:
    """Whether the record says that they entered it: once for each person; False if it changed meanwhile."""
    entered = stored.job.entered
    if who.name in entered or len(entered) >= _MOST_NAMES:
        return True
    change = note(ports, stored, remark=f"entered by {who.name}", entered=(*entered, who.name))
    return await apply(ports, change) is not None


def _permit(
    ports: Ports, job: Job, rank: int, entrance: Entrance, who: Caller, public_key: str
) -> EntryPermit:
    """What the certificate of a login node would say. Raises Misuse for a caller who cannot have one."""
    if not who.id:
        raise Misuse(
            f"{job.id} is entered with a certificate, and those are for callers with a name: the key that you"
            " sent could be anyone's",
            status=403,
            remedy="send a key with a name (`slipway teams key`), or a token of your own",
        )
    if not public_key:
        raise Misuse(
            f"{job.id} is entered with a certificate for a key of yours, and the request has no `publicKey`",
            remedy="`slipway shell` makes one where ssh-keygen is installed",
        )
    now = ports.clock()
    key_id = f"{who.id} {job.id}.{job.attempt}.{rank}"
    user = str(entrance.place["user"])
    try:
        return EntryPermit(public_key, user, entrance.gate, key_id, now - SKEW, now + LIFE)
    except ValueError as error:
        raise Misuse(f"{job.id} cannot be entered by a certificate: {error}", status=409) from error


def _answer(
    job: Job,
    rank: int,
    ranks: int,
    entrance: Entrance,
    permit: EntryPermit | None,
    signed: Certificate | None,
) -> Entered:
    members: dict[str, Any] = {"job": job.id, "attempt": job.attempt, "rank": rank, "ranks": ranks}
    held = held_end(job.hold)
    members |= {"reason": entrance.reason or None, "held_until": held.until if held else None}
    place: dict[str, Any] = {**entrance.place}
    target = job.fixed_target
    detail = f"rank {rank} on {target.cluster} ({target.engine})"
    if permit and signed:
        place |= {"certificate": signed.text, "expires": permit.end}
        detail += f", certificate {signed.serial}"
    return Entered(JobEntry.model_validate({**members, entrance.tool: place}), detail)
