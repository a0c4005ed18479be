"""An engine's entry in the registry, and the result of configuring its clusters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

from shared.setting_table import Setting

if TYPE_CHECKING:
    from shared.core.abilities import Ability
    from shared.core.account import MountAccount, StorageAddresses
    from shared.core.engine import Engine
    from shared.core.facts import ClusterFacts
    from shared.engines.provisioning import Provision


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One engine: its words for people, its settings, and its package, imported when a cluster uses it."""

    #: its name as people write it
    title: str
    #: package with `configure` and `abilities`
    package: str
    #: its rows in the table of settings
    settings: Mapping[str, Setting] = field(default_factory=dict)
    #: the setting with the address of a service whose clusters need no description in settings; "" for none
    address: str = ""
    #: whether that service may be an emulator, which takes nodes away on demand
    is_emulated: bool = False

    def configure(self, options: Mapping[str, Mapping[str, Any]], settings: Values) -> Configured:
        """Read its clusters: `options` holds their entries of SLIPWAY_CLUSTERS, by name.

        Raises Misconfigured with the place of a mistake.
        """
        read: Configure = import_module(f"{self.package}.configure").configure
        return read(options, settings)

    def abilities(self) -> Mapping[str, Ability]:
        """The abilities that it declares; no cluster is queried."""
        abilities: Mapping[str, Ability] = import_module(f"{self.package}.abilities").ABILITIES
        return abilities


@dataclass(frozen=True)
class Configured:
    """The clusters of one engine as a deployment configures them."""

    clusters: Mapping[str, ClusterFacts]
    load: Callable[[], Engine]
    #: clusters on which no job can run with these settings → why, with the remedy
    faults: Mapping[str, str] = field(default_factory=dict)
    #: creates a missing cluster; None for an engine whose clusters an operator creates
    provision: Provision | None = None
    #: whether what that creates depends on the plan, which describes one cluster
    is_planned: bool = True
    #: address of an emulator of its service, which takes nodes away on demand; "" for none
    emulator: str = ""


class Values(Protocol):
    """The settings that an engine may read, `shared.settings.Settings`. Each raises Misconfigured."""

    def text(self, name: str) -> str:
        """The text of a setting, not parsed."""

    def names(self, name: str) -> tuple[str, ...]:
        """A setting that is a list of names."""

    def document(self, name: str) -> Any:
        """A setting that is a JSON value."""

    def whole(self, name: str) -> int:
        """A setting that is a whole number within its bounds."""

    def connection(self) -> StorageAddresses:
        """The storage account: a connection string, or else the addresses of its services."""

    def account(self) -> MountAccount:
        """The storage account's name and key."""

    def storage_suffix(self) -> str:
        """The suffix of its services' host names."""


class Configure(Protocol):
    """The function `configure` of an engine's module of that name."""

    def __call__(self, options: Mapping[str, Mapping[str, Any]], settings: Values) -> Configured:
        """Read the clusters. Raises Misconfigured with the place of a mistake."""
