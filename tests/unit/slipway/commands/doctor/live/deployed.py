"""A deployment on Azure in good order, as Resource Manager describes it; tests change one answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from slipway.commands.doctor.live.resources import DISABLED, NEEDED

GROUP = "/subscriptions/s-1/resourceGroups/rg-dev"
PROVIDERS = f"{GROUP}/providers"
STORAGE, SITE = (
    f"{PROVIDERS}/Microsoft.Storage/storageAccounts/st1",
    f"{PROVIDERS}/Microsoft.Web/sites/func-1",
)
DEPLOYMENTS = f"{PROVIDERS}/Microsoft.Resources/deployments"
REFERENCES, SETTINGS = f"{SITE}/config/configreferences/appsettings", f"{SITE}/config/appsettings/list"
EVENTS = f"{PROVIDERS}/Microsoft.EventGrid/systemTopics/evgt-1/eventSubscriptions/drops"
HOST = f"{SITE}/hostruntime/admin"
QUERY = f"{PROVIDERS}/Microsoft.Insights/components/appi-1/query"
ACCOUNT = f"{PROVIDERS}/Microsoft.Batch/batchAccounts/ba1"
POOL = f"{ACCOUNT}/pools/gpu"
#: What azd keeps of it.
VALUES = {
    "AZURE_ENV_NAME": "dev",
    "AZURE_SUBSCRIPTION_ID": "s-1",
    "AZURE_LOCATION": "westeurope",
    "AZURE_RESOURCE_GROUP": "rg-dev",
    "AZURE_FUNCTION_APP_NAME": "func-1",
    "AZURE_KEY_VAULT_NAME": "kv-1",
    "AZURE_STORAGE_ACCOUNT_NAME": "st1",
    "AZURE_EVENT_TOPIC_NAME": "evgt-1",
    "AZURE_INSIGHTS_NAME": "appi-1",
    "AZURE_BATCH_ACCOUNT_NAME": "ba1",
}

_ACCOUNT = {
    "allowSharedKeyAccess": False,
    "allowBlobPublicAccess": False,
    "supportsHttpsTrafficOnly": True,
    "minimumTlsVersion": "TLS1_2",
    "networkAcls": {"defaultAction": "Allow", "bypass": "AzureServices"},
}
_PACKAGE = {"deployment": {"storage": {"authentication": {"type": "UserAssignedIdentity"}}}}
_SETTINGS = {
    "AzureWebJobsStorage__credential": "managedidentity",
    "SLIPWAY_STORAGE__credential": "managedidentity",
    "SLIPWAY_SEAL_KEY": "@Microsoft.KeyVault(SecretUri=https://kv-1.vault.azure.net/secrets/seal-key)",
}
_BY_IDENTITY = {"identity": {"type": "SystemAssigned"}}
_EVENTS = {
    "provisioningState": "Succeeded",
    "deliveryWithResourceIdentity": _BY_IDENTITY,
    "deadLetterWithResourceIdentity": _BY_IDENTITY,
}
METRIC_ALERT = {"properties": {"enabled": True, "actions": [{"actionGroupId": "ag"}]}}
QUERY_ALERT = {"properties": {"enabled": True, "actions": {"actionGroups": ["ag"]}}}
_POOL = {
    "vmSize": "STANDARD_NC4AS_T4_V3",
    "currentDedicatedNodes": 1,
    "currentLowPriorityNodes": 0,
    "scaleSettings": {"autoScale": {"formula": "pending = $PendingTasks.GetSample(1);"}},
    "autoScaleRun": {"evaluationTime": "2026-09-01T10:00:00Z", "results": "$TargetDedicatedNodes=1"},
}
_COLUMNS = [{"name": "count_", "type": "long"}]


def function(name: str, *, disabled: bool = False) -> dict[str, Any]:
    return {"name": f"func-1/{name}", "properties": {"isDisabled": disabled}}


def environment(folder: Path, **changes: str) -> None:
    """The folder of a clone in which azd has that environment."""
    directory = folder / ".azure" / "dev"
    directory.mkdir(parents=True)
    (folder / ".azure" / "config.json").write_text('{"version": 1, "defaultEnvironment": "dev"}')
    lines = [f"{name}={json.dumps(value)}\n" for name, value in (VALUES | changes).items()]
    (directory / ".env").write_text("".join(lines))


def reference(name: str, secret: str, status: str = "Resolved") -> dict[str, Any]:
    """A reference of the app's settings to the vault."""
    text = f"@Microsoft.KeyVault(SecretUri=https://kv-1.vault.azure.net/secrets/{secret})"
    properties = {"reference": text, "status": status, "vaultName": "kv-1", "secretName": secret}
    return {"id": f"{REFERENCES}/{name}", "name": name, "properties": properties}


def answers() -> dict[str, Any]:
    """By path."""
    parts = [
        {"name": name, "properties": {"provisioningState": "Succeeded"}}
        for name in ("identity", "storage", "dispatcher")
    ]
    references = [
        reference("SLIPWAY_SEAL_KEY", "seal-key"),
        reference("SLIPWAY_WEBHOOK_SECRETS", "webhook-secrets"),
    ]
    functions = [*map(function, NEEDED), function(DISABLED, disabled=True)]
    return {
        DEPLOYMENTS: {"value": parts},
        STORAGE: {"name": "st1", "properties": dict(_ACCOUNT)},
        SITE: {"name": "func-1", "properties": {"functionAppConfig": _PACKAGE}},
        SETTINGS: {"properties": dict(_SETTINGS)},
        REFERENCES: {"value": references},
        f"{SITE}/functions": {"value": functions},
        f"{HOST}/host/status": {"id": "func-1", "state": "Running", "version": "4.1037.0.0"},
        **{f"{HOST}/functions/{name}/status": {} for name in NEEDED},
        EVENTS: {"properties": dict(_EVENTS)},
        ACCOUNT: {"properties": {"allowedAuthenticationModes": ["AAD"], "publicNetworkAccess": "Enabled"}},
        POOL: {"identity": {"type": "UserAssigned"}, "properties": dict(_POOL)},
        f"{PROVIDERS}/Microsoft.Insights/metricAlerts": {"value": [dict(METRIC_ALERT)] * 2},
        f"{PROVIDERS}/Microsoft.Insights/scheduledQueryRules": {"value": [dict(QUERY_ALERT)] * 5},
        QUERY: {"tables": [{"name": "PrimaryResult", "columns": _COLUMNS, "rows": [[14]]}]},
    }
