"""What modules must be given, when each is deployed, and which identities they return."""

from __future__ import annotations

from collections.abc import Mapping

_APP, _STORAGE = "identity.outputs.principalId", "storage.outputs.name"
_IS_BATCH = "engine == 'batch'"
_MADE_CLUSTERS = f"{_IS_BATCH} ? batch!.outputs.clusters : {{}}"
_CLUSTERS = f"engine == 'none' ? {{}} : {_MADE_CLUSTERS}, loadJsonContent('clusters.json')"
#: (file of a module, member of its declaration) → the required expression
PARAMS: Mapping[tuple[str, str], str] = {
    ("storage.bicep", "params.isPrivate"): "vnetEnabled",
    ("storage.bicep", "params.appPrincipalId"): _APP,
    ("storage.bicep", "params.deployerId"): "principalId",
    ("vault.bicep", "params.appPrincipalId"): _APP,
    ("vault.bicep", "params.deployerId"): "principalId",
    ("monitor.bicep", "params.appPrincipalId"): _APP,
    ("network.bicep", "params.storageId"): "storage.outputs.id",
    ("batch.bicep", "params.gangs"): "batchGangs",
    ("batch.bicep", "params.appPrincipalId"): _APP,
    ("batch.bicep", "params.storageName"): _STORAGE,
    ("batch.bicep", "params.subnetId"): "vnetEnabled ? network!.outputs.nodesSubnetId : ''",
    ("batch.bicep", "params.networkId"): "vnetEnabled ? network!.outputs.id : ''",
    ("batch.bicep", "params.endpointsSubnetId"): "vnetEnabled ? network!.outputs.endpointsSubnetId : ''",
    ("batch-network.bicep", "params.accountId"): "account.id",
    ("batch-network.bicep", "params.networkId"): "networkId",
    ("batch-network.bicep", "params.subnetId"): "endpointsSubnetId",
    ("dispatcher.bicep", "params.identityId"): "identity.outputs.id",
    ("dispatcher.bicep", "params.clientId"): "identity.outputs.clientId",
    ("dispatcher.bicep", "params.storageName"): _STORAGE,
    ("dispatcher.bicep", "params.vaultUri"): "vault.outputs.uri",
    ("dispatcher.bicep", "params.insightsName"): "monitor.outputs.insightsName",
    ("dispatcher.bicep", "params.subnetId"): "vnetEnabled ? network!.outputs.appSubnetId : ''",
    ("dispatcher.bicep", "params.audience"): "audience",
    ("events.bicep", "params.storageName"): _STORAGE,
    ("dispatcher.bicep", "params.clusters"): _CLUSTERS,
    ("dispatcher.bicep", "params.alwaysReady"): "alwaysReady",
    ("alerts.bicep", "params.email"): "alertEmail",
    ("alerts.bicep", "params.insightsId"): "monitor.outputs.insightsId",
    ("alerts.bicep", "params.topicId"): "events.outputs.topicId",
    ("alerts.bicep", "params.storageId"): "storage.outputs.id",
}
#: file and resource or module → its condition, with variables replaced; all others are unconditional
CONDITIONS: Mapping[str, str] = {
    "main.bicep network": "vnetEnabled",
    "main.bicep batch": _IS_BATCH,
    "batch.bicep doors": "!empty(subnetId)",
    "network.bicep address": "hasGateway",
    "network.bicep gateway": "hasGateway",
    "main.bicep budget": "monthlyBudget > 0",
    "alerts.bicep people": "!empty(email)",
}
#: (file, output) → the required expression: others grant roles and read secrets by these
OUTPUTS: Mapping[tuple[str, str], str] = {
    ("identity.bicep", "id"): "identity.id",
    ("identity.bicep", "clientId"): "identity.properties.clientId",
    ("identity.bicep", "principalId"): "identity.properties.principalId",
    ("storage.bicep", "id"): "storage.id",
    ("storage.bicep", "name"): "storage.name",
    ("vault.bicep", "uri"): "vault.properties.vaultUri",
    ("network.bicep", "id"): "network.id",
    ("network.bicep", "appSubnetId"): "network::app.id",
    ("network.bicep", "endpointsSubnetId"): "network::endpoints.id",
    ("network.bicep", "nodesSubnetId"): "network::nodes.id",
    (
        "batch.bicep",
        "clusters.gpu",
    ): "{engine, url, resource, pool, blobs, identity, container, gpus, minNodes, maxNodes, spot}",
    ("batch.bicep", "clusters.gpu.engine"): "batch",
    ("batch.bicep", "clusters.gpu.url"): "'https://${account.properties.accountEndpoint}'",
    ("batch.bicep", "clusters.gpu.resource"): "account.id",
    ("batch.bicep", "clusters.gpu.pool"): "pool.name",
    ("batch.bicep", "clusters.gpu.blobs"): "'${storage.properties.primaryEndpoints.blob}${records.name}'",
    ("batch.bicep", "clusters.gpu.identity"): "nodes.properties.clientId",
    ("batch.bicep", "clusters.gpu.container"): "docker",
    **{("batch.bicep", f"clusters.gpu.{name}"): name for name in ("gpus", "minNodes", "maxNodes", "spot")},
}
#: (file, variable) → the required expression: it makes names unique, and the same in each deployment
VARIABLES: Mapping[tuple[str, str], str] = {
    ("main.bicep", "token"): "toLower(uniqueString(subscription().id, environmentName, location))",
}
#: (file, parameter) → its default: what a person gets who chooses nothing. No other parameter has one.
DEFAULTS: Mapping[tuple[str, str], str] = {
    ("main.bicep", "engine"): "none",
    ("main.bicep", "vnetEnabled"): "false",
    ("main.bicep", "natGateway"): "false",
    ("main.bicep", "audience"): "''",
    ("main.bicep", "alertEmail"): "''",
    ("main.bicep", "monthlyBudget"): "0",
    ("main.bicep", "budgetStart"): "''",
    ("main.bicep", "principalId"): "deployer().objectId",
    ("main.bicep", "dailyLogGb"): "1",
    ("main.bicep", "alwaysReady"): "0",
    ("main.bicep", "batchLocation"): "''",
    ("main.bicep", "batchVmSize"): "Standard_NC4as_T4_v3",
    ("main.bicep", "batchGpus"): "1",
    ("main.bicep", "batchMinNodes"): "0",
    ("main.bicep", "batchMaxNodes"): "2",
    ("main.bicep", "batchSpot"): "false",
    ("main.bicep", "batchGangs"): "true",
    ("aks.bicep", "location"): "resourceGroup().location",
    ("aks.bicep", "name"): "slipway",
    ("aks.bicep", "systemSize"): "Standard_D2s_v5",
    ("aks.bicep", "vmSize"): "Standard_NC4as_T4_v3",
    ("aks.bicep", "maxNodes"): "4",
    ("aks.bicep", "spot"): "true",
    ("aks.bicep", "callers"): "array",
}
