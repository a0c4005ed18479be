"""What the Slurm engine can do. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from shared.core.engine import Ability

ABILITIES: Mapping[str, Ability] = {
    "durable": Ability("no", "slurmctld, killed, forgets seconds; what is missing is submitted again"),
    "gang": Ability("yes"),
    "mpi": Ability("yes", "by mpirun on the nodes, or srun (`mpi`)"),
    "containers": Ability("configured", "Apptainer, enroot with pyxis, or OCI bundles (`container`)"),
    "registries": Ability("no", "the nodes log in by themselves"),
    "shares": Ability("configured", "a table of what the nodes mount (`mounts`)"),
    "servers": Ability("configured", "the same table"),
    "commands": Ability("no"),
    "preparation": Ability("yes", "not in Apptainer or OCI containers, which are fresh for every process"),
    "secrets": Ability("yes", "in the job's environment, kept where only Slurm's own user reads"),
    "vault": Ability("no"),
    "priorities": Ability("configured", "QOS, or explicit priorities (`priorities`)"),
    "limit": Ability("yes", "by the program on the nodes, to the second"),
    "exit": Ability("yes"),
    "ended": Ability(
        "yes", "by the run's record (`reads`), slurmdbd (`accounting`), `completions`, or asking the nodes"
    ),
    "bulk": Ability("yes", "the list of jobs; of states alone from Slurm 24.11 on"),
    "logs": Ability("configured", "where the app sees the nodes' file system (`reads`)"),
    "elastic": Ability("configured", "Slurm's own cloud nodes"),
    "preemptible": Ability("configured", "requeued as the same attempt (`preemptible`)"),
}
