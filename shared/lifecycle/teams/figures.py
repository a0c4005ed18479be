"""figures: what the meter gets of a team's record, and what the log says of its budget. Costs no call."""

from __future__ import annotations

import logging
from collections.abc import Iterable

from shared.core.cost.usage import month_of
from shared.core.errors import SlipwayError
from shared.core.ports import Ports
from shared.core.teams.document import Quota
from shared.core.teams.use import TeamUse
from shared.lifecycle.current_teams import current_teams

log = logging.getLogger(__name__)

#: Limits of a quota that the meter gets, for alerts beside the use.
_LIMITS = {"jobs", "nodes", "gpus", "gpu_hours", "budget"}
#: Parts of a budget whose use the log warns of.
_WARNS = (0.8, 1.0)


def publish(ports: Ports, use: TeamUse, quota: Quota) -> None:
    """Tell the meter what a team has, and may have."""
    month = month_of(ports.clock())
    for name, number in use.held(month)._asdict().items():
        ports.meter.set(f"slipway.team.{name}", number, team=use.team)
    ports.meter.set("slipway.team.waiting", len(use.waiting), team=use.team)
    ports.meter.set("slipway.team.borrowed", len(use.loans), team=use.team)
    for name, most in quota.model_dump(include=_LIMITS, exclude_none=True).items():
        ports.meter.set("slipway.team.quota", most, team=use.team, part=name)


async def publish_others(ports: Ports, uses: Iterable[TeamUse]) -> None:
    """The same of teams whose records were read or written because of another team's job. Never raises."""
    try:
        teams = (await current_teams(ports)).teams
    except SlipwayError:
        return  # the next pass says it
    for use in uses:
        one = teams.get(use.team)
        publish(ports, use, one.quota if one is not None and one.quota is not None else Quota())


def warn_of_budget(ports: Ports, before: TeamUse, after: TeamUse, quota: Quota) -> None:
    """Say in the log how much of its budget a team will have used after a change that is not written yet.

    A crash between the line and the write costs no line: the change is made again, and says it again. This
    process says it once.
    """
    if not quota.budget or after.months == before.months:
        return
    now = ports.clock()
    for month in after.months:  # an end of the last month may be counted in this one
        for part in _WARNS:
            amount = part * quota.budget
            key = f"budget|{after.team}|{month}|{amount}"
            if not before.spent(month) < amount <= after.spent(month) or ports.memo.latest(key):
                continue
            ports.memo.put(key, now, {month: now})
            text = "the team %s has used %d %% of its budget of %s"
            log.warning(text, after.team, part * 100, month, extra={"team": after.team, "action": "budget"})
