"""What earlier jobs left in the container of a cluster, which each node of a later job gets. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from shared.core.engine import Order
from shared.core.relations.before import Before
from shared.engines.batch.cluster import BatchCluster

_ROOT = "AZ_BATCHAI_MOUNT_ROOT"


class DirectoryBefore(NamedTuple):
    """An output directory in the container: its variable, its place on a node, the prefix of its names."""

    variable: str
    place: str
    prefix: str


def directories_before(cluster: BatchCluster, order: Order) -> tuple[DirectoryBefore, ...]:
    """The directories of earlier jobs on this cluster that only their nodes had."""
    if not cluster.blobs:
        return ()
    near = (one for one in order.before if one.target.cluster == cluster.name)
    return tuple(output for one in near for output in _directories_of(cluster, one))


def with_brought(cluster: BatchCluster, order: Order) -> Order:
    """The order with the variables of these directories, in place of paths that only their own nodes had."""
    paths = {
        one.variable: f"$AZ_BATCHAI_JOB_TEMP/after/{one.place}" for one in directories_before(cluster, order)
    }
    if not paths:
        return order
    properties = order.document["properties"]
    others = [one for one in properties.get("environmentVariables") or () if one["name"] not in paths]
    # Before what may use them.
    first = [{"name": name, "value": path} for name, path in paths.items()]
    document = {**order.document, "properties": {**properties, "environmentVariables": [*first, *others]}}
    return replace(order, document=document)


def _directories_of(cluster: BatchCluster, job: Before) -> Iterator[DirectoryBefore]:
    above, _, run = job.segment.rpartition("/")
    name = above.rpartition("/")[2]
    if name.rpartition("-")[0] != job.target.name.rpartition("-")[0]:
        return  # an earlier attempt may answer for the last one, but no other job
    whose = job.target.model_copy(update={"name": name})
    roots = [f"{root}/{at}/" for root in (f"${_ROOT}", f"${{{_ROOT}}}") for at in cluster.mounted]
    for output in job.outputs:
        is_shared = output.is_mounted or any(f"{output.path}/".startswith(root) for root in roots)
        if not is_shared:
            place = f"{job.number}/{output.id}"
            yield DirectoryBefore(output.variable, place, f"{cluster.files(whose)}/{run}/{output.id}")
