"""The autoscale formula of a pool: from zero, with enough nodes for tasks that need several. Pure.

The sweeper writes into the formula how many nodes unfinished tasks need. Of waiting tasks on several nodes
the service counts the nodes; whether it does of those that run is not documented. So its numbers lower what
the sweeper wrote, and its latest one raises it for tasks that no pass has seen: the pool follows its tasks
also when no pass runs, and never has more nodes than they need.
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
singleNodes = {singles};
slots = {slots};
samples = $PendingTasks.GetSamplePercent(TimeInterval_Minute * 5);
latest = max(0, $PendingTasks.GetSample(1));
pending = samples < 70 ? latest : max(latest, avg($PendingTasks.GetSample(TimeInterval_Minute * 5)));
known = wideNodes + min(singleNodes, max(0, pending - wideTasks));
wanted = pending > 0 ? max(1, max(known, latest / slots)) : 0;
{target} = min({most}, max({least}, wanted));
{other} = 0;
$NodeDeallocationOption = taskcompletion;
"""


@dataclass(frozen=True)
class Demand:
    """The demand of unfinished tasks: how many need several nodes, their nodes, and those of all others."""

    wide_tasks: int = 0
    wide_nodes: int = 0
    single_nodes: int = 0
    #: how many tasks on one node share it
    slots: int = 1

    @property
    def total(self) -> int:
        """All nodes."""
        return self.wide_nodes + self.single_nodes


def demand(sizes: Iterable[int], slots: int = 1) -> Demand:
    """The demand of unfinished tasks, from the number of nodes of each; so many on one node share it."""
    every = list(sizes)
    wide = [size for size in every if size > 1]
    return Demand(len(wide), sum(wide), -(-(len(every) - len(wide)) // slots), slots)


def formula(cluster: BatchCluster, needed: Demand) -> str:
    """The formula for this demand."""
    dedicated, spot = "$TargetDedicatedNodes", "$TargetLowPriorityNodes"
    return _FORMULA.format(
        tasks=needed.wide_tasks,
        nodes=min(needed.wide_nodes, cluster.max_nodes),
        singles=min(needed.single_nodes, cluster.max_nodes),
        slots=needed.slots,
        least=cluster.min_nodes,
        most=cluster.max_nodes,
        target=spot if cluster.spot else dedicated,
        other=dedicated if cluster.spot else spot,
    )
