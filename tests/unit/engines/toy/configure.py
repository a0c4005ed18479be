"""An engine that comes from outside: an entry of the registry is all that the project needs to know of it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any

from shared.core.facts import ClusterFacts
from shared.engines.entry import Configured, Values
from shared.engines.provisioning import Plan, Stage, Step
from tests.doubles.memory_engine import MemoryEngine


def configure(options: Mapping[str, Mapping[str, Any]], settings: Values) -> Configured:
    """Clusters with one option, of how many nodes a job may have; a setting has it for the others."""
    usual = settings.whole("SLIPWAY_TOY_BOX")
    clusters = {name: ClusterFacts(max_nodes=one.get("nodes", usual)) for name, one in options.items()}
    return Configured(clusters, MemoryEngine, provision=provision)


def provision(cluster: str, plan: Plan) -> Iterator[Stage]:
    """One thing is to be made of a cluster."""

    async def steps() -> AsyncIterator[Step]:
        yield Step("cluster", cluster, created=True)

    yield Stage("toys", "SLIPWAY_CLUSTERS", steps())
