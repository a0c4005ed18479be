"""The rules for our templates: who has which role, and the values of resources' members."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

#: Built-in roles that templates may grant, by ids that are the same everywhere. None can manage anything.
ROLES: Mapping[str, str] = {
    "b7e6dc6d-f1e8-4753-8033-0f276bb0955b": "Storage Blob Data Owner",
    "ba92f5b4-2d11-453d-a403-e96b0029c9fe": "Storage Blob Data Contributor",
    "2a2b9908-6ea1-4ae2-8e65-a410df84e7d1": "Storage Blob Data Reader",
    "974c5e8b-45b9-4653-ba55-5f855dd0fb88": "Storage Queue Data Contributor",
    "c6a89b2d-59bc-44d0-9896-0f6e12d7b80a": "Storage Queue Data Message Sender",
    "0a9a7e1f-b9d0-4cc4-a60d-0319b160aaa3": "Storage Table Data Contributor",
    "3913510d-42f4-4e42-8a64-420c390055eb": "Monitoring Metrics Publisher",
    "4633458b-17de-408a-b874-0445c86b69e6": "Key Vault Secrets User",
    "b86a8fe4-44ce-4948-aee5-eccb2c155cd7": "Key Vault Secrets Officer",
    "6aaa78f1-f7de-44ca-8722-c64a23943cae": "Azure Batch Data Contributor",
}
#: Who has which roles on what: the last part of the type, with the name if it is a literal.
GRANTS: Mapping[tuple[str, str], frozenset[str]] = {
    ("appPrincipalId", "storageAccounts"): frozenset(
        ("Storage Blob Data Owner", "Storage Queue Data Contributor", "Storage Table Data Contributor")
    ),
    ("appPrincipalId", "components"): frozenset(("Monitoring Metrics Publisher",)),
    ("appPrincipalId", "vaults"): frozenset(("Key Vault Secrets User",)),
    ("appPrincipalId", "batchAccounts"): frozenset(("Azure Batch Data Contributor",)),
    ("nodes.properties.principalId", "containers clusters"): frozenset(("Storage Blob Data Contributor",)),
    ("nodes.properties.principalId", "containers datalake"): frozenset(("Storage Blob Data Reader",)),
    ("topic.identity.principalId", "queues jobs"): frozenset(("Storage Queue Data Message Sender",)),
    ("topic.identity.principalId", "containers dead-letters"): frozenset(("Storage Blob Data Contributor",)),
    ("deployerId", "containers scripts"): frozenset(("Storage Blob Data Contributor",)),
    ("deployerId", "containers datalake"): frozenset(("Storage Blob Data Contributor",)),
    ("deployerId", "containers runs"): frozenset(("Storage Blob Data Reader",)),
    ("deployerId", "vaults"): frozenset(("Key Vault Secrets Officer",)),
}


class Rule(NamedTuple):
    """In resources of one type, the member at a path is one of these texts; "": it is absent."""

    type: str
    path: str
    allowed: tuple[str, ...]
    why: str


_STORAGE, _SITE = "Microsoft.Storage/storageAccounts", "Microsoft.Web/sites"
_VAULT, _EVENTS = "Microsoft.KeyVault/vaults", "Microsoft.EventGrid/systemTopics/eventSubscriptions"
_BATCH = "Microsoft.Batch/batchAccounts"
_FIREWALL = ("Deny", "isPrivate ? Deny : Allow")
_BATCH_CLOSED = ("Disabled", "!empty(subnetId) ? Disabled : Enabled")
_NO_ADDRESS = ("!empty(subnetId) ? NoPublicIPAddresses : absent",)
_ADDRESS = "properties.networkConfiguration.publicIPAddressConfiguration.provision"
_DROPS = "/blobServices/default/containers/scripts/"
_AKS = "Microsoft.ContainerService/managedClusters"
_PEOPLE = "Microsoft.Insights/actionGroups"
_WHO = ("empty(email) ? array : people.id",)
_QUERIES = "Microsoft.Insights/scheduledQueryRules"
_METRICS = "Microsoft.Insights/metricAlerts"
_ENDPOINT = "Microsoft.Network/privateEndpoints"
_LOGS = "Microsoft.OperationalInsights/workspaces"
_DELIVERY = "properties.deliveryWithResourceIdentity"
_LIFETIME = "destination.properties.queueMessageTimeToLiveInSeconds"
_LETTERS = "properties.deadLetterWithResourceIdentity.deadLetterDestination.properties"
_PACKAGE = "properties.functionAppConfig.deployment.storage.authentication.type"
_PACKAGE_PLACE = "properties.functionAppConfig.deployment.storage.value"
_ENDPOINTS = "storage.properties.primaryEndpoints"
_TOPIC = "Microsoft.EventGrid/systemTopics"
_IMAGE = "properties.deploymentConfiguration.virtualMachineConfiguration.imageReference"
_LINKED = "properties.privateLinkServiceConnections.properties.privateLinkServiceId"
RULES = (
    Rule(_STORAGE, "properties.allowBlobPublicAccess", ("false",), "blobs are never public"),
    Rule(_STORAGE, "properties.allowSharedKeyAccess", ("false",), "identities, no keys"),
    Rule(_STORAGE, "properties.minimumTlsVersion", ("TLS1_2", "TLS1_3"), "TLS 1.2 at least"),
    Rule(_STORAGE, "properties.supportsHttpsTrafficOnly", ("true",), "HTTPS only"),
    Rule(_STORAGE, "properties.networkAcls.defaultAction", _FIREWALL, "a firewall can close"),
    Rule(_STORAGE, "properties.networkAcls.bypass", ("AzureServices",), "Event Grid comes past the firewall"),
    Rule(f"{_STORAGE}/blobServices/containers", "properties.publicAccess", ("None",), "never public"),
    Rule(_SITE, "properties.httpsOnly", ("true",), "HTTPS only"),
    Rule(_SITE, "properties.siteConfig.minTlsVersion", ("1.2", "1.3"), "TLS 1.2 at least"),
    Rule(_SITE, "properties.siteConfig.scmMinTlsVersion", ("1.2", "1.3"), "TLS 1.2 at least"),
    Rule(_SITE, "identity.type", ("UserAssigned",), "the app's identity is the one with roles"),
    Rule(_SITE, "properties.keyVaultReferenceIdentity", ("identityId",), "the app has one identity only"),
    Rule(_SITE, _PACKAGE, ("UserAssignedIdentity",), "the package is read with the app's identity"),
    Rule(f"{_SITE}/basicPublishingCredentialsPolicies", "properties.allow", ("false",), "no passwords"),
    Rule(_VAULT, "properties.enableRbacAuthorization", ("true",), "roles, no access policies"),
    Rule(_VAULT, "properties.enableSoftDelete", ("true",), "a deleted secret can be had back"),
    Rule("Microsoft.Insights/components", "properties.DisableLocalAuth", ("true",), "identities, no keys"),
    Rule(_LOGS, "properties.features.disableLocalAuth", ("true",), "identities, no keys"),
    Rule(_TOPIC, "identity.type", ("SystemAssigned",), "events come by identity"),
    Rule(_EVENTS, "properties.deliveryWithResourceIdentity.identity.type", ("SystemAssigned",), "no key"),
    Rule(_EVENTS, "properties.deadLetterWithResourceIdentity.identity.type", ("SystemAssigned",), "no loss"),
    Rule(_EVENTS, "properties.filter.includedEventTypes", ("Microsoft.Storage.BlobCreated",), "drops alone"),
    Rule(_EVENTS, "properties.eventDeliverySchema", ("CloudEventSchemaV1_0",), "one form of events"),
    Rule(_BATCH, "properties.allowedAuthenticationModes", ("AAD",), "identities, no keys"),
    Rule(_BATCH, "properties.publicNetworkAccess", _BATCH_CLOSED, "can be closed"),
    Rule(f"{_BATCH}/pools", "identity.type", ("UserAssigned",), "nodes write records with an identity"),
    Rule(_STORAGE, "properties.allowCrossTenantReplication", ("false",), "blobs stay in the tenant"),
    Rule(f"{_STORAGE}/blobServices", "properties.deleteRetentionPolicy.enabled", ("true",), "had back"),
    Rule(_EVENTS, "properties.filter.subjectBeginsWith", (_DROPS,), "drops alone"),
    Rule(_EVENTS, f"{_DELIVERY}.destination.endpointType", ("StorageQueue",), "by identity"),
    Rule(_EVENTS, f"{_DELIVERY}.{_LIFETIME}", ("604800",), "a week, in which an app can be mended"),
    Rule(f"{_BATCH}/pools", _ADDRESS, _NO_ADDRESS, "nodes in a network cannot be reached"),
    Rule(_SITE, "identity.userAssignedIdentities", ("{'${identityId}'}",), "the app's own, and no other one"),
    Rule(f"{_BATCH}/pools", "identity.userAssignedIdentities", ("{'${nodes.id}'}",), "jobs run as it"),
    Rule(_TOPIC, "identity", ("{type}",), "the topic has an identity of its own alone"),
    Rule(_SITE, _PACKAGE_PLACE, (f"'${{{_ENDPOINTS}.blob}}app-package'",), "the package is ours"),
    Rule(_TOPIC, "properties.source", ("storage.id",), "events of our storage"),
    Rule(_EVENTS, f"{_DELIVERY}.destination.properties.resourceId", ("storage.id",), "our queue"),
    Rule(_EVENTS, f"{_DELIVERY}.destination.properties.queueName", ("jobs",), "our queue"),
    Rule(_EVENTS, f"{_LETTERS}.resourceId", ("storage.id",), "our container"),
    Rule(_EVENTS, f"{_LETTERS}.blobContainerName", ("dead-letters",), "our container"),
    Rule(f"{_BATCH}/pools", f"{_IMAGE}.publisher", ("microsoft-dsvm",), "Microsoft's image, and no other"),
    Rule(f"{_BATCH}/pools", _IMAGE, ("{publisher, offer, sku, version}",), "Microsoft's image, and no other"),
    Rule(_VAULT, "properties.networkAcls.bypass", ("AzureServices",), "the app's references come past it"),
    Rule(_PEOPLE, "properties.emailReceivers.emailAddress", ("email",), "the operator"),
    Rule(_PEOPLE, "properties.enabled", ("true",), "alerts arrive"),
    Rule(_QUERIES, "properties.enabled", ("true",), "alerts watch"),
    Rule(_METRICS, "properties.enabled", ("true",), "alerts watch"),
    Rule(_QUERIES, "properties.actions.actionGroups", _WHO, "they arrive"),
    Rule(_METRICS, "properties.actions.actionGroupId", ("id",), "they arrive"),
    Rule(_EVENTS, "properties.retryPolicy.maxDeliveryAttempts", ("30",), "tried for a day"),
    Rule(_EVENTS, "properties.retryPolicy.eventTimeToLiveInMinutes", ("1440",), "tried for a day"),
    Rule(f"{_STORAGE}/blobServices", "properties.deleteRetentionPolicy.days", ("7",), "a week to notice"),
    Rule(_ENDPOINT, _LINKED, ("storageId", "accountId"), "what is ours"),
    Rule(f"{_BATCH}/pools", "dependsOn", ("doors",), "nodes reach the account over its private endpoint"),
    Rule(_AKS, "properties.enableRBAC", ("true",), "an account has the rights of its Role"),
    Rule(_AKS, "properties.networkProfile.networkPolicy", ("cilium",), "network policies are honoured"),
    Rule(_AKS, "identity", ("{type}",), "the cluster has an identity of its own alone"),
    Rule(_EVENTS, "dependsOn", ("mayDeliver, mayKeep",), "Event Grid tries its roles at once"),
    Rule(_QUERIES, "properties.skipQueryValidation", ("true",), "its tables come with the app's first lines"),
)  # fmt: skip
_CONNECTION: Mapping[str, str] = {
    "__credential": "managedidentity",
    "__clientId": "clientId",
    "__blobServiceUri": f"{_ENDPOINTS}.blob",
    "__queueServiceUri": f"{_ENDPOINTS}.queue",
    "__tableServiceUri": f"{_ENDPOINTS}.table",
}
#: The app's settings and their values. Each is there; another one that Azure or Python reads may open a door.
SETTINGS: Mapping[str, str] = {
    **{f"AzureWebJobsStorage{end}": value for end, value in _CONNECTION.items()},
    **{f"SLIPWAY_STORAGE{end}": value for end, value in _CONNECTION.items()},
    "AZURE_CLIENT_ID": "clientId",
    "APPLICATIONINSIGHTS_CONNECTION_STRING": "insights.properties.ConnectionString",
    "APPLICATIONINSIGHTS_AUTHENTICATION_STRING": "'ClientId=${clientId};Authorization=AAD'",
    "AzureWebJobsDisableHomepage": "true",
    "AzureWebJobs_accept_drop_Disabled": "true",
    "SLIPWAY_TENANT": "tenant().tenantId",
    "SLIPWAY_AUTHORITY": "environment().authentication.loginEndpoint",
    "SLIPWAY_AUDIENCE": "audience",
    "SLIPWAY_CLUSTERS": "string(clusters)",
    "SLIPWAY_SOURCE": "'urn:slipway:${token}'",
    "SLIPWAY_REGION": "location",
    "SLIPWAY_SUBSCRIPTION": "subscription().subscriptionId",
    "SLIPWAY_RESOURCE_GROUP": "resourceGroup().name",
}
#: Expressions that may add to the app's settings; other checks read these files.
MADE_OF = (
    "mapValues( loadJsonContent('secrets.json'), secret => "
    "'@Microsoft.KeyVault(SecretUri=${vaultUri}secrets/${secret})' )",
    "loadJsonContent('settings.json')",
)
