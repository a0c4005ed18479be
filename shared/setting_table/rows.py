"""The table of settings, from which the documentation, the example file and the checks at start are made.

These are the app's own; an engine's are in its entry of the registry. `shared.settings.TABLE` holds all.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from types import MappingProxyType

from shared.jobspec import Limits
from shared.setting_table import LARGEST, LONGEST_DAYS, Bounds, Setting

_ONE_AT_LEAST = Bounds(1, LARGEST)
#: The number of a shard has three digits in the keys of the table.
_SHARDS = Bounds(1, 1_000)
#: An entity of the ledger holds 1 MiB, as UTF-16, and more than the document (`deployment_limits`).
_DOCUMENT_BYTES = Bounds(1, 500_000)
#: An event keeps the addresses and the tries of all its receivers in one entity.
_RECEIVERS = Bounds(0, 50)
#: Minutes: of a week, as a job may last by default; and of a warning that a person can answer.
_IDLE, _GRACE = Bounds(0, 10_080), Bounds(5, 1_440)
#: Jobs of a few seconds at least; with a limit of zero no job would be valid.
_WALL_CLOCK, _HOURS = Bounds(0.001, LONGEST_DAYS * 24), Bounds(0.001, LARGEST)
#: The longest job that the format permits by default, in hours.
_LONGEST = f"{Limits.max_wall_clock / timedelta(hours=1):g}"


def _idle_flaw(minutes: float) -> str:
    """Why a time is too short to tell an idle job; nodes report every 15 s, later less often."""
    flaw = "a job that loads its data would be warned; write 10 or more, or 0 for never"
    return flaw if 0 < minutes < 10 else ""


_ROWS: Mapping[str, Setting] = {
    "SLIPWAY_STORAGE": Setting(
        "first",
        "text",
        "",
        "connection string of the storage account; or set SLIPWAY_STORAGE__blobServiceUri, "
        "SLIPWAY_STORAGE__queueServiceUri and SLIPWAY_STORAGE__tableServiceUri for the app's identity",
        example="UseDevelopmentStorage=true",
    ),
    "SLIPWAY_CLUSTERS": Setting(
        "first",
        "table",
        "",
        "cluster → its `engine` and options ([engines](engines.md), [facts](engines.md#facts-of-clusters))",
    ),
    "SLIPWAY_SEAL_KEY": Setting(
        "first", "names", "", "32 bytes in base64: seals secrets, proves records; to rotate, the newest first"
    ),
    "SLIPWAY_WEBHOOK_SECRETS": Setting(
        "first", "document", "{}", 'JSON: name → "whsec_…", ["new", "old"] or {"secret": …, "hosts": […]}'
    ),
    "SLIPWAY_DEFAULT_NOTIFY": Setting(
        "first", "objects", "[]", "JSON list of receivers for jobs that name none"
    ),
    "SLIPWAY_CHANNELS": Setting(
        "first",
        "document",
        "{}",
        "JSON: name → a channel of messages ([how](../how-to/tell-people.md)); secret",
    ),
    "SLIPWAY_CLUSTER": Setting(
        "clusters",
        "text",
        "dev-cluster-00",
        "cluster of jobs that name none; unset: the first one that SLIPWAY_CLUSTERS describes",
    ),
    "SLIPWAY_SUBSCRIPTION": Setting(
        "clusters", "text", "00000000-0000-0000-0000-000000000000", "subscription of the workspace"
    ),
    "SLIPWAY_RESOURCE_GROUP": Setting("clusters", "text", "slipway", "resource group of the workspace"),
    "SLIPWAY_WORKSPACE": Setting("clusters", "text", "dev", "workspace in the ids of clusters"),
    "SLIPWAY_STDOUT_PREFIX": Setting(
        "clusters", "text", "$AZ_BATCHAI_MOUNT_ROOT/logs", "stdOutErrPathPrefix of jobs that name none"
    ),
    "SLIPWAY_UNMANAGED_MOUNTS": Setting(
        "clusters", "flag", "false", "allow mount commands in jobs (they run as root)"
    ),
    "AZURE_BATCHAI_STORAGE_ACCOUNT": Setting(
        "clusters", "text", "", "storage account for mounts; empty: the one of SLIPWAY_STORAGE"
    ),
    "AZURE_BATCHAI_STORAGE_KEY": Setting(
        "clusters", "text", "", "its key; empty: the one of SLIPWAY_STORAGE"
    ),
    "SLIPWAY_REGION": Setting(
        "clusters", "text", "", "region of the clusters, for prices; empty: those of every region"
    ),
    "SLIPWAY_PRICES": Setting(
        "clusters", "objects", "[]", "node prices, ahead of those that ship ([explain](explain.md#prices))"
    ),
    "SLIPWAY_TENANT": Setting("access", "text", "", "Entra tenant of the API's tokens; empty: function keys"),
    "SLIPWAY_AUDIENCE": Setting(
        "access", "names", "", "their audiences, comma separated: api://…; the application's id (the page)"
    ),
    "SLIPWAY_AUTHORITY": Setting(
        "access", "text", "https://login.microsoftonline.com", "where the tenant's keys are published"
    ),
    "SLIPWAY_NAMED_KEYS": Setting(
        "access",
        "document",
        "{}",
        "JSON: name → hash and roles of its key ([how](../how-to/share-clusters.md#named-keys)); never empty",
        if_empty="was its file read? Name keys, or remove it",
    ),
    "AZURE_CLIENT_ID": Setting("access", "text", "", "client id of a user-assigned identity"),
    "SLIPWAY_WEBHOOK_SCHEDULE": Setting(
        "webhooks",
        "durations",
        "5s,5m,30m,2h,5h,10h,14h,20h,24h",  # the example schedule of Standard Webhooks 1.0.0
        "waits between the tries of an event, comma separated (s, m, h or d); the first try is made at once "
        "([the schedule](webhooks.md#the-schedule))",
    ),
    "SLIPWAY_WEBHOOK_PORTS": Setting("webhooks", "ports", "443", "ports that webhook addresses may name"),
    "SLIPWAY_WEBHOOK_LOOPBACK": Setting(
        "webhooks",
        "flag",
        "false",
        "allow webhook addresses on this machine; only for local use",
        example="true",
    ),
    "SLIPWAY_OWN_HOSTS": Setting(
        "webhooks", "names", "", "our own host names besides WEBSITE_HOSTNAME: refused as webhook addresses"
    ),
    "SLIPWAY_SOURCE": Setting(
        "webhooks", "text", "urn:slipway", "source of the events (CloudEvents)", example="urn:slipway:local"
    ),
    "SLIPWAY_RECEIPTS": Setting(
        "webhooks",
        "choice",
        "drops",
        "which jobs get a receipt; those of drops include jobs without a webhook",
        example="all",
        words=("drops", "all"),
    ),
    "SLIPWAY_NOTICES": Setting("webhooks", "flag", "false", "also send every event to the queue job-notices"),
    "SLIPWAY_RULES_URL": Setting(
        "webhooks", "address", "", "where docs/rules is, for links in diagnostics; empty: in the project"
    ),
    "SLIPWAY_MAX_DOCUMENT_BYTES": Setting(
        "limits", "whole", f"{Limits.max_bytes}", "size of a job.json", bounds=_DOCUMENT_BYTES
    ),
    "SLIPWAY_MAX_NODES": Setting(
        "limits", "whole", f"{Limits.max_nodes}", "nodes of a job", bounds=_ONE_AT_LEAST
    ),
    "SLIPWAY_MAX_WALL_CLOCK_HOURS": Setting(
        "limits", "hours", _LONGEST, "wall-clock limit of a job", bounds=_WALL_CLOCK
    ),
    "SLIPWAY_MAX_NODE_HOURS": Setting(
        "limits", "number", f"{Limits.max_node_hours}", "nodes times wall-clock limit of a job", bounds=_HOURS
    ),
    "SLIPWAY_MAX_RECEIVERS": Setting(
        "limits", "whole", f"{Limits.max_receivers}", "receivers that a job may name", bounds=_RECEIVERS
    ),
    "SLIPWAY_MAX_JOBS_PER_HOUR": Setting(
        "limits", "whole", "10000", "jobs of one caller or door in an hour; 0: any number"
    ),
    "SLIPWAY_MAX_ACTIVE_JOBS": Setting(
        "limits", "whole", "10000", "jobs that are submitted and not ended; 0: any number"
    ),
    "SLIPWAY_IDLE_GPU_MINUTES": Setting(
        "limits",
        "minutes",
        "0",
        "minutes after which a running job is warned whose GPUs are all idle "
        "([idle jobs](../how-to/share-clusters.md#end-jobs-that-do-nothing)), 10 at least; 0: never",
        bounds=_IDLE,
        check=_idle_flaw,
    ),
    "SLIPWAY_IDLE_LOG_MINUTES": Setting(
        "limits",
        "minutes",
        "0",
        "minutes after which a running job is warned that prints nothing, 10 at least; 0: never",
        bounds=_IDLE,
        check=_idle_flaw,
    ),
    "SLIPWAY_IDLE_GRACE_MINUTES": Setting(
        "limits", "minutes", "30", "minutes after its warning when an idle job ends", bounds=_GRACE
    ),
    "SLIPWAY_MAX_HOLD": Setting(
        "limits",
        "duration",
        "PT0S",
        "for how long a failed job may [keep its nodes](../how-to/keep-a-failed-job.md); PT0S: not at all",
    ),
    "SLIPWAY_PAUSED": Setting(
        "limits", "flag", "false", "stop submissions, not acceptance; `slipway pause --all` needs no restart"
    ),
    "SLIPWAY_ENTER": Setting(
        "limits", "flag", "true", "allow shells in running jobs, on clusters whose option `enter` offers them"
    ),
    "SLIPWAY_ENTER_CA": Setting(
        "access",
        "text",
        "",
        "an ed25519 key that signs "
        "[certificates for login nodes](../how-to/certificates-for-a-login-node.md); empty: none",
    ),
    "SLIPWAY_BLOB_SOURCE": Setting(
        "timing",
        "choice",
        "EventGrid",
        "how drops are noticed; Flex Consumption knows the first way only",
        example="LogsAndContainerScan",
        words=("EventGrid", "LogsAndContainerScan"),
    ),
    "SLIPWAY_SETTLE_SECONDS": Setting("timing", "seconds", "3", "how long a dropped folder must be quiet"),
    "SLIPWAY_SWEEPER_SCHEDULE": Setting(
        "timing", "crontab", "0 * * * * *", "NCRONTAB of the sweeper", example="*/2 * * * * *"
    ),
    "SLIPWAY_INVENTORY_SECONDS": Setting(
        "timing",
        "seconds",
        "120",
        "how often a pass of the sweeper makes an inventory, at the most; 0: never",
        example="30",
    ),
    "SLIPWAY_INVENTORY_DAYS": Setting(
        "timing", "days", "7", "how old a dropped file may be for the inventory"
    ),
    "SLIPWAY_RETENTION_DAYS": Setting(
        "timing", "days", "30", "when the record of a finished job moves into the archive; 0: never"
    ),
    "SLIPWAY_SUBMIT_LEASE_SECONDS": Setting(
        "timing", "seconds", "60", "when the sweeper repeats a submission that did not finish"
    ),
    "SLIPWAY_DELIVER_GRACE_SECONDS": Setting(
        "timing", "seconds", "30", "when the sweeper delivers an event that was not delivered at once"
    ),
    "SLIPWAY_DROP_CONTAINER": Setting("storage", "container", "scripts", "container of drops"),
    "SLIPWAY_RECEIPTS_CONTAINER": Setting("storage", "container", "runs", "container of receipts"),
    "SLIPWAY_ARCHIVE_CONTAINER": Setting("storage", "container", "archive", "container of archived records"),
    "SLIPWAY_SNAPSHOTS_CONTAINER": Setting(
        "storage", "container", "snapshots", "container of the archives of jobs' code"
    ),
    "SLIPWAY_SPEC_CONTAINERS": Setting("storage", "containers", "scripts", "where specBlob may point to"),
    "SLIPWAY_MOUNTABLE": Setting(
        "storage",
        "containers",
        "datalake,logs",
        "containers and shares that jobs may mount without a key of their own, comma separated "
        "([what a job may mount](../explanation/secrets.md#what-a-job-may-mount))",
    ),
    "SLIPWAY_LEDGER_TABLE": Setting("storage", "ledger", "slipway", "table of the ledger"),
    "SLIPWAY_ADDRESS_MINUTES": Setting(
        "storage",
        "minutes",
        "0",
        "minutes for which a signed address lets callers read a finished job's file in a container of "
        "SLIPWAY_STORAGE itself ([files](api.md#files-from-storage-itself)); 0: never",
        bounds=Bounds(0, 60),
    ),
    "SLIPWAY_CODE_MIB": Setting(
        "limits",
        "whole",
        "256",
        "MiB of the archive with a job's code; larger files belong into a mounted container",
        bounds=Bounds(1, 4096),
    ),
    "SLIPWAY_OWNER": Setting(
        "storage",
        "text",
        "",
        "app that the ledger belongs to; empty: this app's name and slot, and `local` outside of Azure",
    ),
    "SLIPWAY_SHARDS": Setting(
        "storage", "whole", "4", "partitions of the ledger; fixed when the table is made", bounds=_SHARDS
    ),
    "SLIPWAY_OTLP_URL": Setting(
        "telemetry", "address", "", "OTLP collector for metrics and traces, e.g. http://127.0.0.1:4318"
    ),
    "SLIPWAY_INSIGHTS": Setting(
        "telemetry", "flag", "false", "send metrics and traces to Application Insights"
    ),
    "APPLICATIONINSIGHTS_CONNECTION_STRING": Setting(
        "telemetry", "text", "", "where it is, for SLIPWAY_INSIGHTS"
    ),
}

SETTINGS: Mapping[str, Setting] = MappingProxyType(_ROWS)
