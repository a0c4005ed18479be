"""read: the state of clusters and the history of their nodes. Read-only."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from shared.answers import clusters as answers
from shared.answers.clusters import Capability, ClusterNode, ClusterState, Facts, FreeGpus, SilentCluster
from shared.core.engine import ClusterView
from shared.core.errors import EngineError, SlipwayError
from shared.core.facts import combined_facts, facts_as_json
from shared.core.ledger.node_history import NODE_STATES, NodeHistory
from shared.core.ports import Ports
from shared.lifecycle.clusters.calling import cluster_path
from shared.operate.common_waits import silent_clusters
from shared.operate.drops_on_nodes import drops_on_nodes

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class ClusterAnswer:
    """The current state of a configured cluster, or why it cannot be queried."""

    name: str
    view: ClusterView | None = None
    error: str = ""
    #: since when the passes get no answer either; None if none has queried it lately
    since: datetime | None = None


async def node_histories(ports: Ports, since: datetime) -> Mapping[str, NodeHistory]:
    """The node history of each configured cluster since that time, as recorded by the sweeper's timer."""
    histories = await ports.node_histories.all()
    return {
        name: histories.get(name, NodeHistory(name)).points_from(since) for name in ports.engines.clusters
    }


async def clusters(ports: Ports) -> list[ClusterAnswer]:
    """Every configured cluster, all queried at once. One that does not answer has the reason."""

    async def one(name: str) -> ClusterAnswer:
        cluster = ports.engines.clusters[name]
        try:
            engine = ports.engines.get(cluster.engine)
            view = await engine.nodes(name)
            facts = combined_facts(cluster.facts, view.facts)
            view = replace(view, facts=facts, capabilities=engine.capabilities(name, view))
            return ClusterAnswer(name, view)
        except EngineError as error:
            return ClusterAnswer(name, error=str(error))
        except Exception:  # a defect of one adapter hides no other cluster
            logger.exception("cluster %s cannot be shown", name)
            return ClusterAnswer(name, error="it cannot be queried; the log says why")

    answers = await asyncio.gather(*(one(name) for name in ports.engines.clusters))
    try:
        reached = await drops_on_nodes(ports)
    except SlipwayError as error:
        logger.warning("whether nodes have the drops is not known: %s", error)
        reached = {}
    answers = [
        replace(one, view=replace(one.view, errors=(*one.view.errors, reached[one.name])))
        if one.view and one.name in reached
        else one
        for one in answers
    ]
    if all(answer.view for answer in answers):
        return answers
    silent = await silent_clusters(ports)

    def with_time(answer: ClusterAnswer) -> ClusterAnswer:
        report = silent.get(cluster_path(ports.engines.clusters[answer.name].engine, answer.name))
        return answer if answer.view or report is None else replace(answer, since=report.since)

    return [with_time(answer) for answer in answers]


def shown(cluster: ClusterAnswer, history: NodeHistory | None) -> ClusterState | SilentCluster:
    """A cluster as the API shows it, without the facts about scaling, which only explain needs."""
    nodes, view = _node_history(history) if history else None, cluster.view
    if view is None:
        return SilentCluster(name=cluster.name, error=cluster.error, since=cluster.since, history=nodes)
    return ClusterState(
        name=view.name,
        engine=view.engine,
        state=view.state,
        nodes=view.nodes,
        counts=dict(view.counts),
        minimum=view.minimum,
        maximum=view.maximum,
        size=view.size,
        errors=view.errors,
        priority=view.priority,
        members=tuple(ClusterNode(name=one.name, state=one.state) for one in view.members),
        facts=Facts.model_validate(facts_as_json(view.facts)),
        gpus=FreeGpus(free=view.gpus.free, all=view.gpus.every) if view.gpus else None,
        capabilities={
            name: Capability(answer=one.answer, note=one.note) for name, one in view.capabilities.items()
        },
        history=nodes,
    )


def _node_history(history: NodeHistory) -> answers.NodeHistory:
    """The counted states, and for each point its Unix time and the nodes in each state."""
    unknown = (None,) * len(NODE_STATES)
    points = ((round(point.at.timestamp()), *(point.nodes or unknown)) for point in history.points)
    return answers.NodeHistory(states=tuple(NODE_STATES), points=tuple(points))
