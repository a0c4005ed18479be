"""A cluster on Azure Batch as the program on the nodes sees it: hosts, processes elsewhere, mounts. Pure."""

from __future__ import annotations

from shared.core.engine import Order
from shared.engines.batch.cluster import BatchCluster
from shared.engines.launch.mounts import mounted
from shared.engines.launch.site import Scheduler, Site, Spread

#: The program that starts processes elsewhere (`node/spread.py`), where the task's commands put it.
SPREAD = "{AZ_BATCH_TASK_WORKING_DIR}/spread.py"


def _spread(spread: Spread) -> tuple[str, ...]:
    return ("python3", SPREAD, "on", str(spread.nodes), str(spread.tasks), str(spread.first))


BATCH = Scheduler(
    hosts=("sh", "-c", 'exec python3 "$AZ_BATCH_TASK_WORKING_DIR/spread.py" hosts'),
    ready=("true",),
    run=("AZ_BATCH_NODE_ID",),
    node="AZ_BATCH_NODE_ID",
    rank="SLIPWAY_RANK",
    spread=_spread,
)


def site(cluster: BatchCluster, order: Order) -> Site:
    """The cluster, for one attempt of a job."""
    target, properties = order.target, order.document["properties"]
    return Site(
        scheduler=BATCH,
        segment=cluster.layout.segment(target),
        records=cluster.layout.attempt(target),
        temporary=f"{cluster.temporary.rstrip('/')}/{target.name}",
        # The service keeps the program's own output, with the directory of the task.
        output="{SLIPWAY_TEMP}/output",
        mount_root=cluster.mount_root,
        path=cluster.path,
        gpus=cluster.gpus,
        links=tuple((at, to) for _, at, to in mounted(cluster.mounts, properties) if to is not None),
        ends=cluster.ends,
        longest=cluster.longest,
    )
