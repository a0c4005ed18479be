"""shares: what jobs used this month and may still use, by caller, by experiment, by team without a quota."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple, TypeAlias

from shared.answers.teams import MonthUsage, TeamUse, UsageShare
from shared.core.caller import Caller, owner_of
from shared.core.cost.usage import Usage
from shared.core.ports import Ports
from shared.operate.overview.active_jobs import ActiveJob, active_jobs
from shared.operate.overview.month import Month, Share, month, without_quota

By: TypeAlias = Literal["owner", "experiment"]
#: Most entries of an answer: those that used most.
MOST = 200
_NOTHING = Usage()


class TeamCount(NamedTuple):
    """The use of a team now, and that of its jobs that have ended in this month."""

    use: TeamUse
    ended: MonthUsage


class Counted(NamedTuple):
    """What can be counted by jobs: the month, and the jobs that have not ended."""

    month: Month
    active: tuple[ActiveJob, ...]

    def of_team(self, team: str) -> TeamCount:
        """The use of a team without a quota, now and in this month."""
        used = self.month.sum_of(lambda share: share.team == team)
        one = without_quota(team, (job for job in self.active if job.team == team), used)
        use = TeamUse(
            jobs=one.jobs,
            nodes=one.nodes,
            gpus=one.gpus,
            gpu_hours=round(one.gpu_hours + one.reserved_gpu_hours, 4),
            cost=round(one.cost + one.reserved_cost, 4),
            reserved_gpu_hours=one.reserved_gpu_hours,
            reserved_cost=one.reserved_cost,
            waiting=0,
            borrowed=0,
            lent=0,
        )
        return TeamCount(use, MonthUsage.model_validate(used.as_json()))


async def counted(ports: Ports) -> Counted:
    """As of some seconds ago, and the month as of some minutes."""
    return Counted(await month(ports), await active_jobs(ports))


class _Group(NamedTuple):
    team: str
    name: str


def shares(jobs: Counted, by: By, who: Caller) -> list[UsageShare]:
    """The use by caller or by experiment, of the jobs that a caller may see; what used most first."""
    used: Mapping[_Group, Usage] = _sums(
        (_group(share, by), usage) for share, usage in jobs.month.used.items() if who.sees(share)
    )
    visible = [job for job in jobs.active if job.most is not None and who.sees(job)]
    reserved = _sums((_group(job, by), job.most or _NOTHING) for job in visible)
    entries = [_entry(one, by, used[one], reserved[one]) for one in {**used, **reserved}]
    return sorted(entries, key=lambda one: (-one.gpu_hours, -one.node_hours, -one.reserved_gpu_hours))


def _sums(parts: Iterable[tuple[_Group, Usage]]) -> defaultdict[_Group, Usage]:
    sums: defaultdict[_Group, Usage] = defaultdict(Usage)
    for one, usage in parts:
        sums[one] = sums[one].plus(usage)
    return sums


def _group(one: Share | ActiveJob, by: By) -> _Group:
    return _Group(one.team, owner_of(one) if by == "owner" else one.experiment)


def _entry(one: _Group, by: By, used: Usage, reserved: Usage) -> UsageShare:
    return UsageShare(
        team=one.team or None,
        owner=(one.name or None) if by == "owner" else None,
        experiment=(one.name or None) if by == "experiment" else None,
        jobs=used.jobs,
        node_hours=round(used.node_hours, 4),
        gpu_hours=round(used.gpu_hours, 4),
        cost=round(used.cost, 4),
        at_work=reserved.jobs,
        reserved_gpu_hours=round(reserved.gpu_hours, 4),
        reserved_cost=round(reserved.cost, 4),
    )
