"""The request that submits a job to Slurm, in one place: the engine sends it, explain shows it. Pure."""

from __future__ import annotations

from typing import Any

from shared.engine import Order, Submission
from shared.engines import launch
from shared.engines.slurm.cluster import SlurmCluster
from shared.engines.slurm.dialect import Dialect, comment
from shared.engines.slurm.site import site
from shared.errors import Misconfigured

#: Minutes after the job's own limit: the program on the nodes keeps the time to the second.
_SLACK = 2
#: Stands for what is chosen anew at each submission.
ANEW = "<chosen at submission>"


def submission(cluster: SlurmCluster, dialect: Dialect, order: Order, once: str = ANEW) -> Submission:
    """POST of a held job: it runs nothing before it is released. Raises Misconfigured."""
    properties = order.document["properties"]
    if properties.get("containerSettings") and cluster.container == "oci" and not dialect.bundles:
        raise Misconfigured(f"{cluster.name}: srun --container needs Slurm 23.11 or newer; this one is older")
    wanted = cluster.priorities.get(properties.get("schedulingPriority") or "normal")
    priority = wanted if isinstance(wanted, int) else None
    requeue = cluster.preemptible or properties.get("schedulingPriority") == "low"
    nodes = int(properties["nodeCount"])
    shared = cluster.shared.rstrip("/")
    job: dict[str, Any] = {
        "name": order.target.name,
        "comment": comment(order.target.token, priority),
        "hold": True,
        # Not [2, 2]: v0.0.38 takes that for one node.
        "nodes": str(nodes),
        "tasks": nodes,
        "memory_per_node": dialect.number(0),
        "time_limit": dialect.number(-(-launch.seconds(properties) // 60) + _SLACK),
        "current_working_directory": "/",
        "standard_output": f"{shared}/%j.out",
        "standard_error": f"{shared}/%j.out",
        "open_mode": dialect.append,
        "environment": dialect.environment(launch.environment(site(cluster, order), order, once)),
        **dialect.exclusive,
        **dialect.requeue(requeue),
        **(dialect.gpus(cluster.gpus) if cluster.gpus else {}),
    }
    named = {"partition": cluster.partition, "account": cluster.account}
    named["qos"] = wanted if isinstance(wanted, str) else ""
    job |= {name: value for name, value in named.items() if value}
    return Submission(
        "POST", f"/slurm/{dialect.version}/job/submit", dialect.submission(job, launch.script())
    )
