"""Resources that a job chose and that Slurm does not have, by its lists or its refusal. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from shared.core.errors import EngineError, Misconfigured, Rejected
from shared.core.refusals import refused
from shared.engines.slurm.wire.answer import Answer
from shared.engines.slurm.wire.dialect import integer
from shared.jobspec import JsonObject, Problem, mebibytes

#: Type and number of each kind of GPU of a node.
_GPUS = re.compile(r"(?:^|,)gpu(?::([^:,()]+))?:(\d{1,6})", re.ASCII)

_OPTIONS = dict.fromkeys((2018, 2023, 2048, 2057, 2094, 2099, 2114, 2123, 9001), ("options",))
#: Code of slurmctld (slurm_errno.h) → the resources that may be wrong, the likeliest first.
_RESOURCES_OF_CODE: dict[int, tuple[str, ...]] = {
    **_OPTIONS,
    **dict.fromkeys((2000, 2001, 2003), ("partition",)),
    2045: ("account", "partition"),
    2066: ("qos",),
    2052: ("reservation",),
    2053: ("reservation",),
    2029: ("constraint",),
    2133: ("options", "constraint"),
    2044: ("memory",),
    2004: ("partition", "options"),
    **dict.fromkeys((2005, 2069), ("cpus",)),
    **dict.fromkeys((2072, 2115, 2119), ("gpuType", "gpus", "options")),
}
#: Code of slurmctld → what an operator does about it, where the job has not chosen what is wrong.
_REMEDIES: dict[int, str] = {
    **dict.fromkeys((2000, 2001), "set `partition` of the cluster to one that Slurm has"),
    **dict.fromkeys((2002, 2003, 2052), "permit it to `user` of the cluster"),
    2010: "create `user` of the cluster where slurmctld runs",
    2045: "set `account` of the cluster to one that its `user` has in that partition",
    2066: "set `priorities` of the cluster to QOS that its `user` may have",
    2105: "it takes jobs again when its administrator enables submissions",
}


@dataclass(frozen=True)
class Listed:
    """What jobs can choose from, according to the cluster's lists.

    Empty for a cluster that was not queried.
    """

    partitions: frozenset[str] = frozenset()
    #: the most of one node in the partition; None if some of its nodes are not listed
    cpus: int | None = None
    memory: int | None = None
    gpus: int | None = None
    by_type: Mapping[str, int] = field(default_factory=dict)
    #: the same of each of its nodes alone
    nodes: Mapping[str, Listed] = field(default_factory=dict)


#: A cluster and one of its partitions → what was listed last.
Listings = Mapping[tuple[str, str], Listed]


def listings(
    partition: str, nodes: Sequence[Mapping[str, Any]], partitions: Sequence[Mapping[str, Any]]
) -> dict[str, Listed]:
    """What a job in each partition can choose, from the lists; `partition`: the cluster's, or "" for none."""
    names = frozenset(str(one.get("name")) for one in partitions)
    result = {str(one.get("name")): _listed(one, nodes, names) for one in partitions}
    return {partition: _listed(partition_of(partition, partitions), nodes, names)} | result


def partition_of(name: str, partitions: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """The named partition, else the default one, which only v0.0.38 marks, or the only one."""
    named = [one for one in partitions if one.get("name") == name]
    if name:
        return next(iter(named), {})
    marked = [one for one in partitions if "default" in (one.get("flags") or ())]
    return next(iter(marked or (partitions if len(partitions) == 1 else [])), {})


def _listed(
    partition: Mapping[str, Any], nodes: Iterable[Mapping[str, Any]], names: frozenset[str]
) -> Listed:
    members = [node for node in nodes if partition.get("name") in (node.get("partitions") or ())]
    if not members or total_nodes(partition) != len(members):
        return Listed(names)
    alone = {str(node.get("name")): _sizes([node], frozenset()) for node in members}
    return replace(_sizes(members, names), nodes=alone)


def _sizes(members: Sequence[Mapping[str, Any]], names: frozenset[str]) -> Listed:
    """The most that one of these nodes has."""
    gpus = [_GPUS.findall(str(node.get("gres") or "")) for node in members]
    by_type: dict[str, int] = {}
    for kind, number in (one for gpu in gpus for one in gpu if one[0]):
        by_type[kind] = max(int(number), by_type.get(kind, 0))
    return Listed(
        names,
        cpus=_most(node.get("cpus") for node in members),
        memory=_most(node.get("real_memory") for node in members),
        gpus=max(sum(int(number) for _, number in gpu) for gpu in gpus),
        by_type=by_type,
    )


def absent(name: str, scope: str, listing: Listed, resources: JsonObject) -> Iterator[Problem]:
    """A problem for each of a job's resources that no node has.

    `scope`: the job's partition, or the cluster.
    """
    partition = resources.get("partition")
    if partition and listing.partitions and partition not in listing.partitions:
        text = f"{name} does not have a partition {partition}"
        yield _absent("partition", text, f"it has {', '.join(sorted(listing.partitions))}")
        return
    yield from _gpus(scope, listing, resources)
    text = f"no node of {scope} has more than"
    if listing.cpus is not None and (resources.get("cpus") or 0) > listing.cpus:
        yield _absent("cpus", f"{text} {listing.cpus} CPUs", f"ask for {listing.cpus} at most")
    memory = resources.get("memory")
    if listing.memory is not None and memory and mebibytes(memory) > listing.memory:
        yield _absent(
            "memory", f"{text} {listing.memory} MiB of memory", f'ask for "{listing.memory}M" at most'
        )


def refusal(answer: Answer, resources: JsonObject, of_cluster: JsonObject) -> EngineError | None:
    """The error of an answer, with the remedy of an operator.

    If it refuses the job's own choice, it ends the job with that reason. If that of the cluster, the job
    waits until an operator has corrected it.
    """
    error = answer.failure()
    for code in answer.codes:
        if option := _option(code, resources):
            return Rejected(f"resources.{option}: {error}")
        if option := _option(code, of_cluster):
            return Misconfigured(f"{error}: correct `resources.{option}` of the cluster")
    remedy = next((_REMEDIES[code] for code in answer.codes if code in _REMEDIES), "")
    return type(error)(f"{error}: {remedy}") if error is not None and remedy else error


def _option(code: int, resources: JsonObject) -> str:
    """The resource that Slurm refuses with this code; "" if it is not among these."""
    return next((name for name in _RESOURCES_OF_CODE.get(code, ()) if name in resources), "")


def unknown_option(faults: Iterable[str], resources: JsonObject) -> bool:
    """Whether slurmrestd refuses nothing but options that the job itself chose."""
    names = resources.get("options") or {}
    return bool(names) and all(any(name in re.findall(r"\w+", one) for name in names) for one in faults)


def _gpus(scope: str, listing: Listed, resources: JsonObject) -> Iterator[Problem]:
    kind, count = resources.get("gpuType"), resources.get("gpus") or 0
    if listing.gpus is None or not count:
        return
    if kind and kind not in listing.by_type:  # GPUs without a type have none for Slurm
        types = ", ".join(sorted(listing.by_type))
        remedy = f"there are {types}" if types else "leave it out"
        yield _absent("gpuType", f"no node of {scope} has GPUs of type {kind}", remedy)
        return
    most = listing.by_type[kind] if kind else listing.gpus
    if count > most:
        of_type = f" of type {kind}" if kind else ""
        text = f"no node of {scope} has more than {most} GPUs{of_type}"
        yield _absent("gpus", text, f"ask for {most} at most, and for more nodes")


def total_nodes(partition: Mapping[str, Any]) -> int | None:
    """How many nodes a partition has, those included that are not listed; None if it does not say."""
    nodes = partition.get("nodes")
    return integer(nodes.get("total") if isinstance(nodes, Mapping) else partition.get("total_nodes"))


def _most(values: Iterable[Any]) -> int | None:
    return max((number for value in values if (number := integer(value))), default=None)


def _absent(name: str, message: str, remedy: str) -> Problem:
    return refused("SW109", f"/resources/{name}", message, remedy)
