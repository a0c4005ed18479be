"""month: what jobs used in this month, and what those at work may still use."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from shared.answers.overview import TeamMonth
from shared.core.cost.usage import Usage, month_of
from shared.core.ledger.ended import LATE, EndedJobs
from shared.core.ports import Ports
from shared.core.teams.document import Teams
from shared.core.teams.use import TeamUse
from shared.operate.overview.active_jobs import ActiveJob

#: Seconds for which a sum of the month serves this process, and most rows of each shard that are read for it.
GOOD, MOST = 300.0, 10_000
_NOTHING = Usage()
#: After so long all of it is read: a process with a wrong clock may have recorded an early end.
_WHOLE = timedelta(hours=6)


class Share(NamedTuple):
    """By what use is summed; it belongs to a team and to a caller, as a job does."""

    team: str
    source: str
    experiment: str


@dataclass(frozen=True)
class Month:
    """What the jobs used that have ended since a moment of a month."""

    name: str
    since: datetime
    used: Mapping[Share, Usage]
    #: the part of that which ended before a moment, and is not read again until all of it is
    settled: Mapping[Share, Usage]
    until: datetime
    whole_at: datetime

    def sum_of(self, fits: Callable[[Share], bool]) -> Usage:
        """The sum over some shares."""
        total = _NOTHING
        for share, used in self.used.items():
            total = total.plus(used) if fits(share) else total
        return total


async def month(ports: Ports) -> Month:
    """The month until some minutes ago: a range query a shard, and more where many jobs have ended.

    All of it is read once in some hours, and in between what has ended since.
    """
    now = ports.clock()
    name = month_of(now)

    def good(last: Month) -> float:
        return GOOD if last.name == name else 0.0

    async def read() -> Month:
        last: Month | None = ports.memo.last("overview: month")
        if last is not None and last.name == name and timedelta() <= now - last.whole_at < _WHOLE:
            ended = await ports.ledger.ended(last.until, MOST)
            if ended.since == last.until:
                return _sum(ended, last.settled, replace(last, until=now - LATE))
        begin = now.astimezone(UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
        ended = await ports.ledger.ended(begin, MOST)
        return _sum(ended, {}, Month(name, ended.since, {}, {}, max(begin, now - LATE), now))

    return await ports.memo.get("overview: month", now, good, read)


def _sum(ended: EndedJobs, before: Mapping[Share, Usage], month: Month) -> Month:
    """The month with what these jobs used added to what was used before."""
    used, settled = defaultdict(Usage, before), defaultdict(Usage, before)
    for job in ended.jobs:
        share = Share(job.team, job.source, job.experiment)
        used[share] = used[share].plus(job.usage)
        if job.at < month.until:
            settled[share] = settled[share].plus(job.usage)
    return replace(month, used=dict(used), settled=dict(settled))


def with_quota(team: str, teams: Teams, use: TeamUse, month: str) -> TeamMonth:
    """The month of a team with a quota, as its record has it."""
    held, used, quota = use.held(month), use.used(month), teams.teams[team].quota
    return TeamMonth(
        team=team,
        jobs=held.jobs,
        nodes=held.nodes,
        gpus=held.gpus,
        gpu_hours=round(used.gpu_hours, 4),
        cost=round(used.cost, 4),
        reserved_gpu_hours=round(held.gpu_hours - used.gpu_hours, 4),
        reserved_cost=round(held.cost - used.cost, 4),
        limit_gpu_hours=quota.gpu_hours if quota else None,
        budget=quota.budget if quota else None,
    )


def without_quota(team: str, jobs: Iterable[ActiveJob], used: Usage) -> TeamMonth:
    """The month of a team without a quota, or of jobs without a team: by its jobs."""
    at_work = [(job, job.most) for job in jobs if job.most is not None]
    reserved = _NOTHING
    for _, most in at_work:
        reserved = reserved.plus(most)
    return TeamMonth(
        team=team or None,
        jobs=len(at_work),
        nodes=sum(job.nodes for job, _ in at_work),
        gpus=sum(job.gpus for job, _ in at_work),
        gpu_hours=round(used.gpu_hours, 4),
        cost=round(used.cost, 4),
        reserved_gpu_hours=round(reserved.gpu_hours, 4),
        reserved_cost=round(reserved.cost, 4),
    )
