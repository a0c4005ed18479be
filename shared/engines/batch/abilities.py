"""What the Azure Batch engine can do. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from shared.core.abilities import Ability
from shared.engines.batch.cluster import BatchCluster

ABILITIES: Mapping[str, Ability] = {
    "durable": Ability("yes", "a task is a resource with a name"),
    "gang": Ability("yes", "multi-instance tasks"),
    "mpi": Ability("yes", "by mpirun on the nodes"),
    "containers": Ability("configured", "Docker on the nodes (`container`)"),
    "registries": Ability("configured", "by its user name and password, with the same setting"),
    "shares": Ability("yes", "by the nodes, or a table of what the pool mounts (`mounts`)"),
    "servers": Ability("configured", "the same table, also as `nfs://HOST/EXPORT`"),
    "commands": Ability("yes", "where SLIPWAY_UNMANAGED_MOUNTS allows them"),
    "preparation": Ability("yes"),
    "secrets": Ability("yes", "in the environment of the task, which readers of the Batch account see"),
    "vault": Ability("no"),
    "priorities": Ability("yes", "a Batch job for each priority"),
    "limit": Ability("yes", "by the program on the nodes, to the second"),
    "exit": Ability("yes"),
    "ended": Ability("yes", "until the task is deleted"),
    "bulk": Ability("yes", "a filtered list for each priority, in pages of 1,000"),
    "logs": Ability(
        "configured", "where there is a container (`blobs`), or the app sees the nodes' file system (`reads`)"
    ),
    "hold": Ability("configured", "needs `blobs` or `reads`, by which the app sees the records of runs"),
    "elastic": Ability("configured", "the autoscale formula of the pool (`scales`)"),
    "preemptible": Ability("configured", "spot nodes (`spot`): the same attempt runs again"),
    "enter": Ability(
        "configured",
        "Slipway says on which node a job is (`enter`); the way in is a user of the node that a person makes",
    ),
    "apart": Ability(
        "no",
        "a job is an administrator of its node, with the pool's identity: give the pool to one team, without "
        "the container of drops in `mounts`",
    ),
}


def abilities_of(cluster: BatchCluster) -> Mapping[str, Ability]:
    """The abilities of one cluster, by its configuration."""
    sees_records = bool(cluster.blobs) or any(
        f"{cluster.shared}/".startswith(f"{prefix.rstrip('/')}/") for prefix in cluster.reads
    )
    servers = [key for key in cluster.mounts if "/fileservers/" in key.lower()]
    abilities = {
        **dict.fromkeys(("containers", "registries"), bool(cluster.container)),
        "servers": bool(servers),
        **dict.fromkeys(("logs", "hold"), sees_records),
        "elastic": cluster.scales,
        "preemptible": cluster.spot,
        "enter": cluster.enter,
    }
    answers = {name: Ability("yes" if has else "no", ABILITIES[name].note) for name, has in abilities.items()}
    return {**ABILITIES, **answers}
