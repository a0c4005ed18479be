"""The abilities of Batch AI and of its emulator. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from shared.core.abilities import Ability
from shared.core.engine import ClusterView
from shared.core.job import Target
from shared.core.relations.hold import Held

ABILITIES: Mapping[str, Ability] = {
    "durable": Ability("yes", "a job is a resource with a name"),
    "gang": Ability("yes"),
    "mpi": Ability("yes"),
    "containers": Ability("yes", "the emulator runs the job on the host, and its log says so"),
    "registries": Ability("yes"),
    "shares": Ability("yes"),
    "servers": Ability("yes"),
    "commands": Ability("yes", "where SLIPWAY_UNMANAGED_MOUNTS allows them"),
    "preparation": Ability("yes"),
    "secrets": Ability("yes"),
    "vault": Ability("yes"),
    "priorities": Ability("yes"),
    "limit": Ability("yes"),
    "exit": Ability("yes"),
    "ended": Ability("yes", "until the job is deleted"),
    "bulk": Ability("yes", "a list for each experiment, in pages of 1,000"),
    "logs": Ability("yes"),
    "hold": Ability("no", "the service ends a job with its command"),
    "elastic": Ability("configured", "the cluster's scale settings"),
    "preemptible": Ability("configured", "low-priority clusters"),
    "enter": Ability("yes", "by ssh, with the key of the cluster's administrator"),
    "apart": Ability("no", "the emulator runs all jobs as one user of one machine"),
}


def abilities_of(view: ClusterView | None) -> Mapping[str, Ability]:
    """The abilities of one cluster, by its resource."""
    if view is None:
        return ABILITIES
    elastic, preemptible = view.minimum == 0, view.priority == "lowpriority"
    return {
        **ABILITIES,
        "elastic": Ability("yes" if elastic else "no", ABILITIES["elastic"].note),
        "preemptible": Ability("yes" if preemptible else "no", ABILITIES["preemptible"].note),
    }


async def never_held(target: Target) -> Held | None:
    """Nothing: the service runs no program of ours that could keep a node."""


def time_to_save(cluster: str) -> float:
    """Seconds from the request to the end of a running job: the emulator's, as the service names none."""
    return 30.0
