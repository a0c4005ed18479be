"""The engines that there are. To add one, write its folder and an entry here; nothing else names an engine.

An entry names a module with `configure(options, settings) -> Configured`, where `options` holds what
SLIPWAY_CLUSTERS says of the engine's clusters, by name. It is imported only when there are such clusters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from importlib import import_module
from typing import Any, Protocol

from shared.core.facts import ClusterFacts
from shared.core.ports import Engine
from shared.engines.provisioning import Provision


@dataclass(frozen=True)
class Entry:
    """One engine: its module, and settings of earlier versions that describe clusters of it."""

    module: str
    earlier: tuple[str, ...] = ()


ENGINES: Mapping[str, Entry] = {
    "batchai": Entry("shared.engines.batchai.configure"),
    "slurm": Entry("shared.engines.slurm.configure", earlier=("SLIPWAY_SLURM",)),
}
#: The engine of a cluster that is named without an engine, as all were in earlier versions.
UNNAMED = "batchai"


@dataclass(frozen=True)
class Configured:
    """The clusters of one engine as a deployment configures them."""

    clusters: Mapping[str, ClusterFacts]
    load: Callable[[], Engine]
    #: clusters on which no job can run as the settings stand → why, with the remedy
    faults: Mapping[str, str] = field(default_factory=dict)
    #: makes a cluster that is not there; None for an engine whose clusters an operator makes
    provision: Provision | None = None


class Values(Protocol):
    """What an engine may read, `shared.settings.Settings`. Each raises Misconfigured with the name."""

    def text(self, name: str) -> str:
        """A setting as it is."""

    def document(self, name: str) -> Any:
        """A JSON value."""

    def names(self, name: str) -> tuple[str, ...]:
        """Words separated by commas."""

    def whole(self, name: str) -> int:
        """A whole number."""

    def hours(self, name: str) -> timedelta | None:
        """A number of hours; None for none."""

    def connection(self) -> tuple[str, str, str, str]:
        """The storage account: a connection string, or else the addresses of its services."""

    def account(self) -> tuple[str, str]:
        """The storage account's name and key."""

    def storage_suffix(self) -> str:
        """What the names of its services end with."""


class Configure(Protocol):
    """What an entry's module offers as `configure`."""

    def __call__(self, options: Mapping[str, Mapping[str, Any]], settings: Values) -> Configured:
        """Read the clusters. Raises Misconfigured with the place of a mistake."""


def configure_of(entry: Entry) -> Configure:
    """The reader of an engine's clusters, imported now."""
    found: Configure = import_module(entry.module).configure
    return found
