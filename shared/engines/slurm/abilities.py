"""What the Slurm engine can do. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from shared.core.abilities import Ability
from shared.core.engine import ClusterView
from shared.engines.slurm.cluster import SlurmCluster

ABILITIES: Mapping[str, Ability] = {
    "durable": Ability("no", "a killed slurmctld forgets the last seconds; missing jobs are submitted again"),
    "gang": Ability("yes"),
    "mpi": Ability("yes", "by mpirun on the nodes, or srun (`mpi`)"),
    "containers": Ability("configured", "Apptainer, enroot with pyxis, or OCI bundles (`container`)"),
    "registries": Ability("no", "the nodes log in by themselves"),
    "shares": Ability("configured", "a table of what the nodes mount (`mounts`)"),
    "servers": Ability("configured", "the same table"),
    "commands": Ability("no"),
    "preparation": Ability("yes", "not in Apptainer or OCI containers, which are fresh for every process"),
    "secrets": Ability("yes", "in the job's environment, stored where only Slurm's own user can read it"),
    "vault": Ability("no"),
    "priorities": Ability("configured", "QOS, or explicit priorities (`priorities`)"),
    "limit": Ability("yes", "by the program on the nodes, to the second"),
    "exit": Ability("yes"),
    "ended": Ability(
        "yes", "by the run's record (`reads`), slurmdbd (`accounting`), `completions`, or asking the nodes"
    ),
    "bulk": Ability("yes", "the list of jobs; of states alone from Slurm 24.11 on"),
    "logs": Ability("configured", "where the app sees the nodes' file system (`reads`)"),
    "hold": Ability("configured", "needs `reads`, by which the app sees the records of runs"),
    "elastic": Ability("configured", "Slurm's own cloud nodes"),
    "preemptible": Ability("configured", "requeued as the same attempt (`preemptible`)"),
    "enter": Ability(
        "configured", "where the operator says how (`enter`), as the jobs' user, and not in containers"
    ),
    "apart": Ability(
        "no", "all run as one user: give the cluster to one team, without the container of drops in `mounts`"
    ),
}


def abilities_of(cluster: SlurmCluster, view: ClusterView | None) -> Mapping[str, Ability]:
    """The abilities of one cluster, by its configuration; its nodes show whether they come and go."""
    sees_records = any(f"{cluster.shared}/".startswith(f"{prefix.rstrip('/')}/") for prefix in cluster.reads)
    servers = [key for key in cluster.mounts if "/fileservers/" in key.lower()]
    low = "low" in cluster.priorities
    abilities = {
        "containers": bool(cluster.container),
        "shares": len(servers) < len(cluster.mounts),
        "servers": bool(servers),
        "priorities": bool(cluster.priorities),
        **dict.fromkeys(("logs", "hold"), sees_records),
        "preemptible": cluster.preemptible or low,
        "enter": bool(cluster.enter),
    }
    if view is not None and view.minimum is not None and view.maximum:  # nodes at zero may be hidden
        abilities["elastic"] = view.minimum < view.maximum
    notes = {name: ABILITIES[name].note for name in abilities}
    if cluster.container:
        notes["containers"] = f"by `{cluster.container}`"
    if low and not cluster.preemptible:
        notes["preemptible"] = "jobs of low priority, requeued as the same attempt"
    answers = {name: Ability("yes" if has else "no", notes[name]) for name, has in abilities.items()}
    return {**ABILITIES, **answers, "ended": Ability("yes", f"by {_sources(cluster)}")}


def _sources(cluster: SlurmCluster) -> str:
    """The sources for ends that slurmctld has forgotten, in the order in which they are queried."""
    sources = {
        "the run's record (`reads`)": cluster.reads,
        "slurmdbd (`accounting`)": cluster.accounting,
        "`completions`": cluster.completions,
        "asking the nodes": True,
    }
    return ", ".join(name for name, has in sources.items() if has)
