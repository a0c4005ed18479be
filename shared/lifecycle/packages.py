"""What a cluster sets for the packages of its jobs, as the variable that the nodes' program reads."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from shared.core.errors import Unreadable
from shared.core.job import Job, JobState, Target
from shared.core.ledger.listing import Query
from shared.core.ports import Ports
from shared.delivery.last_lines import read_soon
from shared.jobspec import wall_clock
from shared.lifecycle.current_teams import current_teams

#: The command of a preparation that makes the environment, and the variable with its settings.
COMMAND, VARIABLE = "slipway_packages", "SLIPWAY_PACKAGES"
#: What that program writes at its end (`engines/node/packages`), and the bytes of its output to read.
_SECONDS, _END = re.compile(r"^The packages of .{1,200}: ([0-9]{1,6}) s$", re.MULTILINE), 4096
#: How many jobs at work on a cluster are looked at.
_MOST = 500
_NOT_ENDED = frozenset(state for state in JobState if not state.terminal)


def installs_packages(properties: Mapping[str, Any]) -> bool:
    """Whether the preparation of a document makes an environment."""
    return COMMAND in str((properties.get("jobPreparation") or {}).get("commandLine") or "")


async def seconds_of_packages(ports: Ports, job: Job) -> int | None:
    """For how long its last attempt installed packages, as its preparation wrote; 0 if that is not known.

    Costs a list of files and a read, for such a job only. Never raises.
    """
    if job.packages is None:
        return None
    return (
        await read_soon(ports, job, ports.policy.last_error_patience, _written(ports, job.fixed_target)) or 0
    )


async def _written(ports: Ports, target: Target) -> int:
    engine = ports.engines.get(target.engine)
    files = await engine.files(target, "stdouterr")
    for file in sorted(files, key=lambda one: one.name):
        if file.name.startswith("stdout-job_prep") and file.size:
            chunk = await engine.read(target, "stdouterr", file.name, max(0, file.size - _END), _END)
            seconds = _SECONDS.findall(chunk.data.decode("utf-8", "replace"))
            return int(seconds[-1]) if seconds else 0
    return 0


async def package_variables(ports: Ports, job: Job, document: Mapping[str, Any]) -> dict[str, str]:
    """The variable for a job whose preparation installs packages on a cluster that sets anything.

    Environments are kept only for a team that has the cluster for itself: a job can change those of others.
    Raises Unavailable.
    """
    properties = document["properties"]
    cluster = ports.engines.clusters.get(job.cluster)
    if cluster is None or not installs_packages(properties):
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
    """The folder of the environments for a job; "" where other teams may use its cluster, too.

    A team's has a name that no job can tell before its cluster has one team: nothing is put there by others.
    """
    try:
        teams = (await current_teams(ports)).teams
    except Unreadable:
        return ""
    if not teams:
        return "all"
    users = {name for name, one in teams.items() if one.clusters is None or job.cluster in one.clusters}
    code = ports.seal.code_of(f"{job.cluster}\n{job.team}")
    return f"team-{code}" if code and users == {job.team} and await _is_alone(ports, job) else ""


async def _is_alone(ports: Ports, job: Job) -> bool:
    """Whether each job that has not ended on its cluster is of its team: others may be from before it was so.

    Costs two range queries a shard. False where there are too many to tell.
    """
    at_work = Query(states=_NOT_ENDED, cluster=job.cluster)
    page = await ports.ledger.find(at_work, limit=_MOST, after=None)
    is_whole = not page.cut and page.next is None
    return is_whole and all(one.team == job.team for one in page.jobs)
