"""configured: the clusters that the settings name, and their engines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from shared.core.engine import Cluster, Engine
from shared.core.errors import Misconfigured
from shared.engines.entry import Configured, Entry
from shared.engines.provisioning import Provision
from shared.engines.registry import ENGINES, UNNAMED
from shared.settings import Settings


class ConfiguredEngines:
    """The engines port: clusters by name, each engine loaded when it is first asked for."""

    def __init__(self, settings: Settings, engines: Mapping[str, Entry] = ENGINES) -> None:
        described = _described(settings, engines)
        self._configured: dict[str, Configured] = {}
        self._engines: dict[str, Engine] = {}
        clusters: dict[str, Cluster] = {}
        for engine, entry in engines.items():
            if not (options := described.options[engine]):
                continue
            engine_settings = self._configured[engine] = entry.configure(options, settings)
            for name, facts in engine_settings.clusters.items():
                clusters[name] = Cluster(name, engine, settings.cluster_id(name), facts)
        #: the cluster of jobs that name none
        self.default = described.default
        #: that one first
        self.clusters: Mapping[str, Cluster] = {self.default: clusters.pop(self.default), **clusters}

    def faults(self) -> dict[str, str]:
        """The clusters on which no job can run as the settings stand → why, with the remedy."""
        return {name: why for one in self._configured.values() for name, why in one.faults.items()}

    def emulator(self) -> str:
        """The address of the emulator that clusters are on, which takes nodes away on demand; "" for none."""
        return next((one.emulator for one in self._configured.values() if one.emulator), "")

    def provision_of(self, cluster: str) -> Provision | None:
        """What makes a cluster that is not there; None where its engine makes none. Raises Misconfigured."""
        own = self.clusters.get(cluster)
        if own is None:
            raise Misconfigured(f"cluster {cluster} is not configured")
        return self._configured[own.engine].provision

    @property
    def unplanned(self) -> tuple[str, ...]:
        """The clusters beside the default one that are made without a plan, as that describes one cluster."""
        return tuple(
            name
            for name, one in self.clusters.items()
            if name != self.default and not self._configured[one.engine].is_planned
        )

    def get(self, engine: str) -> Engine:
        """The engine by name. Raises Misconfigured."""
        if engine not in self._engines:
            if engine not in self._configured:
                raise Misconfigured(f"no cluster of the engine {engine!r} is configured here")
            self._engines[engine] = self._configured[engine].load()
        return self._engines[engine]


class _Described(NamedTuple):
    """What settings say of clusters: engine → cluster → its options; the cluster of jobs that name none."""

    options: Mapping[str, dict[str, dict[str, Any]]]
    default: str


def _described(settings: Settings, engines: Mapping[str, Entry]) -> _Described:
    """The clusters of SLIPWAY_CLUSTERS, by their engines, and the default one. Raises Misconfigured."""
    options: dict[str, dict[str, dict[str, Any]]] = {engine: {} for engine in engines}
    table = settings.table("SLIPWAY_CLUSTERS")
    _check_names([*table])
    for name, one in table.items():
        engine = one.get("engine")
        if not isinstance(engine, str) or engine not in engines:
            text = f"not {engine!r}" if engine else "and is missing"
            raise Misconfigured(f"SLIPWAY_CLUSTERS: {name}: engine is one of {', '.join(engines)}, {text}")
        options[engine][name] = {option: value for option, value in one.items() if option != "engine"}
    #: a service that may have clusters of which no setting says anything
    service = settings.text(engines[UNNAMED].address)
    default = _default(settings, [*table], alone=bool(table) or not service)
    if default not in table:
        if table and not service:
            names = ", ".join(table)
            raise Misconfigured(f"SLIPWAY_CLUSTER is {default}, and SLIPWAY_CLUSTERS describes {names}")
        options[UNNAMED][default] = {}
    return _Described(options, default)


def _default(settings: Settings, named: Sequence[str], *, alone: bool) -> str:
    """The cluster of jobs that name none, as it is written where it is described.

    `alone`: there are no clusters but the named ones, the first of which is then the default.
    """
    if default := settings.values.get("SLIPWAY_CLUSTER", "").strip():
        return next((name for name in named if name.lower() == default.lower()), default)
    return named[0] if named and alone else settings.text("SLIPWAY_CLUSTER")


def _check_names(names: Sequence[str]) -> None:
    """Whether jobs can name each of them. Raises Misconfigured."""
    spellings: dict[str, str] = {}
    for name in names:
        if not name or name != name.strip() or any(one in name for one in "/\\?#"):
            raise Misconfigured(f"SLIPWAY_CLUSTERS: {name[:80]!r} cannot be the name of a cluster")
        if spellings.setdefault(name.lower(), name) != name:
            # Ids are compared without case, as Azure does.
            raise Misconfigured(f"SLIPWAY_CLUSTERS: {spellings[name.lower()]} and {name} are one name")
