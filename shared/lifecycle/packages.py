"""What a cluster sets for the packages of its jobs, as the variable that the nodes' program reads."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from shared.core.errors import Unreadable
from shared.core.job import Job
from shared.core.ports import Ports
from shared.jobspec import wall_clock
from shared.lifecycle.current_teams import current_teams

#: The command of a preparation that makes the environment, and the variable with its settings.
COMMAND, VARIABLE = "slipway_packages", "SLIPWAY_PACKAGES"


async def package_variables(ports: Ports, job: Job, document: Mapping[str, Any]) -> dict[str, str]:
    """The variable for a job whose preparation installs packages on a cluster that sets anything.

    Environments are kept only for a team that has the cluster for itself: a job can change those of others.
    Raises Unavailable.
    """
    properties = document["properties"]
    line = str((properties.get("jobPreparation") or {}).get("commandLine") or "")
    cluster = ports.engines.clusters.get(job.cluster)
    if COMMAND not in line or cluster is None:
        return {}
    packages, settings = cluster.facts.packages, dict[str, Any]()
    if packages.keep and (scope := await _scope(ports, job)):
        written = (properties.get("constraints") or {}).get("maxWallClockTime")
        seconds = int(wall_clock(written, cluster.facts.longest).total_seconds())
        settings = {"keep": f"{packages.keep.rstrip('/')}/{scope}", "seconds": seconds}
    named = {"index": packages.index, "proxy": packages.proxy}
    settings |= {name: value for name, value in named.items() if value}
    return {VARIABLE: json.dumps(settings, sort_keys=True)} if settings else {}


async def _scope(ports: Ports, job: Job) -> str:
    """The folder of the environments for a job; "" where other teams may use its cluster, too."""
    try:
        teams = (await current_teams(ports)).teams
    except Unreadable:
        return ""
    if not teams:
        return "all"
    users = {name for name, one in teams.items() if one.clusters is None or job.cluster in one.clusters}
    return f"team-{job.team}" if users == {job.team} else ""
