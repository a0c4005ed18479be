"""overview: what runs, waits and failed, what is free, and what was used, in one answer of at most 8 kB.

Its cost does not grow with the number of callers: what is read serves all of them for some seconds.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Literal, NamedTuple, TypeAlias

from shared.answers.overview import ClusterNodes, LeftOut, Overview, TeamMonth
from shared.core.caller import Caller, HasOwner
from shared.core.cost.prices import currency_of
from shared.core.errors import Misuse, SlipwayError
from shared.core.ledger.ended import LATE, EndedJobs
from shared.core.ledger.node_history import NODE_STATES, NodeHistory
from shared.core.ports import Ports
from shared.core.states import JobState
from shared.core.teams.document import Teams
from shared.core.teams.use import TeamUse
from shared.lifecycle.current_teams import current_teams
from shared.operate.listing import moment
from shared.operate.overview import groups, newest
from shared.operate.overview.active_jobs import GOOD, ActiveJob, active_jobs
from shared.operate.overview.month import Month, month, with_quota, without_quota
from shared.operate.overview.search import Search

log = logging.getLogger(__name__)

Scope: TypeAlias = Literal["mine", "team", "all"]
#: Bytes of an answer, and most rows of each shard that are read for the jobs that have ended.
LARGEST, MOST = 8_000, 2_000
#: `since` is a whole number of these, so that the answer stays the same for a while.
_MINUTES = 10
#: A search without conditions.
EVERYTHING = Search()
_LISTS = ("waiting", "failures", "idle", "running", "ended", "clusters", "use")


class _Material(NamedTuple):
    """What is known of the deployment."""

    active: Sequence[ActiveJob]
    ended: EndedJobs
    month: Month
    teams: Teams
    uses: Mapping[str, TeamUse]
    nodes: Mapping[str, NodeHistory]

    @property
    def lines(self) -> dict[str, Sequence[str]]:
        """The ids of the jobs that wait for a quota, by team and in turn."""
        return {name: use.waiting for name, use in self.uses.items()}


async def overview(
    ports: Ports, who: Caller, scope: str = "all", since: str = "24h", search: Search = EVERYTHING
) -> Overview:
    """The overview of a caller's jobs, of their teams', or of all that they may see. Raises Misuse."""
    sees = _sight(who, scope)
    then = moment("since", since, ports.clock())
    then = then.replace(minute=then.minute - then.minute % _MINUTES, second=0, microsecond=0)
    material = await _material(ports, who, then)
    over = {job.id for job in material.ended.jobs}  # each list is as old as its last reading
    active = [job for job in material.active if sees(job) and search.fits(job) and job.id not in over]
    ended = [job for job in material.ended.jobs if sees(job) and search.fits(job)]
    numbers = Counter(job.state for job in active) + Counter(job.state for job in ended)
    return _bounded(
        Overview(
            scope=scope,
            since=material.ended.since,
            counts={state.value: numbers[state] for state in JobState if numbers[state]},
            waiting=tuple(groups.waiting(active, material.lines, material.active)),
            failures=tuple(groups.failures(ended)),
            idle=tuple(groups.idle(active)),
            running=tuple(newest.running(active)),
            ended=tuple(newest.ended(ended)),
            ends=newest.ends_by_time(ended, material.ended.since, ports.clock()),
            clusters=tuple(_nodes(name, material.nodes.get(name)) for name in ports.engines.clusters),
            month=material.month.name,
            currency=currency_of(ports.policy.prices),
            counted_since=material.month.since,
            use=tuple(_use(material, who, scope, sees)),
        )
    )


def _sight(who: Caller, scope: str) -> Callable[[HasOwner], bool]:
    """Whether a job is one of the scope, and the caller may see it. Raises Misuse."""
    if scope == "mine":
        return lambda job: job.source == who.source
    if scope == "team":
        return lambda job: job.source == who.source or job.team in who.teams
    if scope == "all":
        return who.sees
    raise Misuse(f"there is no scope {scope[:40]!r}", remedy="use mine, team or all")


async def _material(ports: Ports, who: Caller, since: datetime) -> _Material:
    teams = await _teams(ports)
    names = [name for name, one in teams.teams.items() if one.quota and (who.sees_all or name in who.teams)]
    uses = asyncio.gather(*(_team_use(ports, name) for name in names))
    active, ended, used, nodes, uses_of = await asyncio.gather(
        active_jobs(ports), _ended(ports, since), month(ports), _histories(ports), uses
    )
    by_team = {name: use for name, use in zip(names, uses_of, strict=True) if use is not None}
    return _Material(active, ended, used, teams, by_team, nodes)


async def _teams(ports: Ports) -> Teams:
    """The teams; none if they cannot be read now: then the use of all is by their jobs."""
    try:
        return await current_teams(ports)
    except SlipwayError as error:
        log.warning("the teams are not known: %s", error)
        return Teams()


class _Reading(NamedTuple):
    """The jobs that have ended since a moment, and when they were read."""

    moment_asked: datetime
    jobs: EndedJobs
    at: datetime


async def _ended(ports: Ports, since: datetime) -> EndedJobs:
    """As of some seconds ago. Only the last `since` is remembered: what is read may be large.

    For as long as that stays the same, only the latest ends are read again.
    """

    async def read() -> _Reading:
        last: _Reading | None = ports.memo.last("overview: ended")
        now = ports.clock()
        if last is None or last.moment_asked != since or now < last.at:
            return _Reading(since, await ports.ledger.ended(since, MOST), now)
        later = await ports.ledger.ended(max(since, last.at - LATE), MOST)
        most = MOST * ports.ledger.shards
        return _Reading(since, last.jobs.and_later(later, last.at, most), now)

    def good(last: _Reading) -> float:
        return GOOD if last.moment_asked == since else 0.0

    return (await ports.memo.get("overview: ended", ports.clock(), good, read)).jobs


async def _histories(ports: Ports) -> Mapping[str, NodeHistory]:
    return await ports.memo.get_or_last("overview: nodes", ports.clock(), GOOD, ports.node_histories.all)


async def _team_use(ports: Ports, team: str) -> TeamUse | None:
    """The use of a team with a quota; None if it cannot be read now."""

    async def read() -> TeamUse:
        return await ports.teams.use(team)

    try:
        return await ports.memo.get_or_last(f"overview: use of {team}", ports.clock(), GOOD, read)
    except SlipwayError as error:
        log.warning("the use of the team %s is not known: %s", team, error)
        return None


def _nodes(name: str, history: NodeHistory | None) -> ClusterNodes:
    point = history.points[-1] if history and history.points else None
    counts = dict(zip(NODE_STATES, point.nodes, strict=True)) if point and point.nodes else None
    most = history.maximum if history else None
    return ClusterNodes(name=name, nodes=counts, maximum=most, at=point.at if point else None)


def _use(material: _Material, who: Caller, scope: str, sees: Callable[[HasOwner], bool]) -> list[TeamMonth]:
    """The month of each team of the scope; of jobs without a team only where some used anything."""
    used, teams = material.month, material.teams.teams
    wide = scope == "all" and who.sees_all
    names = [name for name in teams if wide or name in who.teams]

    def by_jobs(team: str) -> TeamMonth:
        jobs = (job for job in material.active if job.team == team and sees(job))
        return without_quota(team, jobs, used.sum_of(lambda share: share.team == team and sees(share)))

    months = [
        with_quota(name, material.teams, material.uses[name], used.name)
        if name in material.uses and scope != "mine"
        else by_jobs(name)
        for name in names
    ]
    rest = any(job.team == "" and sees(job) for job in material.active)
    if not teams or rest or any(share.team == "" and sees(share) for share in used.used):
        months.append(by_jobs(""))
    return sorted(months, key=lambda one: -(one.gpu_hours + one.reserved_gpu_hours))


def _bounded(whole: Overview) -> Overview:
    """The answer in at most so many bytes: the longest list loses its last entries, and it says how many."""
    lists = {name: list(getattr(whole, name)) for name in _LISTS}
    sizes = {name: [_size(one.as_json()) for one in entries] for name, entries in lists.items()}
    room = LARGEST - _size(whole.model_copy(update=dict.fromkeys(_LISTS, ())).as_json()) - 200
    while sum(map(sum, sizes.values())) > room:
        longest = max(sizes, key=lambda name: sum(sizes[name]))
        lists[longest].pop()
        sizes[longest].pop()
    cut_off = {name: len(getattr(whole, name)) - len(lists[name]) for name in LeftOut.model_fields}
    cut = {name: tuple(entries) for name, entries in lists.items()}
    return whole.model_copy(update=cut | ({"left_out": LeftOut(**cut_off)} if any(cut_off.values()) else {}))


def _size(members: object) -> int:
    """Bytes of JSON, with the comma after it."""
    return len(json.dumps(members, ensure_ascii=False).encode()) + 2
