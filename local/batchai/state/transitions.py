"""How clusters and jobs change, pure: each function returns the new record."""

import hashlib
from collections.abc import Iterable, Mapping
from datetime import datetime

from local.batchai.state.models import Cluster, Job, JobState, Node, NodeState, Stop
from local.nodes.fault import Fault
from local.nodes.work import NEVER_BEGAN, STOPPED, Outcome

#: Why a job was stopped that does not run again.
FAULTS: Mapping[Stop, Fault] = {
    "terminated": Fault(code="JobTerminated", message="The specified job has been terminated by the user"),
    "deleted": Fault(code="JobTerminated", message="The specified job has been terminated by the user"),
    "timeout": Fault(
        code="JobMaxWallClockTimeReached",
        message="The job has been terminated because it ran for its maximum wall clock time",
    ),
    "cluster": Fault(code="ClusterDeleted", message="The cluster of the job has been deleted"),
}


#: Without this limit, a job whose launcher dies each time would be requeued for ever.
_MOST_ATTEMPTS = 5
_LOST = Fault(code="NodeFailed", message="The processes of the job were lost on every attempt to run it")


def provisioned(cluster: Cluster, numbers: Iterable[int], now: datetime) -> Cluster:
    """The cluster with new nodes, which have these numbers."""
    pool = int.from_bytes(hashlib.sha256(cluster.id.lower().encode()).digest()[:4]) % 10**9
    kind = "p" if cluster.document.get("vmPriority") == "lowpriority" else "d"
    new = [
        Node(
            id=f"tvm-{pool}_{count}-{now:%Y%m%dt%H%M%S}z-{kind}",
            number=number,
            state="allocating",
            since=now,
        )
        for count, number in enumerate(numbers, start=cluster.nodes_made + 1)
    ]
    return cluster.evolve(nodes=(*cluster.nodes, *new), nodes_made=cluster.nodes_made + len(new))


def move_nodes(
    cluster: Cluster, nodes: Iterable[str], state: NodeState, now: datetime, job: str | None = None
) -> Cluster:
    """The cluster with these nodes in that state, assigned to that job."""
    chosen = set(nodes)
    return cluster.evolve(
        nodes=tuple(
            node.evolve(state=state, since=now, job=job) if node.id in chosen else node
            for node in cluster.nodes
        )
    )


def finish_preparation(cluster: Cluster, node_id: str, fault: Fault | None, now: datetime) -> Cluster:
    """The cluster with that node idle, or unusable for a reason among its errors."""
    cluster = move_nodes(cluster, [node_id], "unusable" if fault else "idle", now)
    return cluster.evolve(errors=(*cluster.errors, fault)) if fault else cluster


def preempted(cluster: Cluster, node_id: str) -> Cluster:
    """The cluster with that node preempted."""
    return cluster.evolve(
        nodes=tuple(node.evolve(preempted=True) if node.id == node_id else node for node in cluster.nodes)
    )


def removed(cluster: Cluster, nodes: Iterable[str]) -> Cluster:
    """The cluster without these nodes and their errors."""
    node_set = set(nodes)
    return cluster.evolve(
        nodes=tuple(node for node in cluster.nodes if node.id not in node_set),
        errors=tuple(error for error in cluster.errors if error.details.get("nodeId") not in node_set),
    )


def settled(cluster: Cluster, now: datetime) -> Cluster:
    """The cluster with the allocation state that its nodes show: resizing until their number is in bounds."""
    least, most = cluster.bounds
    moving = any(node.state in ("allocating", "leaving") for node in cluster.nodes)
    allocation = "resizing" if moving or not least <= len(cluster.nodes) <= most else "steady"
    if allocation == cluster.allocation:
        return cluster
    return cluster.evolve(allocation=allocation, allocation_since=now)


def start_job(job: Job, nodes: tuple[str, ...], now: datetime) -> Job:
    """The job as it runs on these nodes from `now` on."""
    return job.evolve(state="running", since=now, started=now, nodes=nodes)


def halted(job: Job, reason: Stop, now: datetime) -> Job:
    """The job while it is being stopped or requeued; ended at once if it never ran."""
    if not job.active or (job.stop and job.stop != "requeue"):
        return job
    if job.state == "queued":
        return end_job(job.evolve(stop=reason), Outcome(), now)
    return job.evolve(state="terminating", since=now, stop=reason)


def end_job(job: Job, outcome: Outcome, now: datetime) -> Job:
    """The job after its run: with the run's own end, with the reason for its stop, or queued again."""
    if job.stop is None and outcome.requeue:
        if job.attempt + 1 < _MOST_ATTEMPTS:
            return _requeued(job, now)
        outcome = Outcome(exit_code=1, errors=(_LOST,))
    if job.stop == "requeue":
        if outcome.requeue or (outcome.exit_code is None and not outcome.errors):
            return _requeued(job, now)
    elif job.stop is not None:
        outcome = Outcome(exit_code=_code_of_stop(job, outcome), errors=(FAULTS[job.stop],))
    state: JobState = "failed" if outcome.errors else "succeeded"
    return job.evolve(
        state=state,
        since=now,
        ended=now,
        exit_code=outcome.exit_code,
        errors=outcome.errors,
        nodes=(),
        stop=None,
    )


def _code_of_stop(job: Job, outcome: Outcome) -> int | None:
    """An end of its user's own making has no exit code, as the service's had none.

    Others have one: clients take an end without an exit code for a success.
    """
    if job.stop in ("terminated", "deleted"):
        return None
    return outcome.exit_code or STOPPED if job.started else NEVER_BEGAN


def _requeued(job: Job, now: datetime) -> Job:
    return job.evolve(
        state="queued", since=now, started=None, nodes=(), stop=None, attempt=job.attempt + 1, outputs={}
    )
