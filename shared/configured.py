"""configured: the clusters that the settings name, and their engines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from shared.core.errors import Misconfigured
from shared.core.ports import Cluster, Engine
from shared.engines.provisioning import Provision
from shared.engines.registry import ENGINES, UNNAMED, Configured, Entry, configure_of
from shared.settings import Settings


class ConfiguredEngines:
    """The engines port: clusters by name, each engine loaded when it is first asked for."""

    def __init__(self, settings: Settings, engines: Mapping[str, Entry] = ENGINES) -> None:
        table = _by_engine(settings, engines)
        self._configured: dict[str, Configured] = {}
        self._engines: dict[str, Engine] = {}
        clusters: dict[str, Cluster] = {}
        for engine, entry in engines.items():
            if not (table[engine] or any(settings.values.get(name) for name in entry.earlier)):
                continue
            found = self._configured[engine] = configure_of(entry)(table[engine], settings)
            for name, facts in found.clusters.items():
                if name in clusters:
                    both = f"{clusters[name].engine} and {engine}"
                    raise Misconfigured(f"SLIPWAY_CLUSTERS: {name} is a cluster of two engines: {both}")
                clusters[name] = Cluster(name, engine, settings.cluster_id(name), facts)
        default = settings.cluster()
        #: the default one first
        self.clusters: Mapping[str, Cluster] = {default: clusters.pop(default), **clusters}

    def faults(self) -> dict[str, str]:
        """The clusters on which no job can run as the settings stand → why, with the remedy."""
        return {name: why for found in self._configured.values() for name, why in found.faults.items()}

    def provision_of(self, cluster: str) -> Provision | None:
        """What makes a cluster that is not there; None where its engine makes none. Raises Misconfigured."""
        found = self.clusters.get(cluster)
        if found is None:
            raise Misconfigured(f"cluster {cluster} is not configured")
        return self._configured[found.engine].provision

    def get(self, engine: str) -> Engine:
        """The engine by name. Raises Misconfigured."""
        if engine not in self._engines:
            if engine not in self._configured:
                raise Misconfigured(f"no cluster of the engine {engine!r} is configured here")
            self._engines[engine] = self._configured[engine].load()
        return self._engines[engine]


def _by_engine(settings: Settings, engines: Mapping[str, Entry]) -> dict[str, dict[str, dict[str, Any]]]:
    """Engine → cluster → its options, as SLIPWAY_CLUSTERS has them. Raises Misconfigured."""
    table: dict[str, dict[str, dict[str, Any]]] = {engine: {} for engine in engines}
    earlier = [settings.document(one) for entry in engines.values() for one in entry.earlier]
    named = {name for document in earlier if isinstance(document, dict) for name in document}
    described = settings.table("SLIPWAY_CLUSTERS")
    _check_names([*described])
    for name, options in described.items():
        engine = options.get("engine") if options else UNNAMED
        if not isinstance(engine, str) or engine not in engines:
            given = f"not {engine!r}" if engine else "and is missing"
            raise Misconfigured(f"SLIPWAY_CLUSTERS: {name}: engine is one of {', '.join(engines)}, {given}")
        table[engine][name] = {option: value for option, value in options.items() if option != "engine"}
        named.add(name)
    if (default := settings.cluster()) not in named:
        if any(described.values()) and not settings.text("SLIPWAY_BATCHAI_URL"):
            known = ", ".join(described)
            raise Misconfigured(f"SLIPWAY_CLUSTER is {default}, and SLIPWAY_CLUSTERS describes {known}")
        table[UNNAMED][default] = {}
    return table


def _check_names(names: Sequence[str]) -> None:
    """Whether jobs can name each of them. Raises Misconfigured."""
    known: dict[str, str] = {}
    for name in names:
        if not name or name != name.strip() or any(one in name for one in "/\\?#"):
            raise Misconfigured(f"SLIPWAY_CLUSTERS: {name[:80]!r} cannot be the name of a cluster")
        if known.setdefault(name.lower(), name) != name:
            # Ids are compared without case, as Azure does.
            raise Misconfigured(f"SLIPWAY_CLUSTERS: {known[name.lower()]} and {name} are one name")
