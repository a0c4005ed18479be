"""Every setting, read once from the environment into a frozen object. Nothing else reads the environment.

The table is the documentation: `local.settings.example.json` names each of them, and a test says so.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from shared.errors import Misconfigured

#: name → (default, what it is). Times are in seconds unless the name says otherwise.
SETTINGS: dict[str, tuple[str, str]] = {
    "SLIPWAY_STORAGE": ("", "connection string; or set SLIPWAY_STORAGE__blobServiceUri and so on"),
    "SLIPWAY_DROP_CONTAINER": ("scripts", "container that people drop scripts into"),
    "SLIPWAY_ANSWERS_CONTAINER": ("runs", "container of receipts"),
    "SLIPWAY_ARCHIVE_CONTAINER": ("archive", "container of the records that ended long ago"),
    "SLIPWAY_SPEC_CONTAINERS": ("scripts", "containers that specBlob may point into, comma separated"),
    "SLIPWAY_LEDGER_TABLE": ("slipway", "table of the ledger"),
    "SLIPWAY_SHARDS": ("4", "partitions of the ledger; fixed when the table is made"),
    "SLIPWAY_BLOB_SOURCE": ("EventGrid", "how drops are noticed: EventGrid, or LogsAndContainerScan"),
    "SLIPWAY_SWEEP_SCHEDULE": ("0 * * * * *", "NCRONTAB of the sweep"),
    "SLIPWAY_INVENTORY_SCHEDULE": ("30 */2 * * * *", "NCRONTAB of the inventory"),
    "SLIPWAY_ARCHIVE_SCHEDULE": ("0 7/10 * * * *", "NCRONTAB of the archiving"),
    "SLIPWAY_SOURCE": ("urn:slipway", "source of the events (CloudEvents)"),
    "SLIPWAY_BATCHAI_URL": ("https://management.azure.com", "Batch AI API, or an emulator"),
    "SLIPWAY_SUBSCRIPTION": ("00000000-0000-0000-0000-000000000000", "subscription of the workspace"),
    "SLIPWAY_RESOURCE_GROUP": ("slipway", "resource group of the workspace"),
    "SLIPWAY_WORKSPACE": ("dev", "Batch AI workspace"),
    "SLIPWAY_CLUSTER": ("dev-cluster-00", "default cluster"),
    "SLIPWAY_CLUSTERS": ("", "all clusters, comma separated; empty: only the default one"),
    "SLIPWAY_SLURM": ("{}", "JSON: clusters that are Slurm's → how to reach and use them (see engines)"),
    "SLIPWAY_SLURM_KEYS": ("{}", "JSON: Slurm cluster → its JWT key in base64, or a token"),
    "SLIPWAY_CLUSTER_MOUNTS": ("", "mounts of the clusters, comma separated; empty: unknown"),
    "SLIPWAY_CLUSTER_NODES": ("0", "most nodes of a cluster, for warnings; 0: unknown"),
    "SLIPWAY_CLUSTER_GPUS": ("0", "GPUs of a node, for warnings; 0: unknown"),
    "SLIPWAY_CLUSTER_WALL_CLOCK_HOURS": ("0", "longest job of a cluster, for warnings; 0: unknown"),
    "SLIPWAY_STDOUT_PREFIX": ("$AZ_BATCHAI_MOUNT_ROOT/logs", "stdOutErrPathPrefix of jobs that name none"),
    "SLIPWAY_UNMANAGED_MOUNTS": ("false", "allow mount commands in jobs (they run as root)"),
    "AZURE_CLIENT_ID": ("", "client id of a user-assigned identity"),
    "AZURE_BATCHAI_STORAGE_ACCOUNT": ("", "storage account for mounts; empty: the one of SLIPWAY_STORAGE"),
    "AZURE_BATCHAI_STORAGE_KEY": ("", "its key; empty: the one of SLIPWAY_STORAGE"),
    "SLIPWAY_TENANT": ("", "Entra tenant whose tokens the API asks for; empty: function keys"),
    "SLIPWAY_AUDIENCE": ("", "audiences of those tokens, comma separated: the application's id, api://…"),
    "SLIPWAY_AUTHORITY": ("https://login.microsoftonline.com", "where the tenant's keys are published"),
    "SLIPWAY_SEAL_KEY": ("", "32 bytes in base64 that seal secret values; comma separated for rotation"),
    "SLIPWAY_WEBHOOK_SECRETS": ("{}", 'JSON: name → "whsec_…" or ["new", "old"]; "default" is the default'),
    "SLIPWAY_DEFAULT_NOTIFY": ("[]", "JSON list of subscriptions for jobs that name none"),
    "SLIPWAY_WEBHOOK_LOOPBACK": ("false", "allow webhook addresses on this machine; only for local use"),
    "SLIPWAY_WEBHOOK_PORTS": ("443", "ports that webhook addresses may name"),
    "SLIPWAY_OWN_HOSTS": ("", "our own host names, refused as webhook addresses"),
    "SLIPWAY_RECEIPTS": (
        "drops",
        "whose ends get a receipt: drops, and jobs that tell nobody else; or all",
    ),
    "SLIPWAY_RULES_URL": (
        "",
        "address of docs/rules, for links in diagnostics; empty: the path in the project",
    ),
    "SLIPWAY_WEBHOOK_ORIGIN": (
        "",
        "our DNS name: receivers are asked for consent first; empty: they are not",
    ),
    "SLIPWAY_WEBHOOKS_PER_HOST": ("4", "deliveries under way to one receiver, in one process"),
    "SLIPWAY_WEBHOOKS_AT_ONCE": ("256", "deliveries under way in one process"),
    "SLIPWAY_BREAKER_FAILURES": ("5", "failures in a row after which a cluster or receiver is left alone"),
    "SLIPWAY_BREAKER_SECONDS": ("30", "for how long, before one try probes it"),
    "SLIPWAY_BREAKER_LONGEST_SECONDS": ("900", "the same for a receiver that fails on and on"),
    "SLIPWAY_NOTICES": ("false", "also send every event to the queue job-notices"),
    "SLIPWAY_REGION": ("", "region of the clusters, for prices; empty: those of every region"),
    "SLIPWAY_PRICES": ("[]", "JSON list of prices of nodes, which win over those that ship (see explain)"),
    "SLIPWAY_JSON_LOGS": ("true", "log one JSON object a line; false: as the host formats it"),
    "SLIPWAY_OTLP_URL": ("", "OTLP collector for metrics and traces, e.g. http://127.0.0.1:4318"),
    "SLIPWAY_INSIGHTS": ("false", "send metrics and traces to Application Insights"),
    "APPLICATIONINSIGHTS_CONNECTION_STRING": ("", "where it is, for SLIPWAY_INSIGHTS"),
    "SLIPWAY_SETTLE_SECONDS": ("3", "how long a dropped folder must be quiet"),
    "SLIPWAY_DROP_PATIENCE_SECONDS": ("60", "when an incomplete drop gets a note"),
    "SLIPWAY_INVENTORY_DAYS": ("7", "how old a dropped file may be for the inventory"),
    "SLIPWAY_RETENTION_DAYS": ("30", "when the record of a job that ended goes into the archive; 0: never"),
    "SLIPWAY_ARCHIVE_BATCH": ("100", "records of a shard that share one blob of the archive"),
    "SLIPWAY_ARCHIVE_SECONDS": ("120", "how long one run archives; the next goes on"),
    "SLIPWAY_MESSAGE_TRIES": ("40", "tries of a message before it is kept as dead; less than in host.json"),
    "SLIPWAY_DISPATCH_SECONDS": ("20", "deadline of one submission"),
    "SLIPWAY_SUBMIT_LEASE_SECONDS": ("60", "when the sweep repeats a submission that nobody finished"),
    "SLIPWAY_LOST_MISSES": ("3", "how often the engine must not know a job before it is lost"),
    "SLIPWAY_LOST_SECONDS": ("300", "how long the engine must not know a job before it is lost"),
    "SLIPWAY_DELIVER_BATCH": ("50", "events of one receiver delivered at once"),
    "SLIPWAY_DELIVER_SECONDS": ("20", "how long one sweep delivers; 0: all by messages"),
    "SLIPWAY_DELIVER_PATIENCE_SECONDS": ("1", "how long a function waits for receivers that do not answer"),
    "SLIPWAY_SWEEP_SECONDS": ("120", "how long one sweep submits and cancels; the next goes on"),
    "SLIPWAY_SWEEP_PARTS": ("1", "into how many parts a sweep is handed out; at most SLIPWAY_SHARDS"),
    "SLIPWAY_ASK_SECONDS": ("60", "deadline of asking a cluster for its jobs"),
    "SLIPWAY_DELIVER_GRACE_SECONDS": ("30", "when the sweep delivers an event that nobody delivered"),
    "SLIPWAY_MAX_DOCUMENT_BYTES": ("262144", "size of a job.json"),
    "SLIPWAY_MAX_DEPTH": ("64", "objects and lists inside each other in a document; at most 500"),
    "SLIPWAY_MAX_SCRIPT_BYTES": ("16777216", "size of a dropped script"),
    "SLIPWAY_MAX_NODES": ("100", "nodes of a job"),
    "SLIPWAY_MAX_WALL_CLOCK_HOURS": ("168", "wall-clock limit of a job"),
    "SLIPWAY_MAX_NODE_HOURS": ("16800", "nodes of a job times its wall-clock limit"),
    "SLIPWAY_MAX_RECEIVERS": ("5", "receivers that a job may name"),
    "SLIPWAY_MAX_JOBS_PER_HOUR": ("10000", "jobs of one caller or door in an hour; 0: any number"),
    "SLIPWAY_MAX_ACTIVE_JOBS": ("10000", "jobs that are submitted and not ended; 0: any number"),
    "SLIPWAY_PAUSED": (
        "false",
        "stop submissions, not acceptance; `slipway pause` needs no restart",
    ),
}


@dataclass(frozen=True)
class Settings:
    """The values, checked for their kind on first use; an error names the setting."""

    values: Mapping[str, str]

    def text(self, name: str) -> str:
        """A setting as it is; its default where it is unset or empty."""
        value = self.values.get(name, "")
        if value.startswith("@Microsoft.KeyVault("):
            raise Misconfigured(
                f"{name} is an unresolved Key Vault reference: check the identity's role on the vault"
            )
        return value or SETTINGS[name][0]

    def number(self, name: str) -> float:
        """A number of at least zero."""
        text = self.text(name)
        try:
            value = float(text)
        except ValueError:
            value = -1.0
        if not 0 <= value < 1e12:
            raise Misconfigured(f"{name} must be a number of at least 0, not {text!r}")
        return value

    def whole(self, name: str) -> int:
        """A whole number."""
        return int(self.number(name))

    def count(self, name: str) -> int:
        """A whole number of at least one."""
        if (found := self.whole(name)) < 1:
            raise Misconfigured(f"{name} must be at least 1")
        return found

    def ports(self, name: str) -> frozenset[int]:
        """Port numbers separated by commas."""
        words = self.names(name)
        if not all(word.isascii() and word.isdigit() and 0 < int(word) < 65536 for word in words):
            raise Misconfigured(f"{name} must be port numbers separated by commas")
        return frozenset(int(word) for word in words)

    def objects(self, name: str) -> tuple[dict[str, Any], ...]:
        """A JSON list of objects."""
        found = self.document(name)
        if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
            raise Misconfigured(f"{name} must be a JSON list of objects")
        return tuple(found)

    def seconds(self, name: str) -> float:
        """A duration in seconds."""
        return self.number(name)

    def flag(self, name: str) -> bool:
        """true or false."""
        text = self.text(name).lower()
        if text not in ("true", "false", "1", "0"):
            raise Misconfigured(f"{name} must be true or false, not {text!r}")
        return text in ("true", "1")

    def choice(self, name: str, *words: str) -> str:
        """One of some words."""
        text = self.text(name).lower()
        if text not in words:
            raise Misconfigured(f"{name} must be one of {', '.join(words)}, not {text[:40]!r}")
        return text

    def names(self, name: str) -> tuple[str, ...]:
        """Words separated by commas."""
        return tuple(word.strip() for word in self.text(name).split(",") if word.strip())

    def document(self, name: str) -> Any:
        """A JSON value; an error never shows it."""
        try:
            return json.loads(self.text(name))
        except ValueError:
            raise Misconfigured(f"{name} is not JSON") from None

    def connection(self) -> tuple[str, str, str, str]:
        """Connection string, or the three addresses, in the Functions convention (`__blobServiceUri`)."""
        string = self.values.get("SLIPWAY_STORAGE", "")
        if string.strip() == "UseDevelopmentStorage=true":
            string = DEVELOPMENT
        parts = tuple(
            self.values.get(f"SLIPWAY_STORAGE__{kind}ServiceUri", "") for kind in ("blob", "queue", "table")
        )
        if not string and not all(parts):
            raise Misconfigured(
                "SLIPWAY_STORAGE is not set: give a connection string, or SLIPWAY_STORAGE__blobServiceUri, "
                "__queueServiceUri and __tableServiceUri with an identity"
            )
        return string, *parts  # type: ignore[return-value]

    def address(self, name: str) -> str:
        """An address of the web, or nothing."""
        text = self.text(name)
        if text and not text.startswith(("https://", "http://")):
            raise Misconfigured(f"{name} must be an address that starts with https://, not {text!r}")
        return text

    def account(self) -> tuple[str, str]:
        """Storage account and key for mounts; the key may be empty."""
        name, key = self.text("AZURE_BATCHAI_STORAGE_ACCOUNT"), self.text("AZURE_BATCHAI_STORAGE_KEY")
        if name:
            return name, key
        string, blob, *_ = self.connection()
        if not string:
            return blob.partition("://")[2].partition(".")[0], key
        parts = dict(part.partition("=")[::2] for part in string.split(";") if part)
        return parts.get("AccountName", ""), key or parts.get("AccountKey", "")

    def parts(self) -> int:
        """Into how many parts a sweep is handed out; each has a shard at least."""
        parts, shards = self.count("SLIPWAY_SWEEP_PARTS"), self.count("SLIPWAY_SHARDS")
        if parts > shards:
            raise Misconfigured(
                f"SLIPWAY_SWEEP_PARTS is {parts} and SLIPWAY_SHARDS is {shards}: a part is a shard at "
                "least, so sweep in fewer parts"
            )
        return parts

    def retention(self) -> timedelta:
        """How long finished records stay; none for good. Longer than the inventory looks back."""
        kept, window = timedelta(days=self.number("SLIPWAY_RETENTION_DAYS")), self.window()
        if kept and kept <= window:
            raise Misconfigured(
                f"SLIPWAY_RETENTION_DAYS is {kept.days} and SLIPWAY_INVENTORY_DAYS is {window.days}: the "
                "inventory would look again at drops whose records are archived; keep records longer than it "
                "looks back"
            )
        return kept

    def window(self) -> timedelta:
        """How far back the inventory looks."""
        return timedelta(days=self.number("SLIPWAY_INVENTORY_DAYS"))


#: What UseDevelopmentStorage=true stands for: the published account of the storage emulator.
DEVELOPMENT = (
    "DefaultEndpointsProtocol=http;AccountName=devstoreaccount1;"
    "AccountKey=Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==;"
    "BlobEndpoint=http://127.0.0.1:10000/devstoreaccount1;QueueEndpoint=http://127.0.0.1:10001/devstoreaccount1;"
    "TableEndpoint=http://127.0.0.1:10002/devstoreaccount1"
)
