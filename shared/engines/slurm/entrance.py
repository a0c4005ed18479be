"""Where a job runs on a Slurm cluster: the number of the Slurm job, and the node of a rank."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from shared.core.errors import Busy, Misuse, NotFound
from shared.core.job import Target
from shared.core.relations.entrance import Entrance, entrance, node_of
from shared.engines.slurm.cluster import SlurmCluster
from shared.engines.slurm.jobs import SlurmJobs
from shared.jobspec import JsonObject

#: A name in a list of nodes, with ranges in brackets: `gpu-[1-3,07]-a`.
_NAME = re.compile(r"[^,\[\]]*(?:\[[^\[\]]*\][^,\[\]]*)*")
_RANGES = re.compile(r"([^\[]*)\[([^\]]*)\](.*)", re.DOTALL)
_MOST_NODES = 100_000


async def rank_entrance(
    cluster: SlurmCluster, jobs: SlurmJobs, target: Target, spec: JsonObject, rank: int
) -> Entrance:
    """The entrance to a rank of an attempt. Raises NotFound, and Misuse for a container."""
    if spec["properties"].get("containerSettings"):
        raise Misuse(
            f"{target.job_id} cannot be entered: it runs in a container, and what srun starts on its node is "
            "outside of that",
            status=409,
            remedy="let the job itself write what you look for, and read it with `slipway log`",
        )
    copies = (await jobs.queue()).named(target.name)
    running = [copy for copy in copies if copy.token == target.token and "RUNNING" in copy.states]
    if not running:
        raise NotFound(f"Slurm does not run {target.name} now")
    (*_, copy) = running
    nodes, number = list(names(copy.nodes)), node_of(spec, rank)
    if number >= len(nodes):
        raise NotFound(f"Slurm names {len(nodes)} nodes of {target.name}, and rank {rank} is on none of them")
    login, user = cluster.enter.get("login", ""), cluster.enter.get("user", cluster.user)
    entry = entrance("srun", job=str(copy.id), node=nodes[number], login=login, user=user)
    gate = f"slipway-enter {copy.id} {nodes[number]} {target.token}"
    return replace(entry, gate=gate) if cluster.enter.get("certificates") else entry


def names(text: str) -> Iterator[str]:
    """The nodes in a list as Slurm writes it, in its order. Raises Busy if it cannot be read."""
    position = 0
    while position < len(text):
        match = _NAME.match(text, position)
        if match is None or match.end() == position or text[match.end() : match.end() + 1] not in ("", ","):
            raise Busy("Slurm lists the nodes of a job in a form that cannot be read")
        yield from _unfolded(match[0])
        position = match.end() + 1


def _unfolded(name: str) -> Iterator[str]:
    match = _RANGES.fullmatch(name)
    if match is None:
        yield name
        return
    before, ranges, after = match.groups()
    for one in ranges.split(","):
        first, _, last = one.partition("-")
        if not (first.isdecimal() and (last or first).isdecimal()) or int(last or first) > _MOST_NODES:
            raise Busy("Slurm lists the nodes of a job in a form that cannot be read")
        for number in range(int(first), int(last or first) + 1):
            for rest in _unfolded(after):
                yield f"{before}{number:0{len(first)}d}{rest}"
