"""The abilities that a cluster may have, and how its engine declares them. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Ability:
    """Whether an engine can do something: `configured` means only where its cluster is set up for it."""

    answer: Literal["yes", "configured", "no"]
    note: str = ""


#: Every ability; each engine declares all of them. `docs/reference/engines.md` shows the answers.
ABILITIES: Mapping[str, str] = {
    "durable": "an acknowledged job is never forgotten",
    "gang": "the nodes of a job start together",
    "mpi": "toolkits under MPI",
    "containers": "containers",
    "registries": "log-in to a private registry by the job",
    "shares": "shares and containers mounted by the job",
    "servers": "file servers mounted by the job",
    "commands": "mount commands of the job",
    "preparation": "job preparation",
    "secrets": "secret values",
    "vault": "secrets from Key Vault",
    "priorities": "scheduling priorities",
    "limit": "wall-clock limit from the start",
    "exit": "exit code",
    "ended": "jobs that ended long ago are known",
    "bulk": "one call for the status of all jobs",
    "logs": "logs while a job runs",
    "hold": "the nodes of a failed job can be kept",
    "elastic": "nodes from zero",
    "preemptible": "nodes that may be taken away",
    "enter": "a shell in a running job, and its ports",
    "apart": "jobs of different teams are kept apart",
}
