"""How large a document may be, and how much it may ask for."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True)
class Limits:
    """Upper bounds. The defaults for jobs are those of Batch AI; an operator may set lower ones."""

    #: Bytes of a document, checked before it is parsed.
    max_bytes: int = 256 * 1024
    #: Levels of nested objects and lists.
    max_depth: int = 64
    #: All values of a document; bounds the work that a document can cause.
    max_values: int = 20_000
    #: Characters of one string.
    max_text: int = 32_768
    #: Problems that are reported; the rest are counted.
    max_problems: int = 100
    max_nodes: int = 100
    max_wall_clock: timedelta = timedelta(days=7)
    #: Nodes times wall-clock limit of one job.
    max_node_hours: float = 16_800
    #: Receivers of one job's events.
    max_receivers: int = 5
    #: A mount command of a job runs as root on the node, so an operator has to allow it.
    unmanaged_mounts: bool = False
    #: Containers and shares that a job may mount without a key of its own; None while they are unknown.
    mountable: frozenset[str] | None = None
    #: The container of drops, if a job may not mount it since it has a team.
    teams_drops: str = ""
    #: The account and the container with the code of all jobs, which no job mounts, with any key.
    all_code: tuple[str, str] = ("", "")
