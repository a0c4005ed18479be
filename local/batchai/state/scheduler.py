"""Scheduler and autoscaler of one cluster, pure: `decide` returns the next actions."""

import heapq
from dataclasses import dataclass
from datetime import datetime, timedelta

from local.batchai.state.models import Cluster, Job, Node, Stop

_RANK = {"high": 0, "normal": 1, "low": 2}


@dataclass(frozen=True, kw_only=True)
class Pace:
    """Durations: until a node is ready, until an idle one is released, and until it has left."""

    provisioning: timedelta
    idle: timedelta
    leaving: timedelta


@dataclass(frozen=True)
class Provision:
    """Order `count` new nodes."""

    count: int


@dataclass(frozen=True)
class Prepare:
    """The node is there: mount and set up."""

    node: str


@dataclass(frozen=True)
class Release:
    """An order to release these nodes."""

    nodes: tuple[str, ...]


@dataclass(frozen=True)
class Remove:
    """Order to forget these nodes, which have left."""

    nodes: tuple[str, ...]


@dataclass(frozen=True)
class Start:
    """Start the job on all its nodes."""

    job: str
    nodes: tuple[str, ...]


@dataclass(frozen=True)
class Halt:
    """Stop the job, for a reason."""

    job: str
    reason: Stop


Action = Provision | Prepare | Release | Remove | Start | Halt


@dataclass(frozen=True)
class Decision:
    """The actions now, and when to decide again if nothing happens before."""

    actions: tuple[Action, ...]
    wake: datetime | None


def decide(cluster: Cluster, jobs: tuple[Job, ...], now: datetime, pace: Pace) -> Decision:
    """Decide the next actions on a cluster; `jobs` are its active ones."""
    actions: list[Action] = []
    wakes: list[datetime] = []

    arrived = [node for node in cluster.nodes if node.state == "allocating"]
    actions += [Prepare(node.id) for node in _due_nodes(arrived, pace.provisioning, now, wakes)]
    leaving = _due_nodes(
        [node for node in cluster.nodes if node.state == "leaving"], pace.leaving, now, wakes
    )
    if leaving:
        actions.append(Remove(tuple(node.id for node in leaving)))
    taken_back = [node.id for node in cluster.nodes if node.preempted and node.state in ("idle", "unusable")]
    if taken_back:
        actions.append(Release(tuple(taken_back)))
    actions += _overdue(cluster, jobs, now, wakes)
    starts = () if cluster.deleting else _starts(cluster, jobs)
    actions += starts
    busy = {node for start in starts for node in start.nodes}
    actions += _resize(cluster, jobs, busy, now, pace, wakes)
    return Decision(tuple(actions), min(wakes, default=None))


def desired_nodes(cluster: Cluster, jobs: tuple[Job, ...], now: datetime, pace: Pace) -> int:
    """How many nodes the cluster should have now."""
    if cluster.deleting:
        return 0
    least, most = cluster.bounds
    if "manual" in cluster.scale:
        return most
    number = sum(job.node_count for job in jobs if job.node_count <= most or job.state != "queued")
    if now < cluster.created + pace.idle:
        number = max(number, int(cluster.scale["autoScale"].get("initialNodeCount", 0)))
    return min(max(number, least), most)


def _due_nodes(nodes: list[Node], delay: timedelta, now: datetime, wakes: list[datetime]) -> list[Node]:
    wakes += [node.since + delay for node in nodes if node.since + delay > now]
    return [node for node in nodes if node.since + delay <= now]


def _overdue(cluster: Cluster, jobs: tuple[Job, ...], now: datetime, wakes: list[datetime]) -> list[Action]:
    actions: list[Action] = []
    for job in jobs:
        if cluster.deleting and job.state in ("queued", "running"):
            actions.append(Halt(job.id, "cluster"))
        elif job.state == "running" and job.started:
            end = job.started + timedelta(seconds=job.wall_clock)
            if end <= now:
                actions.append(Halt(job.id, "timeout"))
            else:
                wakes.append(end)
    return actions


def _starts(cluster: Cluster, jobs: tuple[Job, ...]) -> tuple[Start, ...]:
    """By priority, then first come first served; no job overtakes one that waits for more nodes.

    A job that is larger than the cluster may ever be is passed over, so that it does not block others.
    """
    _, most = cluster.bounds
    busy = sum(node.state == "running" for node in cluster.nodes)
    ready = [node for node in cluster.nodes if node.state == "idle" and not node.preempted]
    idle = [node.id for node in sorted(ready, key=lambda node: node.number)]
    # Nodes beyond the size are about to leave: a job that was sent back from one must not start on it again.
    free = idle[: max(0, most - busy)]
    if not free:
        return ()
    starts = []
    waiting = [job for job in jobs if job.state == "queued" and not job.deleting and job.node_count <= most]
    # Each job takes a node or more, so no more jobs can start than there are nodes. The queue may be long.
    for job in heapq.nsmallest(len(free), waiting, key=lambda job: (_RANK[job.priority], job.sequence)):
        if job.node_count > len(free):
            break
        starts.append(Start(job.id, tuple(free[: job.node_count])))
        free = free[job.node_count :]
    return tuple(starts)


def _resize(
    cluster: Cluster, jobs: tuple[Job, ...], busy: set[str], now: datetime, pace: Pace, wakes: list[datetime]
) -> list[Action]:
    number = desired_nodes(cluster, jobs, now, pace)
    staying = [node for node in cluster.nodes if node.state != "leaving" and not node.preempted]
    surplus = len(staying) - number
    if surplus < 0:
        # Nodes that are about to leave, preempted ones too, belong to the cluster until they have left.
        room = cluster.bounds[1] - len(cluster.nodes)
        return [Provision(min(-surplus, room))] if room > 0 else []
    spare = [node for node in staying if node.id not in busy and node.state not in ("running", "preparing")]
    patient = "autoScale" in cluster.scale and not cluster.deleting
    if surplus and patient:
        spare = _due_nodes([node for node in spare if node.state != "allocating"], pace.idle, now, wakes)
    if patient and now < cluster.created + pace.idle:
        wakes.append(cluster.created + pace.idle)
    # The newest leave first, so that low numbers stay in use.
    leaving = sorted(spare, key=lambda node: -node.number)[:surplus]
    actions: list[Action] = [Release(tuple(node.id for node in leaving))] if leaving else []
    if not patient and not cluster.deleting:
        actions += _vacate(cluster, jobs, surplus - len(leaving))
    return actions


def _vacate(cluster: Cluster, jobs: tuple[Job, ...], surplus: int) -> list[Action]:
    """Stop as many jobs as hold nodes that a manual scale-down removes, by its option."""
    option = cluster.scale["manual"].get("nodeDeallocationOption", "requeue")
    if option == "waitforjobcompletion":
        return []
    actions: list[Action] = []
    # Nodes of jobs that are stopping already will be free soon.
    surplus -= sum(len(job.nodes) for job in jobs if job.state == "terminating" or job.stop)
    running = [job for job in jobs if job.state == "running" and not job.stop]
    for job in sorted(running, key=lambda job: -job.sequence):
        if surplus <= 0:
            break
        actions.append(Halt(job.id, "requeue" if option == "requeue" else "terminated"))
        surplus -= len(job.nodes)
    return actions
