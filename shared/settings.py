"""Every setting, read once from the environment into a frozen object, before the first invocation.

Beside it only `functions/bindings.py` reads settings: the host asks for those while it indexes the app.
"""

from __future__ import annotations

import difflib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

from shared.core.account import (
    CONTAINER_RULE,
    TABLE_RULE,
    MountAccount,
    StorageAddresses,
    is_container,
    is_table,
)
from shared.core.errors import Misconfigured
from shared.core.notify.schedule import Schedule, durations
from shared.engines.entry import Entry
from shared.engines.registry import ENGINES
from shared.setting_table import SETTINGS, Setting


def table_of(engines: Mapping[str, Entry]) -> Mapping[str, Setting]:
    """The settings of the app and of its engines, by name."""
    theirs = {name: one for entry in engines.values() for name, one in entry.settings.items()}
    return MappingProxyType({**SETTINGS, **theirs})


#: Every setting that there is.
TABLE = table_of(ENGINES)


@dataclass(frozen=True)
class Settings:
    """The values, checked for their kind on first use; an error names the setting."""

    values: Mapping[str, str] = field(repr=False)
    #: the table by which they are read
    known_settings: Mapping[str, Setting] = field(default_factory=lambda: TABLE, repr=False)

    def check(self) -> None:
        """Read each of them as its kind. Raises Misconfigured."""
        for name, setting in self.known_settings.items():
            getattr(self, setting.kind)(name)

    def unknown(self) -> dict[str, str]:
        """Names that look like settings and are none → the nearest one, or ""."""
        ours = (name for name in self.values if name.startswith("SLIPWAY_"))
        return {
            name: next(iter(difflib.get_close_matches(name, self.known_settings, 1, 0.8)), "")
            for name in ours
            if name.partition("__")[0] not in self.known_settings
        }

    def text(self, name: str) -> str:
        """A setting as it is; its default where it is unset or empty."""
        value = self.values.get(name, "")
        if value.startswith("@Microsoft.KeyVault("):
            raise Misconfigured(
                f"{name} is an unresolved Key Vault reference: check the identity's role on the vault"
            )
        return value or self.known_settings[name].default

    def number(self, name: str) -> float:
        """A number within its bounds."""
        text, (least, most) = self.text(name), self.known_settings[name].limits
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not least <= value <= most:
            raise Misconfigured(f"{name} must be a number from {least:g} to {most:.0f}, not {text[:40]!r}")
        return value

    def whole(self, name: str) -> int:
        """A setting that is a whole number within its bounds."""
        return int(self.number(name))

    def ports(self, name: str) -> frozenset[int]:
        """Port numbers separated by commas."""
        words, (least, most) = self.names(name), self.known_settings[name].limits
        if not all(word.isascii() and word.isdigit() and least <= int(word) <= most for word in words):
            raise Misconfigured(
                f"{name} must be port numbers from {least:g} to {most:g}, separated by commas"
            )
        return frozenset(int(word) for word in words)

    def objects(self, name: str) -> tuple[dict[str, Any], ...]:
        """A JSON list of objects."""
        document = self.document(name)
        if not isinstance(document, list) or not all(isinstance(one, dict) for one in document):
            raise Misconfigured(f"{name} must be a JSON list of objects")
        return tuple(document)

    def seconds(self, name: str) -> float:
        """A setting that is a duration in seconds."""
        return self.number(name)

    def days(self, name: str) -> timedelta:
        """A setting that is a number of days."""
        return timedelta(days=self.number(name))

    def flag(self, name: str) -> bool:
        """A setting that is true or false."""
        text = self.text(name).lower()
        if text not in ("true", "false", "1", "0"):
            raise Misconfigured(f"{name} must be true or false, not {text!r}")
        return text in ("true", "1")

    def choice(self, name: str) -> str:
        """One of its words, in any case; as the table writes it."""
        text, words = self.text(name), self.known_settings[name].words
        for word in words:
            if word.lower() == text.lower():
                return word
        raise Misconfigured(f"{name} must be one of {', '.join(words)}, not {text[:40]!r}")

    def names(self, name: str) -> tuple[str, ...]:
        """A setting that is a list of words separated by commas."""
        return tuple(word.strip() for word in self.text(name).split(",") if word.strip())

    def container(self, name: str) -> str:
        """The name of a container."""
        return self._named(name, self.text(name))

    def containers(self, name: str) -> tuple[str, ...]:
        """Names of containers, separated by commas."""
        return tuple(self._named(name, one) for one in self.names(name))

    def _named(self, name: str, container: str) -> str:
        if not is_container(container):
            raise Misconfigured(f"{name} must name a container, {CONTAINER_RULE}, not {container[:80]!r}")
        return container

    def ledger(self, name: str) -> str:
        """The name of a table in storage."""
        text = self.text(name)
        if not is_table(text):
            raise Misconfigured(f"{name} must name a table, {TABLE_RULE}, not {text[:80]!r}")
        return text

    def durations(self, name: str) -> tuple[float, ...]:
        """Durations separated by commas, as 90s, 5m, 2h or 1d; in seconds."""
        try:
            return durations(self.text(name))
        except ValueError as error:
            raise Misconfigured(f"{name}: {error}") from None

    def document(self, name: str) -> Any:
        """A JSON value; an error never shows it."""
        try:
            return json.loads(self.text(name))
        except ValueError:
            raise Misconfigured(f"{name} is not JSON") from None

    def connection(self) -> StorageAddresses:
        """How storage is reached, in the Functions convention (`__blobServiceUri`)."""
        string = self.values.get("SLIPWAY_STORAGE", "")
        if string.strip() == "UseDevelopmentStorage=true":
            string = DEVELOPMENT
        blob, queue, table = (
            self.values.get(f"SLIPWAY_STORAGE__{kind}ServiceUri", "") for kind in ("blob", "queue", "table")
        )
        if not string and not (blob and queue and table):
            raise Misconfigured(
                "SLIPWAY_STORAGE is not set: give a connection string, or SLIPWAY_STORAGE__blobServiceUri, "
                "__queueServiceUri and __tableServiceUri with an identity"
            )
        return StorageAddresses(string, blob, queue, table)

    def address(self, name: str) -> str:
        """An address of the web, or nothing."""
        text = self.text(name)
        if text and not text.startswith(("https://", "http://")):
            raise Misconfigured(f"{name} must be an address that starts with https://, not {text!r}")
        return text

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

    def table(self, name: str) -> dict[str, dict[str, Any]]:
        """A JSON object of objects; names separated by commas, as in earlier versions, have empty ones."""
        if not self.text(name).lstrip().startswith(("{", "[")):
            return {one: {} for one in self.names(name)}
        document = self.document(name)
        if not isinstance(document, dict):
            raise Misconfigured(f"{name} must be an object: name of a cluster → its options")
        for one, options in document.items():
            if not isinstance(options, dict):
                raise Misconfigured(f"{name}: {one} must be an object of options")
        return document

    def hours(self, name: str) -> timedelta | None:
        """A number of hours; None for none."""
        return timedelta(hours=self.number(name)) or None

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

    def sweep_parts(self) -> int:
        """Into how many parts a sweep is handed out; each has a shard at least."""
        parts, shards = self.whole("SLIPWAY_SWEEP_PARTS"), self.whole("SLIPWAY_SHARDS")
        if parts > shards:
            raise Misconfigured(
                f"SLIPWAY_SWEEP_PARTS is {parts} and SLIPWAY_SHARDS is {shards}: a part is a shard at "
                "least, so sweep in fewer parts"
            )
        return parts

    def retention(self) -> timedelta:
        """How long finished records stay; none for good. Longer than the inventory looks back."""
        whole, window = self.days("SLIPWAY_RETENTION_DAYS"), self.window()
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

    def window(self) -> timedelta:
        """How far back the inventory looks."""
        return self.days("SLIPWAY_INVENTORY_DAYS")


#: What UseDevelopmentStorage=true stands for: the published account of the storage emulator.
DEVELOPMENT = (
    "DefaultEndpointsProtocol=http;AccountName=devstoreaccount1;"
    "AccountKey=Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==;"
    "BlobEndpoint=http://127.0.0.1:10000/devstoreaccount1;QueueEndpoint=http://127.0.0.1:10001/devstoreaccount1;"
    "TableEndpoint=http://127.0.0.1:10002/devstoreaccount1"
)
