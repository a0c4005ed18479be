"""The limits of a Slurm partition, from slurmrestd's lists of partitions and nodes in each dialect. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any, NamedTuple

from shared.core.facts import ClusterFacts
from shared.engines.slurm.cluster import SlurmCluster
from shared.engines.slurm.job.chosen import partition_of, total_nodes
from shared.engines.slurm.wire.dialect import integer

#: From here on, a number of v0.0.38 means none (NO_VAL, INFINITE).
_NOTHING = 0xFFFFFF00
_GPUS = re.compile(r"(?:^|,)gpu(?::[^:,()]+)?:(\d{1,6})", re.ASCII)


def facts_of(
    cluster: SlurmCluster, partitions: Iterable[Mapping[str, Any]], nodes: Iterable[Mapping[str, Any]]
) -> ClusterFacts:
    """The facts of the cluster's partition. `nodes`: its nodes."""
    partition = partition_of(cluster.partition, list(partitions))
    members = list(nodes)
    most, minutes = _limits(partition)
    counts = [count for count in (len(members), most) if count]
    gpus = [gpus_in(node.get("gres")) for node in members]
    memory = [mebibytes for node in members if (mebibytes := _count(node.get("real_memory")))]
    return ClusterFacts(
        max_nodes=min(counts, default=None),
        lists_all=bool(members) and total_nodes(partition) == len(members),
        gpus=max(gpus, default=None),
        memory=max(memory, default=None),
        longest=timedelta(minutes=minutes) if minutes else None,
    )


def gpus_in(gres: Any) -> int:
    """The GPUs in a node's list of devices, such as gpu:a100:4(S:0-1), or in what jobs have of them."""
    return sum(map(int, _GPUS.findall(str(gres or ""))))


class _Limits(NamedTuple):
    """The limits of one job; None for no limit."""

    nodes: int | None
    minutes: int | None


def _limits(partition: Mapping[str, Any]) -> _Limits:
    """The limits of a partition. v0.0.38 has them at the top, later dialects below `maximums`."""
    most = partition.get("maximums")
    if isinstance(most, Mapping):
        return _Limits(_count(most.get("nodes")), _count(most.get("time")))
    return _Limits(_count(partition.get("maximum_nodes_per_job")), _count(partition.get("max_time_limit")))


def _count(value: Any) -> int | None:
    number = integer(value)
    return number if number is not None and 0 < number < _NOTHING else None
