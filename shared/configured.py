"""configured: the clusters that the settings name, and their engines."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from shared.errors import Misconfigured
from shared.ports import Cluster, Engine
from shared.settings import Settings


class ConfiguredEngines:
    """The engines port: clusters by name, each engine loaded when it is first asked for."""

    def __init__(self, settings: Settings) -> None:
        from shared.engines.batchai_client import Workspace
        from shared.engines.slurm.cluster import clusters_from

        self._workspace = Workspace(
            url=settings.text("SLIPWAY_BATCHAI_URL"),
            subscription=settings.text("SLIPWAY_SUBSCRIPTION"),
            group=settings.text("SLIPWAY_RESOURCE_GROUP"),
            name=settings.text("SLIPWAY_WORKSPACE"),
            client_id=settings.text("AZURE_CLIENT_ID"),
        )
        self._slurm = clusters_from(settings.document("SLIPWAY_SLURM"), "SLIPWAY_SLURM")
        self._keys = _slurm_keys(settings)
        default = settings.text("SLIPWAY_CLUSTER")
        names = dict.fromkeys((default, *settings.names("SLIPWAY_CLUSTERS"), *self._slurm))
        hours = settings.number("SLIPWAY_CLUSTER_WALL_CLOCK_HOURS")
        self.clusters: Mapping[str, Cluster] = {
            name: Cluster(
                name,
                "slurm" if name in self._slurm else "batchai",
                self._workspace.cluster_id(name),
                mounts=frozenset(settings.names("SLIPWAY_CLUSTER_MOUNTS")) or None,
                max_nodes=settings.whole("SLIPWAY_CLUSTER_NODES") or None,
                gpus_per_node=settings.whole("SLIPWAY_CLUSTER_GPUS") or None,
                max_wall_clock=timedelta(hours=hours) if hours else None,
            )
            for name in names
        }
        self._engines: dict[str, Engine] = {}

    def of(self, engine: str) -> Engine:
        """The engine by name. Raises Misconfigured."""
        if engine not in self._engines:
            self._engines[engine] = self._load(engine)
        return self._engines[engine]

    def _load(self, engine: str) -> Engine:
        if engine == "batchai":
            from shared.engines.batchai import BatchAIEngine

            return BatchAIEngine(self._workspace)
        if engine == "slurm":
            from shared.engines.slurm.engine import SlurmEngine

            return SlurmEngine(self._slurm, self._keys)
        raise Misconfigured(f"no engine {engine!r} is configured here")


def _slurm_keys(settings: Settings) -> dict[str, bytes | str]:
    from shared.engines.slurm.cluster import key_from

    found: Any = settings.document("SLIPWAY_SLURM_KEYS")
    if not isinstance(found, dict) or not all(isinstance(key, str) for key in found.values()):
        raise Misconfigured("SLIPWAY_SLURM_KEYS must be an object: Slurm cluster → key or token")
    return {name: key_from(key, f"SLIPWAY_SLURM_KEYS: {name}") for name, key in found.items()}
