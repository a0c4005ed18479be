"""Assigns waiting tasks to nodes. Pure."""

from collections.abc import Collection, Iterable, Mapping, Sequence

from local.azurebatch.state.models import WORKING, Pool, Task


def placements(
    pool: Pool, used: Mapping[str, int], waiting: Iterable[Task], closed: Mapping[str, Collection[str]]
) -> list[tuple[Task, tuple[str, ...]]]:
    """The tasks to start with their nodes, in the order of `waiting`. `used`: the occupied slots, by node.

    `closed`: job → the nodes on which none of its tasks runs.

    A multi-instance task that fits the pool reserves nodes until it has enough of them. On a pool whose nodes
    may not speak to each other, or have several slots, it waits for ever, as the service documents.
    """
    working = [node.id for node in pool.nodes if node.state in WORKING and node.takes_tasks]
    free = {node: pool.slots - used.get(node, 0) for node in working}
    takes_gangs = bool(pool.document.get("enableInterNodeCommunication")) and pool.slots == 1
    placed = []
    for task in waiting:
        if not any(free.values()):
            break
        if task.instances > 1 and not takes_gangs:
            continue
        shut = closed.get(task.job, ())
        fitting = [node for node in _order(pool, free) if free[node] >= task.slots and node not in shut]
        if len(fitting) >= task.instances:
            nodes = tuple(fitting[: task.instances])
            placed.append((task, nodes))
        elif 1 < task.instances <= len(working):
            nodes = tuple(fitting)
        else:
            continue
        for node in nodes:
            free[node] -= task.slots
    return placed


def _order(pool: Pool, free: Mapping[str, int]) -> Sequence[str]:
    """The order in which tasks fill nodes: the emptiest first, or one after the other."""
    fill = str(pool.document.get("taskSchedulingPolicy", {}).get("nodeFillType", "spread")).lower()
    if fill == "pack":
        return sorted((node for node in free if free[node] > 0), key=lambda node: free[node])
    return sorted((node for node in free if free[node] > 0), key=lambda node: -free[node])
