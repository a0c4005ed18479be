"""The autoscale formula of a pool: from zero, with room for the tasks that need several nodes. Pure.

The service counts tasks, not their nodes; so a sweep writes into the formula how many nodes those with many
take. It asks for nodes only while tasks wait or run: they go also when nothing sweeps any more.
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
wanted = pending > 0 ? max(1, wideNodes + max(0, pending - wideTasks)) : 0;
{target} = min({most}, max({least}, wanted));
{other} = 0;
$NodeDeallocationOption = taskcompletion;
"""


@dataclass(frozen=True)
class Demand:
    """What unfinished tasks need: nodes in all; how many tasks have several nodes, and these nodes."""

    total: int = 0
    wide_tasks: int = 0
    wide_nodes: int = 0


def demand(sizes: Iterable[int]) -> Demand:
    """The demand of unfinished tasks, by the number of nodes of each."""
    every = list(sizes)
    wide = [size for size in every if size > 1]
    return Demand(sum(every), len(wide), sum(wide))


def formula(cluster: BatchCluster, needed: Demand) -> str:
    """The formula that the pool should have now."""
    dedicated, spot = "$TargetDedicatedNodes", "$TargetLowPriorityNodes"
    return _FORMULA.format(
        tasks=needed.wide_tasks,
        nodes=min(needed.wide_nodes, cluster.max_nodes),
        least=cluster.min_nodes,
        most=cluster.max_nodes,
        target=spot if cluster.spot else dedicated,
        other=dedicated if cluster.spot else spot,
    )
