"""dependencies: looks up the jobs that a request waits for; a name stands for the latest job of that name.

This happens before the record is made, so a job can wait only for jobs that exist already.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import NamedTuple

from shared.core.caller import Caller
from shared.core.errors import Unreadable
from shared.core.identity import is_job_id, is_sweep_id
from shared.core.job import Job
from shared.core.ledger.ledger import Ledger
from shared.core.ledger.listing import Query
from shared.core.ports import Ports
from shared.core.refusals import refused
from shared.core.relations.dependency import Dependency, judge
from shared.intake.candidate import Candidate
from shared.intake.message import Request
from shared.jobspec import Problem, Suggestions
from shared.lifecycle.current_teams import current_teams
from shared.lifecycle.lookup import visible

#: How many jobs are searched for a name that the person may have meant.
_NEWEST = 100
#: What to write in place of a sweep.
_OF_A_SWEEP = "name jobs of it, or submit the job when io.slipway.sweep.ended.v1 comes"


@dataclass(frozen=True)
class _Reference:
    """A job that a message names: the place and the text of the name, and how the job has to end."""

    pointer: str
    text: str
    success: bool


class _Result(NamedTuple):
    """The job that a reference means, or why it means none."""

    job: Job | None
    problem: Problem | None


async def with_dependencies(ports: Ports, candidate: Candidate) -> Request:
    """The request with the jobs that it waits for, and a problem for each name without a job.

    Costs nothing for a request that names none. Raises Unavailable.
    """
    request = candidate.request
    references = _references(request)
    if not references:
        return request
    who = await _who(ports, candidate)
    results = await asyncio.gather(*(_find(ports, one, who) for one in references))
    dependencies: dict[str, Dependency] = {}
    problems = []
    for reference, (job, problem) in zip(references, results, strict=True):
        if problem is not None:
            problems.append(problem)
        elif job is not None and dependencies.get(job.id, reference).success is not reference.success:
            text = f"{reference.text} would have to succeed and to end without success"
            remedy = "name it in after or in afterFailure, not in both"
            problems.append(refused("SW112", reference.pointer, text, remedy))
        elif job is not None:
            dependencies[job.id] = _dependency(job, reference)
    return replace(
        request,
        dependencies=tuple(dependencies.values()),
        problems=(*request.problems, *_located(request, problems)),
    )


async def _who(ports: Ports, candidate: Candidate) -> Caller:
    """Whose rights count. A drop, where there are teams, sees the jobs of its folder's team.

    So does a message of the queue that has a team: who reads its record is in that team. A caller who asks
    about a folder learns nothing of jobs that they may not see themselves.
    """
    who, team = candidate.who, candidate.request.share.team
    is_message = candidate.door == "queue" and bool(team)
    if not (candidate.folder is not None or is_message) or candidate.rerun_of:
        return who
    if not (await current_teams(ports)).teams:
        return who
    own = {team: False} if who.sees_all or team in who.teams else {}
    return Caller(candidate.source, roles=frozenset(), teams=own)


def _references(request: Request) -> list[_Reference]:
    lists = (("after", request.envelope.after, True), ("afterFailure", request.envelope.after_failure, False))
    return [
        _Reference(f"{request.envelope_at}/{member}/{index}", text, success)
        for member, texts, success in lists
        for index, text in enumerate(texts)
    ]


def _dependency(job: Job, reference: _Reference) -> Dependency:
    """The dependency, which is met already if the job has ended in the required way.

    `dependents` handles a job that ended otherwise.
    """
    one = Dependency(job=job.id, name=job.name, success=reference.success)
    return judge([one], {job.id: job.state}).dependencies[0] if job.state.terminal else one


def _located(request: Request, problems: list[Problem]) -> tuple[Problem, ...]:
    """The problems with their places, if the envelope is a text of its own."""
    return tuple(problems) if request.around is None else tuple(request.around.locate(tuple(problems)))


async def _find(ports: Ports, reference: _Reference, who: Caller) -> _Result:
    text = reference.text
    if is_job_id(text):
        try:
            stored = await visible(ports, text, who)
        except Unreadable as error:
            return _Result(None, refused("SW112", reference.pointer, str(error)))
        if stored is not None:
            return _Result(stored.job, None)
        return _Result(None, refused("SW112", reference.pointer, f"there is no job {text}"))
    if is_sweep_id(text):
        problem = refused("SW112", reference.pointer, f"{text} is a sweep, not a job", _OF_A_SWEEP)
        return _Result(None, problem)
    return await _find_name(ports.ledger, reference, who)


async def _find_name(ledger: Ledger, reference: _Reference, who: Caller) -> _Result:
    """The latest job of a name: the caller's own first, as for other names, then one of any that they see."""
    text, cut = reference.text, False
    places = _places(who)
    for place in places:
        page = await ledger.find(replace(place, name=text), limit=1, after=None)
        if page.jobs:
            return _Result(page.jobs[0], None)
        cut = cut or page.cut
    newest = await ledger.find(places[-1], limit=_NEWEST, after=None)
    hint = Suggestions().did_you_mean(text, dict.fromkeys(job.name for job in newest.jobs))
    where = " among the latest ones; name its id if it is older" if cut else ""
    return _Result(None, refused("SW112", reference.pointer, f'there is no job "{text}"{where}{hint}'))


def _places(who: Caller) -> list[Query]:
    """Where a caller's names are looked up, in this order."""
    if not who.roles:  # a drop's
        return [Query(seen_by=who)]
    own = who.id or not who.sees_all  # a key without a name is every caller's
    return [*([Query(owner=who.source)] if own else []), *([Query()] if who.sees_all else [])]
