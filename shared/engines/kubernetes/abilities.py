"""What the Kubernetes engine can do. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from shared.core.abilities import Ability
from shared.engines.kubernetes.cluster import KubernetesCluster

ABILITIES: Mapping[str, Ability] = {
    "durable": Ability("yes", "a Job is an object with a name"),
    "gang": Ability("configured", "Kueue (`queue`): without it ranks may wait for each other for ever"),
    "mpi": Ability("yes", "by mpirun of the image, over agents in the pods"),
    "containers": Ability(
        "yes", "a command line on one node needs a POSIX shell in the image, all else python3 and bash"
    ),
    "registries": Ability("yes", "by its user name and password"),
    "shares": Ability("configured", "a table of volumes that pods have (`mounts`)"),
    "servers": Ability("configured", "the same table"),
    "commands": Ability("no"),
    "preparation": Ability("yes"),
    "secrets": Ability("yes", "as a Secret, which is removed when the job has ended"),
    "vault": Ability("no"),
    "priorities": Ability("configured", "a PriorityClass for each (`priorities`)"),
    "limit": Ability("yes", "by the program in the pods, to the second"),
    "exit": Ability("yes"),
    "ended": Ability("yes", "until the Job is deleted"),
    "bulk": Ability("yes", "rows of two lists, in pages of 1,000"),
    "logs": Ability("configured", "where the app sees the pods' volume (`reads`)"),
    "hold": Ability("configured", "needs `reads`, by which the app sees the records of runs"),
    "elastic": Ability("configured", "an autoscaler of the cluster (`autoscales`)"),
    "preemptible": Ability("configured", "a toleration of nodes that may go (`tolerations`)"),
    "enter": Ability(
        "configured", "by kubectl, with rights of one's own, where the operator allows it (`enter`)"
    ),
    "apart": Ability(
        "no",
        "their pods share a volume: give the namespace to one team, without the "
        "container of drops in `mounts`",
    ),
}


def abilities_of(cluster: KubernetesCluster) -> Mapping[str, Ability]:
    """The abilities of one cluster, by its configuration."""
    sees_records = any(f"{cluster.shared}/".startswith(f"{prefix.rstrip('/')}/") for prefix in cluster.reads)
    servers = [key for key in cluster.mounts if "/fileservers/" in key.lower()]
    abilities = {
        "gang": bool(cluster.queue),
        "shares": len(servers) < len(cluster.mounts),
        "servers": bool(servers),
        "priorities": bool(cluster.priorities),
        **dict.fromkeys(("logs", "hold"), sees_records),
        "elastic": cluster.autoscales,
        "preemptible": bool(cluster.tolerations),
        "enter": cluster.enter,
    }
    answers = {name: Ability("yes" if has else "no", ABILITIES[name].note) for name, has in abilities.items()}
    return {**ABILITIES, **answers}
