"""How a pool gets missing nodes, and loses surplus ones. Pure."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from local.azurebatch.settings import Pace
from local.azurebatch.state.faults import resize_error
from local.azurebatch.state.models import Node, NodeState, Pool, Task

#: The states in which a region can preempt a spot node.
PREEMPTIBLE: tuple[NodeState, ...] = ("idle", "running", "waitingforstarttask", "starttaskfailed")


@dataclass
class Step:
    """The next changes of a pool: its new record, removed nodes, and nodes that have just booted."""

    pool: Pool
    removed: list[Node] = field(default_factory=list)
    booted: list[str] = field(default_factory=list)
    #: nodes that come back with empty directories
    emptied: list[Node] = field(default_factory=list)
    #: when the next change is due
    wake: datetime | None = None


def step(pool: Pool, busy: Collection[str], numbers: Iterable[int], now: datetime, pace: Pace) -> Step:
    """Advance the pool to the current time. `busy` nodes have tasks, `numbers` are free for new nodes."""
    result = Step(pool)
    result.pool = _moved(result, busy, now, pace)
    _resize(result, busy, iter(numbers), now, pace)
    return result


def _moved(result: Step, busy: Collection[str], now: datetime, pace: Pace) -> Pool:
    """Every node in its current state."""
    nodes = []
    for node in result.pool.nodes:
        match node.state:
            case "creating" if _due(result, node, pace.provisioning / 4, now):
                nodes.append(node.evolve(state="starting", since=now))
            case "starting" | "rebooting" if _due(result, node, pace.provisioning / 4, now):
                after: NodeState = "waitingforstarttask" if _waits(result.pool) else "idle"
                nodes.append(node.evolve(state=after, since=now, booted=now))
                result.booted.append(node.id)
            case "preempted" if _due(result, node, pace.preempted, now):
                nodes.append(node.evolve(state="starting", since=now))
                result.emptied.append(node)
            case "leavingpool" if node.id not in busy and _due(result, node, pace.leaving, now):
                result.removed.append(node)
            case "idle" if node.id in busy:
                nodes.append(node.evolve(state="running", since=now))
            case "running" if node.id not in busy:
                nodes.append(node.evolve(state="idle", since=now))
            case _:
                nodes.append(node)
    changed = tuple(nodes)
    return result.pool if changed == result.pool.nodes else result.pool.evolve(nodes=changed)


def _waits(pool: Pool) -> bool:
    start = pool.document.get("startTask")
    return bool(start and start.get("waitForSuccess", True))


def _due(result: Step, node: Node, after: timedelta, now: datetime) -> bool:
    due = node.since + after
    if due > now:
        result.wake = min(due, result.wake or due)
    return due <= now


def _resize(result: Step, busy: Collection[str], numbers: "Iterable[int]", now: datetime, pace: Pace) -> None:
    pool = result.pool
    if pool.allocation == "steady" and not pool.deleting:
        return
    if pool.allocation == "stopping":
        present = [node for node in pool.nodes if node.state != "leavingpool"]
        dedicated = sum(node.dedicated for node in present)
        pool = pool.evolve(dedicated=dedicated, spot=len(present) - dedicated)
    due = pool.allocation_since + pace.provisioning / 2
    if due > now and pool.allocation == "resizing" and _target_count(pool) > _present(pool):
        result.wake = min(due, result.wake or due)
        return
    if pool.coming_errors and pool.allocation == "resizing" and _target_count(pool) > _present(pool):
        code, *rest = pool.coming_errors
        result.pool = pool.evolve(
            allocation="steady",
            allocation_since=now,
            resize_errors=(resize_error(code),),
            coming_errors=tuple(rest),
        )
        return
    numbers = iter(numbers)
    for dedicated, target in ((True, pool.dedicated), (False, pool.spot)):
        present = [node for node in pool.nodes if node.dedicated == dedicated and node.state != "leavingpool"]
        count = 0 if pool.deleting else target
        if len(present) < count:
            pool = _grown(pool, dedicated, [next(numbers) for _ in range(count - len(present))], now)
        elif len(present) > count:
            pool = _shrunk(pool, present, len(present) - count, busy, now)
    pool = pool.evolve(resize_errors=()) if pool.resize_errors else pool
    if not any(node.state == "leavingpool" for node in pool.nodes) and _target_count(pool) == _present(pool):
        pool = pool.evolve(allocation="steady", allocation_since=now)
    elif result.wake is None and pool != result.pool:
        result.wake = now + pace.leaving
    if pool != result.pool:
        result.pool = pool


def _target_count(pool: Pool) -> int:
    return 0 if pool.deleting else pool.dedicated + pool.spot


def _present(pool: Pool) -> int:
    return sum(node.state != "leavingpool" for node in pool.nodes)


def _grown(pool: Pool, dedicated: bool, numbers: list[int], now: datetime) -> Pool:
    letter = "d" if dedicated else "p"
    new = [
        Node(
            # As long as the service's.
            id=f"tvmps_{pool.sequence:032x}{pool.nodes_so_far + index:032x}_{letter}",
            number=number,
            dedicated=dedicated,
            state="creating",
            since=now,
            allocated=now,
        )
        for index, number in enumerate(numbers, 1)
    ]
    return pool.evolve(nodes=(*pool.nodes, *new), nodes_so_far=pool.nodes_so_far + len(new))


def _shrunk(pool: Pool, present: list[Node], count: int, busy: Collection[str], now: datetime) -> Pool:
    """Nodes without tasks leave first, newest first; tasks may be awaited."""
    order = sorted(present, key=lambda node: (node.id in busy, -node.number))
    if pool.leaving == "taskcompletion" and not pool.deleting:
        order = [node for node in order if node.id not in busy]
    going = {node.id for node in order[:count]}
    return pool.evolve(nodes=tuple(_leaving(node, now) if node.id in going else node for node in pool.nodes))


def _leaving(node: Node, now: datetime) -> Node:
    return node.evolve(state="leavingpool", since=now)


def preempted(pool: Pool, node: Node, now: datetime) -> Pool:
    """A preempted spot node. The pool still wants it, and gets it again."""
    return pool.with_node(node.evolve(state="preempted", since=now, booted=None))


def counted(pool: Pool, task: Task) -> Pool:
    """The primary node has run one more task."""
    node = pool.node(task.nodes[0]) if task.nodes else None
    if node is None:
        return pool
    good = int(task.state == "completed" and task.succeeded)
    return pool.with_node(
        node.evolve(total_run=node.total_run + 1, total_succeeded=node.total_succeeded + good)
    )
