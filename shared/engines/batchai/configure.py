"""The Batch AI clusters of a deployment, all in one workspace."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from shared.core.engine import Engine
from shared.core.facts import ClusterFacts
from shared.engines.batchai.client import Workspace
from shared.engines.batchai.facts import configured
from shared.engines.entry import Configured, Values
from shared.engines.provisioning import Plan, Stage


def workspace_of(settings: Values) -> Workspace:
    """The workspace that the settings name."""
    return Workspace(
        url=settings.text("SLIPWAY_BATCHAI_URL"),
        subscription=settings.text("SLIPWAY_SUBSCRIPTION"),
        group=settings.text("SLIPWAY_RESOURCE_GROUP"),
        name=settings.text("SLIPWAY_WORKSPACE"),
        client_id=settings.text("AZURE_CLIENT_ID"),
    )


def configure(options: Mapping[str, Mapping[str, Any]], settings: Values) -> Configured:
    """The clusters, each with its own facts; one that no setting describes has none."""
    workspace = workspace_of(settings)
    own = configured({name: one for name, one in options.items() if one}, "SLIPWAY_CLUSTERS")

    def load() -> Engine:
        from shared.engines.batchai.engine import BatchAIEngine

        return BatchAIEngine(workspace)

    def provision(cluster: str, plan: Plan) -> Iterator[Stage]:
        from shared.engines.batchai import provision as making

        return making.provision(workspace, settings, cluster, plan)

    clusters = {name: own.get(name, ClusterFacts()) for name in options}
    if workspace.trouble:
        return Configured(clusters, load, dict.fromkeys(options, workspace.trouble), provision)
    return Configured(clusters, load, provision=provision, emulator=workspace.url)
