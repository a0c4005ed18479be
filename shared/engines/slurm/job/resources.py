"""The resources of a job on Slurm: the cluster's own, then the job's. Pure.

If the job or its cluster names gpus, cpus or memory, the job shares its nodes; otherwise it has whole nodes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from shared.core.errors import Misconfigured
from shared.core.refusals import refused
from shared.engines.slurm.cluster import SlurmCluster
from shared.engines.slurm.reserved import refusal
from shared.engines.slurm.wire.dialect import Dialect, Fields
from shared.jobspec import SHARE, JsonObject, Problem, mebibytes

#: Slipway's name → a member of a job in every dialect.
_MEMBERS = {
    "constraint": "constraints",
    "partition": "partition",
    "account": "account",
    "qos": "qos",
    "reservation": "reservation",
}


def refusals(cluster: SlurmCluster, resources: JsonObject) -> Iterator[Problem]:
    """A problem for each of a job's resources that the cluster does not allow."""
    for name in resources:
        if name not in cluster.allow:
            text = f"a job may not choose its {name} on {cluster.name}"
            allowed = ", ".join(cluster.allow) or "nothing"
            yield _refused(
                name, text, f"remove it; jobs may choose {allowed}, which an operator sets (allow)"
            )
    if text := refusal(resources.get("options") or {}):
        yield _refused("options", text, "leave that out")
    gpus = resources.get("gpus") or 0
    if cluster.gpus and gpus > cluster.gpus:
        text = f"a node of {cluster.name} has {cluster.gpus} GPUs, and {gpus} of each are requested"
        yield _refused("gpus", text, f"ask for {cluster.gpus} at most, and for more nodes")


def shares(resources: Mapping[str, Any]) -> bool:
    """Whether a job with these resources gets parts of its nodes."""
    return "exclusive" not in resources and any(name in resources for name in SHARE)


def may_share(cluster: SlurmCluster) -> bool:
    """Whether jobs may get parts of its nodes."""
    return shares(cluster.resources) or any(name in cluster.allow for name in SHARE)


def merged(cluster: SlurmCluster, resources: JsonObject, qos: str = "") -> JsonObject:
    """The resources of a job: the cluster's own, `qos` by its priority, and its own choice.

    Raises Misconfigured if the operator has since withdrawn what the job was accepted with.
    """
    if refused_now := next(refusals(cluster, resources), None):
        raise Misconfigured(f"{cluster.name}: {refused_now.message}; it was accepted when that was allowed")
    own = dict(cluster.resources)
    if "exclusive" in resources:
        own = {name: value for name, value in own.items() if name not in (*SHARE, "gpuType")}
    result = own | ({"qos": qos} if qos else {}) | resources
    options = (own.get("options") or {}) | (resources.get("options") or {})
    return result | ({"options": options} if options else {})


def gpus(cluster: SlurmCluster, resources: Mapping[str, Any]) -> int:
    """The GPUs of a job on each of its nodes."""
    return int(resources.get("gpus", 0)) if shares(resources) else cluster.gpus


def fields(cluster: SlurmCluster, dialect: Dialect, resources: Mapping[str, Any]) -> Fields:
    """The members of a submission for these resources."""
    members: Fields = {"partition": cluster.partition, "account": cluster.account}
    if shares(resources):
        # Without an amount of memory, DefMemPerNode or DefMemPerCPU of slurm.conf applies.
        if memory := resources.get("memory"):
            members["memory_per_node"] = dialect.number(mebibytes(memory))
        members["cpus_per_task"] = resources.get("cpus")
    else:
        members |= {"memory_per_node": dialect.number(0), **dialect.exclusive}
    if count := gpus(cluster, resources):
        kind = resources.get("gpuType")
        members |= dialect.gpus(f"{kind}:{count}" if kind else str(count))
    members |= {member: resources[name] for name, member in _MEMBERS.items() if name in resources}
    return {name: value for name, value in members.items() if value not in ("", None)} | dict(
        resources.get("options") or {}
    )


def _refused(name: str, message: str, remedy: str) -> Problem:
    return refused("SW109", f"/resources/{name}", message, remedy)
