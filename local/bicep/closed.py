"""The resource types that our templates may create, with all their members where one might open a door.

Anything else is a weakness until it has been reviewed, including types and members that Azure adds later.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from local.bicep.resolve import member_at, options
from local.bicep.template import Value

_STORAGE, _SITE, _BATCH = (
    "Microsoft.Storage/storageAccounts",
    "Microsoft.Web/sites",
    "Microsoft.Batch/batchAccounts",
)
_AKS = "Microsoft.ContainerService/managedClusters"
_NETWORK, _INSIGHTS, _EVENTS = "Microsoft.Network", "Microsoft.Insights", "Microsoft.EventGrid/systemTopics"
_VIRTUAL_MACHINE = "properties.deploymentConfiguration.virtualMachineConfiguration"
#: type → path → its members; paths without an entry are open
CLOSED: Mapping[str, Mapping[str, str]] = {
    "Microsoft.Authorization/roleAssignments": {"properties": "principalId principalType roleDefinitionId"},
    _BATCH: {"properties": "allowedAuthenticationModes poolAllocationMode publicNetworkAccess"},
    f"{_BATCH}/pools": {
        "properties": "deploymentConfiguration interNodeCommunication metadata networkConfiguration"
        " scaleSettings taskSchedulingPolicy taskSlotsPerNode vmSize",
        "properties.networkConfiguration": "publicIPAddressConfiguration subnetId",
        _VIRTUAL_MACHINE: "imageReference nodeAgentSkuId",
    },
    _AKS: {
        "properties": "agentPoolProfiles apiServerAccessProfile autoUpgradeProfile dnsPrefix enableRBAC"
        " networkProfile",
        "properties.apiServerAccessProfile": "authorizedIPRanges",
        "properties.networkProfile": "networkDataplane networkPlugin networkPluginMode networkPolicy",
    },
    f"{_AKS}/agentPools": {
        "properties": "count enableAutoScaling maxCount minCount mode nodeLabels nodeTaints osType"
        " scaleSetEvictionPolicy scaleSetPriority spotMaxPrice type vmSize",
    },
    "Microsoft.Consumption/budgets": {"properties": "amount category notifications timeGrain timePeriod"},
    _EVENTS: {"properties": "source topicType"},
    f"{_EVENTS}/eventSubscriptions": {
        "properties": "deadLetterWithResourceIdentity deliveryWithResourceIdentity eventDeliverySchema"
        " filter retryPolicy"
    },
    f"{_INSIGHTS}/actionGroups": {"properties": "emailReceivers enabled groupShortName"},
    f"{_INSIGHTS}/components": {"properties": "Application_Type DisableLocalAuth WorkspaceResourceId"},
    f"{_INSIGHTS}/metricAlerts": {
        "properties": "actions criteria description enabled evaluationFrequency scopes severity windowSize",
        "properties.criteria": "odata.type allOf",
        "properties.criteria.allOf": "criterionType dimensions metricName name operator"
        " threshold timeAggregation",
    },
    f"{_INSIGHTS}/scheduledQueryRules": {
        "properties": "actions autoMitigate criteria description displayName enabled evaluationFrequency"
        " scopes severity skipQueryValidation windowSize",
        "properties.criteria": "allOf",
        "properties.criteria.allOf": "failingPeriods operator query threshold timeAggregation",
        "properties.actions": "actionGroups",
    },
    f"{_INSIGHTS}/workbooks": {},
    "Microsoft.KeyVault/vaults": {
        "properties": "enableRbacAuthorization enableSoftDelete networkAcls publicNetworkAccess sku"
        " softDeleteRetentionInDays tenantId",
        "properties.networkAcls": "bypass defaultAction",
    },
    "Microsoft.ManagedIdentity/userAssignedIdentities": {"properties": ""},
    f"{_NETWORK}/privateDnsZones": {"properties": ""},
    f"{_NETWORK}/privateDnsZones/virtualNetworkLinks": {
        "properties": "registrationEnabled virtualNetwork",
        "properties.virtualNetwork": "id",
    },
    f"{_NETWORK}/privateEndpoints": {},
    f"{_NETWORK}/privateEndpoints/privateDnsZoneGroups": {},
    f"{_NETWORK}/natGateways": {"properties": "publicIpAddresses"},
    f"{_NETWORK}/publicIPAddresses": {"properties": "publicIPAllocationMethod"},
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
        "properties.siteConfig": "http20Enabled minTlsVersion scmMinTlsVersion",
    },
    f"{_SITE}/basicPublishingCredentialsPolicies": {"properties": "allow"},
    f"{_SITE}/config": {},
}


#: The members around a resource's properties; an identity only where RULES specify it.
_FRAME = frozenset(["name", "location", "tags", "parent", "scope", "kind", "sku", "properties", "dependsOn"])
_IDENTITIES = (_SITE, f"{_BATCH}/pools", _EVENTS, _AKS)


def opened(kind: str, symbol: str, body: Value) -> Iterator[tuple[Value, str]]:
    """Types and members that are not in the list, and expressions that only Azure can evaluate."""
    if kind not in CLOSED:
        yield body, f"{symbol}: no template here makes {kind}"
        return
    for name, value in body.members.items():
        if name not in _FRAME and not (name == "identity" and kind in _IDENTITIES):
            yield value, f"{symbol}: {name} is not in local/bicep/closed.py"
    for path, allowed in CLOSED[kind].items():
        for option in options(member_at(body, path) or Value("null", 1, 1)):
            if option.kind not in ("object", "null"):
                yield option, f"{symbol}: {path} is not an object that can be read here"
            for name in sorted(set(option.members) - set(allowed.split())):
                yield option.members[name], f"{symbol}: {path}.{name} is not in local/bicep/closed.py"
