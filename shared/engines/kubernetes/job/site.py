"""What the program on the nodes needs to know of a cluster: here a pod is a node. Pure."""

from __future__ import annotations

from shared.core.engine import Order
from shared.engines.kubernetes.cluster import KubernetesCluster
from shared.engines.launch.mounts import mounted
from shared.engines.launch.site import Scheduler, Site, Spread
from shared.engines.launch.variables import folder_of

#: The directory of the programs in a pod.
PROGRAMS = "/slipway"
#: A pod's directory for files of its own.
TEMPORARY = "/tmp/slipway"  # noqa: S108 - of the pod, on a volume of its own
#: Where the first container of a pod unpacks the code of the job; the program that puts it at its place.
UNPACKED, PLACE = f"{TEMPORARY}/code", "place.sh"
#: The variable that numbers the runs of an attempt: the first pod's uid, which changes after a preemption.
RUN = "SLIPWAY_POD"


def _spread(spread: Spread) -> tuple[str, ...]:
    program = f"{PROGRAMS}/spread.py"
    return ("python3", "-I", program, "on", str(spread.nodes), str(spread.tasks), str(spread.first))


KUBERNETES = Scheduler(
    hosts=("python3", "-I", f"{PROGRAMS}/spread.py", "hosts"),
    ready=("true",),
    run=(RUN,),
    node="AZ_BATCH_NODE_ID",
    rank="SLIPWAY_RANK",
    spread=_spread,
)


def site(cluster: KubernetesCluster, order: Order) -> Site:
    """The site of one attempt."""
    target, properties = order.target, order.document["properties"]
    return Site(
        scheduler=KUBERNETES,
        segment=cluster.layout.segment(target),
        records=cluster.layout.attempt(target),
        saved=cluster.layout.saved(target.job_id),
        resumed=cluster.layout.saved(order.resumes) if order.resumes else "",
        temporary=f"{TEMPORARY}/{target.name}",
        output="{SLIPWAY_TEMP}/output",
        mount_root=cluster.mount_root,
        path=cluster.path,
        gpus=cluster.gpus,
        grace=cluster.grace_seconds,
        links=tuple((at, to) for _, at, to in mounted(cluster.mounts, properties) if to is not None),
        ends=cluster.ends,
        longest=cluster.longest,
        code=order.code,
        unpacked=f"{UNPACKED}/{folder_of(order.code.at)}" if order.code else "",
        placing=("sh", f"{PROGRAMS}/{PLACE}"),
    )
