"""The types of resources that a template of ours may make; where a member may open a door, all members.

What is not here is a weakness until someone has thought about it: a type or a member that Azure adds, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from local.bicep.template import Resource, Value

_STORAGE, _SITE, _BATCH = (
    "Microsoft.Storage/storageAccounts",
    "Microsoft.Web/sites",
    "Microsoft.Batch/batchAccounts",
)
_NETWORK, _INSIGHTS, _EVENTS = "Microsoft.Network", "Microsoft.Insights", "Microsoft.EventGrid/systemTopics"
_VIRTUAL_MACHINE = "properties.deploymentConfiguration.virtualMachineConfiguration"
#: type → path → its members; a path that is not named is open
CLOSED: Mapping[str, Mapping[str, str]] = {
    "Microsoft.Authorization/roleAssignments": {"properties": "principalId principalType roleDefinitionId"},
    "Microsoft.Authorization/roleDefinitions": {},
    _BATCH: {"properties": "allowedAuthenticationModes poolAllocationMode publicNetworkAccess"},
    f"{_BATCH}/pools": {
        "properties": "deploymentConfiguration interNodeCommunication metadata networkConfiguration"
        " scaleSettings targetNodeCommunicationMode taskSchedulingPolicy taskSlotsPerNode vmSize",
        "properties.networkConfiguration": "publicIPAddressConfiguration subnetId",
        _VIRTUAL_MACHINE: "imageReference nodeAgentSkuId",
    },
    "Microsoft.Consumption/budgets": {},
    _EVENTS: {"properties": "source topicType"},
    f"{_EVENTS}/eventSubscriptions": {
        "properties": "deadLetterWithResourceIdentity deliveryWithResourceIdentity eventDeliverySchema"
        " filter retryPolicy"
    },
    f"{_INSIGHTS}/actionGroups": {"properties": "emailReceivers enabled groupShortName"},
    f"{_INSIGHTS}/components": {"properties": "Application_Type DisableLocalAuth WorkspaceResourceId"},
    f"{_INSIGHTS}/metricAlerts": {},
    f"{_INSIGHTS}/scheduledQueryRules": {},
    f"{_INSIGHTS}/workbooks": {},
    "Microsoft.KeyVault/vaults": {
        "properties": "enableRbacAuthorization enableSoftDelete networkAcls publicNetworkAccess sku"
        " softDeleteRetentionInDays tenantId",
        "properties.networkAcls": "bypass defaultAction",
    },
    "Microsoft.ManagedIdentity/userAssignedIdentities": {"properties": ""},
    f"{_NETWORK}/privateDnsZones": {},
    f"{_NETWORK}/privateDnsZones/virtualNetworkLinks": {},
    f"{_NETWORK}/privateEndpoints": {},
    f"{_NETWORK}/privateEndpoints/privateDnsZoneGroups": {},
    f"{_NETWORK}/virtualNetworks": {"properties": "addressSpace subnets"},
    "Microsoft.OperationalInsights/workspaces": {
        "properties": "features retentionInDays sku workspaceCapping",
        "properties.features": "disableLocalAuth",
    },
    "Microsoft.Resources/resourceGroups": {},
    _STORAGE: {
        "properties": "accessTier allowBlobPublicAccess allowCrossTenantReplication allowSharedKeyAccess"
        " defaultToOAuthAuthentication minimumTlsVersion networkAcls publicNetworkAccess"
        " supportsHttpsTrafficOnly",
        "properties.networkAcls": "bypass defaultAction",
    },
    f"{_STORAGE}/blobServices": {"properties": "containerDeleteRetentionPolicy deleteRetentionPolicy"},
    f"{_STORAGE}/blobServices/containers": {"properties": "publicAccess"},
    f"{_STORAGE}/queueServices": {"properties": ""},
    f"{_STORAGE}/queueServices/queues": {"properties": ""},
    f"{_STORAGE}/tableServices": {"properties": ""},
    f"{_STORAGE}/tableServices/tables": {"properties": ""},
    "Microsoft.Web/serverfarms": {},
    _SITE: {
        "properties": "functionAppConfig httpsOnly keyVaultReferenceIdentity serverFarmId siteConfig"
        " virtualNetworkSubnetId",
        "properties.siteConfig": "ftpsState http20Enabled minTlsVersion scmMinTlsVersion",
    },
    f"{_SITE}/basicPublishingCredentialsPolicies": {"properties": "allow"},
    f"{_SITE}/config": {},
}


def opened(resource: Resource) -> Iterator[tuple[Value, str]]:
    """What a resource has, or is, that is not in the list."""
    kind = resource.type.partition("@")[0]
    if kind not in CLOSED:
        yield resource.body, f"{resource.symbol}: no template here makes {kind}"
        return
    for path, allowed in CLOSED[kind].items():
        values = [resource.body]
        for step in path.split("."):
            values = [one.members[step] for value in values for one in _options(value) if step in one.members]
        for value in values:
            for option in _options(value):
                for name in sorted(set(option.members) - set(allowed.split())):
                    yield (
                        option.members[name],
                        f"{resource.symbol}: {path}.{name} is not in local/bicep/closed.py",
                    )


def _options(value: Value) -> tuple[Value, ...]:
    """A value, or each that it can be: by a condition, or in a loop."""
    return value.items if value.kind in ("choice", "array") else (value,)
