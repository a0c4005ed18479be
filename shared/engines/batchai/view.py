"""The view of a Batch AI cluster, from its resource. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shared.core.engine import ClusterView
from shared.engines.batchai.facts import facts_of


def view_of(name: str, properties: Mapping[str, Any]) -> ClusterView:
    """The view of a cluster resource, in the form of the port."""
    scale = properties.get("scaleSettings") or {}
    auto, manual = scale.get("autoScale") or {}, scale.get("manual") or {}
    counts = properties.get("nodeStateCounts") or {}
    return ClusterView(
        name=name,
        engine="batchai",
        state=str(properties.get("allocationState", "unknown")),
        nodes=int(properties.get("currentNodeCount", 0)),
        counts={word.removesuffix("NodeCount"): int(n) for word, n in counts.items()},
        minimum=auto.get("minimumNodeCount"),
        maximum=auto.get("maximumNodeCount", manual.get("targetNodeCount")),
        size=str(properties.get("vmSize", "")),
        errors=tuple(str(e.get("message", "")) for e in properties.get("errors") or []),
        priority=str(properties.get("vmPriority", "")).lower(),
        facts=facts_of(properties),
    )
