"""A Slurm cluster's nodes, in the terms of all engines. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from shared.core.engine import ClusterView, NodeView
from shared.core.facts import Gpus
from shared.engines.slurm.cluster import SlurmCluster
from shared.engines.slurm.facts import facts_of, gpus_in

#: Word of a node's state, the most specific first → the state in a view. POWERED_DOWN: there is no such node
#: now.
_STATES = {
    "POWERED_DOWN": "",
    "POWERING_DOWN": "leaving",
    "POWER_DOWN": "leaving",
    "POWERING_UP": "preparing",
    "POWER_UP": "preparing",
    "DOWN": "unusable",
    "DRAIN": "unusable",
    "FAIL": "unusable",
    "ERROR": "unusable",
    "NOT_RESPONDING": "unusable",
    "ALLOCATED": "running",
    "MIXED": "running",
    "COMPLETING": "running",
    "IDLE": "idle",
}


def view(
    cluster: SlurmCluster, nodes: Iterable[Mapping[str, Any]], partitions: Iterable[Mapping[str, Any]] = ()
) -> ClusterView:
    """The states of the nodes of the cluster's partition."""
    ours = [n for n in nodes if not cluster.partition or cluster.partition in (n.get("partitions") or ())]
    words = [_words(node) for node in ours]
    counts = Counter(state for one in words if (state := _STATES[_word(one)]))
    elastic = sum("CLOUD" in one for one in words)
    moving = counts["preparing"] + counts["leaving"]
    reasons = (f"{n.get('name')}: {n['reason']}" for n in ours if n.get("reason"))
    return ClusterView(
        name=cluster.name,
        engine="slurm",
        state="resizing" if moving else "steady",
        nodes=sum(counts.values()),
        counts={name: counts[name] for name in ("idle", "running", "preparing", "unusable", "leaving")},
        minimum=len(ours) - elastic,
        maximum=len(ours),
        size="",
        errors=tuple(sorted(reasons)),
        priority="lowpriority" if cluster.preemptible else "dedicated",
        members=tuple(
            NodeView(str(node.get("name")), _word(one).lower()) for node, one in zip(ours, words, strict=True)
        ),
        facts=facts_of(cluster, partitions, ours),
        gpus=_gpus((node, _STATES[_word(one)]) for node, one in zip(ours, words, strict=True)),
    )


def _gpus(nodes: Iterable[tuple[Mapping[str, Any], str]]) -> Gpus | None:
    """The GPUs of the nodes that jobs can use; None without any, or if Slurm does not say what is in use.

    A node that runs jobs shows the GPUs that they have in `gres_used`.
    """
    free = every = 0
    for node, state in nodes:
        if state not in ("idle", "running"):
            continue
        number = gpus_in(node.get("gres"))
        if number and state == "running" and "gres_used" not in node:
            return None
        free += max(0, number - gpus_in(node.get("gres_used"))) if state == "running" else number
        every += number
    return Gpus(free, every) if every else None


def _words(node: Mapping[str, Any]) -> frozenset[str]:
    """v0.0.38 has a state and flags; later dialects have a list of both."""
    state = node.get("state")
    words = [state] if isinstance(state, str) else list(state or ())
    return frozenset(str(word).upper() for word in (*words, *(node.get("state_flags") or ())))


def _word(words: frozenset[str]) -> str:
    return next((word for word in _STATES if word in words), "ERROR")
