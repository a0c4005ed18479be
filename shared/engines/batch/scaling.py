"""The autoscale formula of a pool: from zero, with enough nodes for tasks that need several. Pure.

The service counts tasks, not their nodes, so the sweeper writes those of multi-node tasks into the formula.
It asks for nodes only while tasks wait or run, so the pool also shrinks when no pass runs.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from shared.engines.batch.cluster import BatchCluster

#: How often the service evaluates a formula. This is the shortest interval that it allows.
INTERVAL = "PT5M"

_FORMULA = """\
wideTasks = {tasks};
wideNodes = {nodes};
samples = $PendingTasks.GetSamplePercent(TimeInterval_Minute * 5);
latest = max(0, $PendingTasks.GetSample(1));
pending = samples < 70 ? latest : max(latest, avg($PendingTasks.GetSample(TimeInterval_Minute * 5)));
wanted = pending > 0 ? max(1, wideNodes + max(0, pending - wideTasks)) : 0;
{target} = min({most}, max({least}, wanted));
{other} = 0;
$NodeDeallocationOption = taskcompletion;
"""


@dataclass(frozen=True)
class Demand:
    """The demand of unfinished tasks: all nodes, the number of multi-node tasks, and the nodes of those."""

    total: int = 0
    wide_tasks: int = 0
    wide_nodes: int = 0


def demand(sizes: Iterable[int]) -> Demand:
    """The demand of unfinished tasks, from the number of nodes of each."""
    every = list(sizes)
    wide = [size for size in every if size > 1]
    return Demand(sum(every), len(wide), sum(wide))


def formula(cluster: BatchCluster, needed: Demand) -> str:
    """The formula for this demand."""
    dedicated, spot = "$TargetDedicatedNodes", "$TargetLowPriorityNodes"
    return _FORMULA.format(
        tasks=needed.wide_tasks,
        nodes=min(needed.wide_nodes, cluster.max_nodes),
        least=cluster.min_nodes,
        most=cluster.max_nodes,
        target=spot if cluster.spot else dedicated,
        other=dedicated if cluster.spot else spot,
    )
