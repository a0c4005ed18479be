"""Every setting, read once from the environment into a frozen object, before the first invocation.

Beside it only `functions/bindings.py` reads settings: the host asks for those while it indexes the app.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from types import MappingProxyType
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from shared.core.account import (
    MountAccount,
    StorageAddresses,
)
from shared.core.errors import Misconfigured
from shared.core.notify.schedule import Schedule
from shared.core.notify.webhook_url import UrlPolicy
from shared.engines.entry import Entry
from shared.engines.registry import ENGINES
from shared.setting_table import Setting
from shared.setting_table.rows import SETTINGS
from shared.setting_table.values import Values

if TYPE_CHECKING:
    from shared.core.notify.channels import Channel


def table_of(engines: Mapping[str, Entry]) -> Mapping[str, Setting]:
    """The settings of the app and of its engines, by name."""
    theirs = {name: one for entry in engines.values() for name, one in entry.settings.items()}
    return MappingProxyType({**SETTINGS, **theirs})


#: What a client that sends files to a deployment needs to know of it, beside the addresses of its storage.
CLIENT_SETTINGS = (
    "SLIPWAY_DROP_CONTAINER",
    "SLIPWAY_RECEIPTS_CONTAINER",
    "SLIPWAY_SETTLE_SECONDS",
    "SLIPWAY_STDOUT_PREFIX",
    "SLIPWAY_CODE_MIB",
    "SLIPWAY_LEDGER_TABLE",
)
#: Every setting that there is.
TABLE = table_of(ENGINES)


@dataclass(frozen=True)
class Settings(Values):
    """The values, checked for their kind on first use; an error names the setting."""

    #: the table by which they are read
    known_settings: Mapping[str, Setting] = field(default_factory=lambda: TABLE, repr=False)

    def check(self) -> None:
        """Read each of them as its kind. Raises Misconfigured."""
        for name in self.known_settings:
            self.value(name)

    def unknown(self) -> dict[str, str]:
        """Names that look like settings and are none → the nearest one, or ""."""
        ours = (name for name in self.values if name.startswith("SLIPWAY_"))
        return {
            name: next(iter(difflib.get_close_matches(name, self.known_settings, 1, 0.8)), "")
            for name in ours
            if name.partition("__")[0] not in self.known_settings
        }

    def connection(self) -> StorageAddresses:
        """How storage is reached, in the Functions convention (`__blobServiceUri`)."""
        string = self.values.get("SLIPWAY_STORAGE", "").strip()
        if string == "UseDevelopmentStorage=true":
            string = DEVELOPMENT
        blob, queue, table = (
            self.values.get(f"SLIPWAY_STORAGE__{kind}ServiceUri", "").strip()
            for kind in ("blob", "queue", "table")
        )
        if not string and not (blob and queue and table):
            raise Misconfigured(
                "SLIPWAY_STORAGE is not set: give a connection string, or SLIPWAY_STORAGE__blobServiceUri, "
                "__queueServiceUri and __tableServiceUri with an identity"
            )
        return StorageAddresses(string, blob, queue, table)

    def client_settings(self) -> dict[str, str]:
        """What a client of this deployment needs, beside the addresses of storage; none of it is secret."""
        return {name: self.text(name) for name in CLIENT_SETTINGS}

    def account(self) -> MountAccount:
        """Storage account and key for mounts; the key may be empty."""
        name, key = self.text("AZURE_BATCHAI_STORAGE_ACCOUNT"), self.text("AZURE_BATCHAI_STORAGE_KEY")
        if name:
            return MountAccount(name, key)
        string, blob, *_ = self.connection()
        if not string:
            return MountAccount(blob.partition("://")[2].partition(".")[0], key)
        parts = dict(part.partition("=")[::2] for part in string.split(";") if part)
        return MountAccount(parts.get("AccountName", ""), key or parts.get("AccountKey", ""))

    def storage_suffix(self) -> str:
        """The cloud of that account: what follows ACCOUNT.file. in the addresses of its shares.

        The one of SLIPWAY_STORAGE, by its EndpointSuffix or the address of its blobs. An emulator has none of
        its own: it serves the names of the usual cloud.
        """
        string, blob, *_ = self.connection()
        parts = dict(part.strip().partition("=")[::2] for part in string.split(";"))
        host = urlsplit(parts.get("BlobEndpoint") or blob).hostname or ""
        return parts.get("EndpointSuffix") or host.partition(".blob.")[2] or "core.windows.net"

    def own_hosts(self) -> frozenset[str]:
        """Our own host names: those of the setting, and the one that App Service gave the app."""
        host = self.values.get("WEBSITE_HOSTNAME", "").partition(":")[0]
        return frozenset((*self.names("SLIPWAY_OWN_HOSTS"), *([host] if host else [])))

    def urls(self) -> UrlPolicy:
        """The addresses that may be called."""
        return UrlPolicy(
            ports=self.ports("SLIPWAY_WEBHOOK_PORTS"),
            allow_loopback=self.flag("SLIPWAY_WEBHOOK_LOOPBACK"),
            own_hosts=self.own_hosts(),
        )

    def channels(self) -> dict[str, Channel]:
        """Where messages for people go, by name."""
        name = "SLIPWAY_CHANNELS"
        if (document := self.document(name)) == {}:
            return {}
        from shared.core.notify.channels import channels_from

        try:
            return channels_from(document, self.urls())
        except ValueError as error:
            raise Misconfigured(f"{name}: {error}") from None

    def page(self) -> str:
        """The address of the page for browsers, where App Service gave the app a name; else ""."""
        host = self.values.get("WEBSITE_HOSTNAME", "")
        return f"https://{host}/api/ui/" if host.partition(":")[0] not in ("", "localhost") else ""

    def cluster_id(self, cluster: str) -> str:
        """The id by which job files name a cluster of any engine."""
        subscription, group = self.text("SLIPWAY_SUBSCRIPTION"), self.text("SLIPWAY_RESOURCE_GROUP")
        return (
            f"/subscriptions/{subscription}/resourceGroups/{group}/providers/Microsoft.BatchAI"
            f"/workspaces/{self.text('SLIPWAY_WORKSPACE')}/clusters/{cluster}"
        )

    def owner(self) -> str:
        """Whose ledger this is: another app on the same storage is refused, unless it says the same."""
        name, slot = (self.values.get(f"WEBSITE_{one}_NAME", "") for one in ("SITE", "SLOT"))
        site = f"{name}/{slot}" if slot.lower() not in ("", "production") else name
        return self.text("SLIPWAY_OWNER") or site or "local"

    def retention(self) -> timedelta:
        """How long finished records stay; none for good. Longer than the inventory looks back."""
        whole, window = self.days("SLIPWAY_RETENTION_DAYS"), self.days("SLIPWAY_INVENTORY_DAYS")
        if whole and whole <= window:
            raise Misconfigured(
                f"SLIPWAY_RETENTION_DAYS is {whole.days} and SLIPWAY_INVENTORY_DAYS is {window.days}: the "
                "inventory would look again at drops whose records are archived; keep records longer than it "
                "looks back"
            )
        return whole

    def schedule(self) -> Schedule:
        """The schedule of deliveries. Raises Misconfigured where another setting contradicts it."""
        name = "SLIPWAY_WEBHOOK_SCHEDULE"
        try:
            schedule = Schedule(self.durations(name))
        except ValueError as error:
            raise Misconfigured(f"{name}: {error}") from None
        if (retention := self.retention()) and retention <= schedule.life:
            raise Misconfigured(
                f"{name} keeps an event for {schedule.life.days} days and SLIPWAY_RETENTION_DAYS is "
                f"{retention / timedelta(days=1):g}: a record is archived when its events are settled; keep "
                "records longer, or shorten the schedule"
            )
        return schedule


#: What UseDevelopmentStorage=true stands for: the published account of the storage emulator.
DEVELOPMENT = (
    "DefaultEndpointsProtocol=http;AccountName=devstoreaccount1;"
    "AccountKey=Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==;"
    "BlobEndpoint=http://127.0.0.1:10000/devstoreaccount1;QueueEndpoint=http://127.0.0.1:10001/devstoreaccount1;"
    "TableEndpoint=http://127.0.0.1:10002/devstoreaccount1"
)
