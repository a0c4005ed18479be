"""The request of a submission, for the engine, which sends it, and for explain, which shows it. Pure."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from shared.core.engine import Order, Submission
from shared.core.errors import Misconfigured, Rejected
from shared.engines.launch import plan as launch
from shared.engines.slurm.cluster import SlurmCluster
from shared.engines.slurm.job.resources import fields, merged
from shared.engines.slurm.job.site import site
from shared.engines.slurm.wire.dialect import Dialect, comment
from shared.jobspec import iso_duration

#: Seconds added to the job's own limit, which the program on the nodes keeps to the second, and to its grace.
_SLACK = 90
#: Stands for values that are chosen at each submission.
ANEW = "<chosen at submission>"


def submission(cluster: SlurmCluster, dialect: Dialect, order: Order, once: str = ANEW) -> Submission:
    """POST of a held job, which does not run before it is released. Raises Misconfigured."""
    properties = order.document["properties"]
    if properties.get("containerSettings") and cluster.container == "oci" and not dialect.bundles:
        raise Misconfigured(f"{cluster.name}: srun --container needs Slurm 23.11 or newer; this one is older")
    level = cluster.priorities.get(properties.get("schedulingPriority") or "normal")
    priority = level if isinstance(level, int) else None
    requeue = cluster.preemptible or properties.get("schedulingPriority") == "low"
    nodes = int(properties["nodeCount"])
    shared = cluster.shared.rstrip("/")
    job: dict[str, Any] = {
        "name": order.target.name,
        "comment": comment(order.target.token, priority),
        "hold": True,
        # Not [2, 2], which v0.0.38 reads as one node.
        "nodes": str(nodes),
        "tasks": nodes,
        "time_limit": dialect.number(_minutes(cluster, order)),
        "current_working_directory": "/",
        "standard_output": f"{shared}/%j.out",
        "standard_error": f"{shared}/%j.out",
        "open_mode": dialect.append,
        "environment": dialect.environment(launch.environment(site(cluster, order), order, once)),
        **dialect.requeue(requeue),
    }
    resources = merged(cluster, order.resources, level if isinstance(level, str) else "")
    job = fields(cluster, dialect, resources) | job
    return Submission(
        "POST", f"/slurm/{dialect.version}/job/submit", dialect.submission(job, launch.script())
    )


def _minutes(cluster: SlurmCluster, order: Order) -> int:
    """The time limit for Slurm: above its maximum only if the job's own is."""
    seconds = launch.seconds(order.document["properties"], cluster.longest)
    minutes = -(-seconds // 60)
    more = -(-(_SLACK + cluster.grace_seconds) // 60)
    if cluster.longest is None:
        return minutes + more
    return max(minutes, min(minutes + more, int(cluster.longest.total_seconds() // 60)))


def is_too_long(cluster: SlurmCluster, order: Order) -> bool:
    """Whether the job asks for more time than the cluster allows, if known."""
    seconds = launch.seconds(order.document["properties"], cluster.longest)
    return cluster.longest is not None and seconds > cluster.longest.total_seconds()


def too_long(cluster: SlurmCluster, order: Order, limit_name: str = "") -> Rejected:
    """The message of a job whose time limit exceeds the cluster's. `said`: Slurm's own message."""
    properties = order.document["properties"]
    duration = iso_duration(timedelta(seconds=launch.seconds(properties, cluster.longest)))
    named = (properties.get("constraints") or {}).get("maxWallClockTime")
    partition = order.resources.get("partition") or cluster.partition
    scope = f"{cluster.name} (partition {partition})" if partition else cluster.name
    limit = f"; it lets jobs run for {iso_duration(cluster.longest)}" if cluster.longest else ""
    return Rejected(
        f"properties.constraints.maxWallClockTime: {scope} lets no job run for {duration}"
        f"{'' if named else ', the default of a job that names no time'}{limit}. Write a shorter time"
        + (f". {limit_name}" if limit_name else "")
    )
