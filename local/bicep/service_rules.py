"""What a deployment needs to work: names, connections, monitoring, and the chosen costs."""

from __future__ import annotations

from local.bicep.rules import Rule

_STORAGE, _SITE = "Microsoft.Storage/storageAccounts", "Microsoft.Web/sites"
_BLOBS, _GROUP = f"{_STORAGE}/blobServices", "Microsoft.Resources/resourceGroups"
_EVENTS, _BATCH = "Microsoft.EventGrid/systemTopics/eventSubscriptions", "Microsoft.Batch/batchAccounts"
_QUERIES, _METRICS = "Microsoft.Insights/scheduledQueryRules", "Microsoft.Insights/metricAlerts"
_NETWORK, _ZONE = "Microsoft.Network/virtualNetworks", "Microsoft.Network/privateDnsZones"
_ENDPOINT, _GRANT = "Microsoft.Network/privateEndpoints", "Microsoft.Authorization/roleAssignments"
_LOGS = "Microsoft.OperationalInsights/workspaces"
_BUDGET = "Microsoft.Consumption/budgets"
_FLEX = "properties.functionAppConfig"
_READY = "alwaysReady > 0 ? alwaysReady : absent"
_WRITES = "PutBlob, PutBlockList, CopyBlob, FlushWithClose"
_ZONE_OF = "properties.privateDnsZoneConfigs.properties.privateDnsZoneId"
_ZONES = ("'privatelink.${kind}.${environment().suffixes.storage}'", "'privatelink.batch.${suffix}'")
_NETS = ("network.id", "networkId")
_OUTBOUND = "properties.subnets.properties.defaultOutboundAccess"
SERVICE_RULES = (
    Rule(_STORAGE, "name", ("'st${token}'",), "24 small letters and digits at most"),
    Rule(_BATCH, "name", ("'ba${token}'",), "24 small letters and digits at most"),
    Rule("Microsoft.KeyVault/vaults", "name", ("'kv-${token}'",), "24 characters at most"),
    Rule(_SITE, "name", ("'func-${token}'",), "no other app has it"),
    Rule(_STORAGE, "properties.defaultToOAuthAuthentication", ("true",), "identities, no keys"),
    Rule(_STORAGE, "kind", ("StorageV2",), "with queues and a table"),
    Rule(_BLOBS, "properties.containerDeleteRetentionPolicy.enabled", ("true",), "had back"),
    Rule(_BLOBS, "properties.containerDeleteRetentionPolicy.days", ("7",), "a week to notice"),
    Rule(_EVENTS, "properties.filter.advancedFilters.key", ("data.api",), "writes that are complete"),
    Rule(
        _EVENTS, "properties.filter.advancedFilters.operatorType", ("StringIn",), "writes that are complete"
    ),
    Rule(_EVENTS, "properties.filter.advancedFilters.values", (_WRITES,), "writes that are complete"),
    Rule(_GRANT, "properties.principalType", ("ServicePrincipal", ""), "programs, and the one who deploys"),
    Rule(_GROUP, "name", ("'rg-slipway-${environmentName}'",), "azd down removes it"),
    Rule(_GROUP, "tags.azd-env-name", ("environmentName",), "azd finds it by that"),
    Rule(_SITE, "tags.azd-service-name", ("dispatcher",), "azd deploys to it"),
    Rule(_SITE, f"{_FLEX}.runtime.version", ("3.13",), "what the tests run on"),
    Rule(_SITE, f"{_FLEX}.scaleAndConcurrency.maximumInstanceCount", ("40",), "a bound of what it costs"),
    Rule(
        _SITE, f"{_FLEX}.scaleAndConcurrency.alwaysReady.instanceCount", (_READY,), "costs only where chosen"
    ),
    Rule(_BATCH, "properties.poolAllocationMode", ("BatchService",), "nodes in Batch's own subscription"),
    Rule(f"{_BATCH}/pools", "properties.taskSlotsPerNode", ("1",), "a job has its node, and its GPUs, alone"),
    Rule(_LOGS, "properties.retentionInDays", ("30",), "more costs"),
    Rule(_LOGS, "properties.workspaceCapping.dailyQuotaGb", ("dailyLogGb",), "a bound of what it costs"),
    Rule(_BUDGET, "properties.notifications.most.enabled", ("true",), "they arrive"),
    Rule(_BUDGET, "properties.notifications.all.enabled", ("true",), "they arrive"),
    Rule(_BUDGET, "properties.notifications.most.threshold", ("80",), "as the guide says"),
    Rule(_BUDGET, "properties.notifications.all.threshold", ("100",), "as the guide says"),
    Rule(_BUDGET, "properties.notifications.most.contactEmails", ("email",), "the operator"),
    Rule(_BUDGET, "properties.notifications.all.contactEmails", ("email",), "the operator"),
    Rule(_QUERIES, "properties.scopes", ("insightsId",), "they watch the app"),
    Rule(_QUERIES, "properties.severity", ("one.severity",), "as the list says"),
    Rule(_QUERIES, "properties.criteria.allOf.query", ("one.query",), "as the list says"),
    Rule(_QUERIES, "properties.criteria.allOf.operator", ("one.operator",), "as the list says"),
    Rule(_QUERIES, "properties.criteria.allOf.threshold", ("one.threshold",), "as the list says"),
    Rule(_QUERIES, "properties.windowSize", ("PT10M",), "two runs of each evaluation"),
    Rule(_METRICS, "properties.criteria.allOf.threshold", ("0", "10"), "one dead letter; some throttling"),
    Rule(_METRICS, "properties.criteria.allOf.timeAggregation", ("Total",), "events are counted"),
    Rule(
        _METRICS,
        "properties.criteria.allOf.metricName",
        ("DeadLetteredCount", "Transactions"),
        "what matters",
    ),
    Rule(_METRICS, "properties.scopes", ("topicId", "storageId"), "what is ours"),
    Rule(_ENDPOINT, "properties.subnet.id", ("network::endpoints.id", "subnetId"), "the subnet of endpoints"),
    Rule(
        _ENDPOINT,
        "properties.privateLinkServiceConnections.properties.groupIds",
        ("kind",),
        "one of each kind",
    ),
    Rule(f"{_ENDPOINT}/privateDnsZoneGroups", _ZONE_OF, ("zones[index].id", "zone.id"), "its own zone"),
    Rule(_ZONE, "name", _ZONES, "the names that Azure answers"),
    Rule(f"{_ZONE}/virtualNetworkLinks", "properties.virtualNetwork.id", _NETS, "ours"),
    Rule(_NETWORK, _OUTBOUND, ("true, absent, false",), "receivers; nodes by the gateway alone"),
)
