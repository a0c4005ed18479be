"""drops_on_nodes: the clusters on which a job of one team can drop as another."""

from __future__ import annotations

from shared.core.engine import Cluster
from shared.core.errors import EngineError
from shared.core.facts import NO_FACTS, ClusterFacts, combined_facts, is_on_nodes
from shared.core.ports import Ports
from shared.lifecycle.current_teams import current_teams


async def drops_on_nodes(ports: Ports) -> dict[str, str]:
    """Each cluster whose nodes have the container of drops, where there are teams → what that means.

    The folder of a drop decides whose job it is, and every job of the cluster writes there. Raises
    Unavailable, Unreadable.
    """
    if not (await current_teams(ports)).teams:
        return {}
    container = ports.policy.drop_container
    why = (
        f"its nodes have {container}, so its jobs read what all teams drop, and drop as any of them: take it "
        "out of `mounts` and `mounted`"
    )
    return {
        cluster.name: why
        for cluster in ports.engines.clusters.values()
        if is_on_nodes(combined_facts(cluster.facts, await _read(ports, cluster)), container)
    }


async def _read(ports: Ports, cluster: Cluster) -> ClusterFacts:
    try:
        return await ports.engines.get(cluster.engine).facts(cluster.name, {})
    except EngineError:
        return NO_FACTS
