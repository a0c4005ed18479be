"""The configured Slurm clusters, and the keys for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shared.core.engine import Engine
from shared.core.errors import Misconfigured
from shared.engines.entry import Configured, Values
from shared.engines.slurm.cluster import clusters_from
from shared.engines.slurm.wire.key import Key, key_from


def configure(options: Mapping[str, Mapping[str, Any]], settings: Values) -> Configured:
    """The clusters of SLIPWAY_CLUSTERS, and their keys."""
    clusters = clusters_from(options, "SLIPWAY_CLUSTERS")
    keys = _keys(settings)
    for name, one in clusters.items():
        if one.enter.get("certificates") and not settings.text("SLIPWAY_ENTER_CA"):
            raise Misconfigured(
                f"SLIPWAY_CLUSTERS: {name}: enter: certificates need SLIPWAY_ENTER_CA, which signs them"
            )

    def load() -> Engine:
        from shared.engines.proofs import proofs_of
        from shared.engines.slurm.engine import SlurmEngine

        return SlurmEngine(clusters, keys, proofs=proofs_of(settings))

    faults = {
        name: f"SLIPWAY_SLURM_KEYS holds no key for the cluster {name}"
        for name in clusters
        if name not in keys
    }
    return Configured({name: one.facts for name, one in clusters.items()}, load, faults)


def _keys(settings: Values) -> dict[str, Key]:
    document = settings.document("SLIPWAY_SLURM_KEYS")
    if not isinstance(document, dict) or not all(isinstance(key, str) for key in document.values()):
        raise Misconfigured("SLIPWAY_SLURM_KEYS must be an object: Slurm cluster → key or token")
    return {name: key_from(key, f"SLIPWAY_SLURM_KEYS: {name}") for name, key in document.items()}
