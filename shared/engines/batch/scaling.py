"""The autoscale formula of a pool: from zero, with room for the tasks that need several nodes. Pure.

The service's metrics count tasks, not their nodes; and it looks every five minutes, or when a formula is
written. So the nodes that tasks with several nodes take are written into the formula by the sweep.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from shared.engines.batch.cluster import BatchCluster

#: How often the service evaluates a formula; it allows no shorter time.
INTERVAL = "PT5M"

_FORMULA = """\
wideTasks = {tasks};
wideNodes = {nodes};
samples = $PendingTasks.GetSamplePercent(TimeInterval_Minute * 5);
latest = max(0, $PendingTasks.GetSample(1));
pending = samples < 70 ? latest : max(latest, avg($PendingTasks.GetSample(TimeInterval_Minute * 5)));
wanted = max({least}, wideNodes + max(0, pending - wideTasks));
{target} = min({most}, wanted);
{other} = 0;
$NodeDeallocationOption = taskcompletion;
"""


@dataclass(frozen=True)
class Demand:
    """What the unfinished tasks of a cluster need: how many have several nodes, and those."""

    tasks: int = 0
    nodes: int = 0
    #: whether there is any task
    any: bool = False


def demand(sizes: Iterable[int]) -> Demand:
    """The demand of unfinished tasks, by the number of nodes of each."""
    every = list(sizes)
    wide = [size for size in every if size > 1]
    return Demand(len(wide), sum(wide), bool(every))


def formula(cluster: BatchCluster, needed: Demand) -> str:
    """The formula that the pool should have now."""
    dedicated, spot = "$TargetDedicatedNodes", "$TargetLowPriorityNodes"
    # A first node at once: the formula changes when the first task comes, and so is evaluated.
    least = max(cluster.min_nodes, int(needed.any))
    return _FORMULA.format(
        tasks=needed.tasks,
        nodes=min(needed.nodes, cluster.max_nodes),
        least=least,
        most=cluster.max_nodes,
        target=spot if cluster.spot else dedicated,
        other=dedicated if cluster.spot else spot,
    )
