// Everything of one deployment of Slipway, in a resource group of its own. `azd up` deploys it, `azd down` removes it.
// What each role is for, and what a deployment costs: docs/how-to/deploy.md.
targetScope = 'subscription'

@description('Name of the environment; the resource group is rg-slipway-<name>: azd down removes all of it.')
@minLength(1)
@maxLength(60)
param environmentName string

@description('Region of every resource.')
@metadata({ azd: { type: 'location' } })
param location string

@description('Where jobs run: nowhere, on the clusters of clusters.json, which name their engine, or also on a pool that is made here.')
@allowed(['none', 'slurm', 'batch'])
param engine string = 'none'

@description('Put storage behind private endpoints, and the app into a virtual network.')
param vnetEnabled bool = false

@description('With vnetEnabled: a NAT gateway, by which the nodes reach packages and images outside. It costs while it is there.')
param natGateway bool = false

@description('Entra application whose tokens the API requires; empty: function keys.')
param audience string = ''

@description('Who gets a message of an alert; empty: alerts are only shown in the portal.')
param alertEmail string = ''

@description('Monthly budget in the currency of the subscription; alertEmail gets a message at 80 % and at 100 % of it. 0: no budget.')
@minValue(0)
param monthlyBudget int = 0

@description('First day of the month in which the budget begins, as 2026-01-01. A value that stays the same keeps what-if clean.')
param budgetStart string = ''

@description('Who deploys: may write secrets, drop scripts and read results. The one who runs azd, unless named.')
param principalId string = deployer().objectId

@description('Gigabytes of logs a day, after which Log Analytics accepts no more.')
@minValue(1)
param dailyLogGb int = 1

@description('Instances of sweeper that are always there; 0: a pass may start up to ten seconds late.')
@minValue(0)
param alwaysReady int = 0

@description('Region of the Batch account and its nodes; empty: that of all else. With vnetEnabled it has to be that one.')
param batchLocation string = ''

@description('Size of the nodes. Azure changes it only while the pool has no node.')
param batchVmSize string = 'Standard_NC4as_T4_v3'

@description('GPUs of a node of that size.')
@minValue(0)
param batchGpus int = 1

@description('Nodes that stay when there is nothing to do.')
@minValue(0)
param batchMinNodes int = 0

@description('The most nodes that the pool grows to.')
@minValue(1)
param batchMaxNodes int = 2

@description('Spot nodes, which Azure may take away: a job begins again then.')
param batchSpot bool = false

@description('Jobs may have several nodes, which Azure then puts close together.')
param batchGangs bool = true

var token = toLower(uniqueString(subscription().id, environmentName, location))
var tags = { 'azd-env-name': environmentName }

// What no single parameter shows is refused here; the messages name variables of the environment.
var isBatch = engine == 'batch'
var mostNodes = isBatch && batchMinNodes > batchMaxNodes
  ? fail('BATCH_MIN_NODES is above BATCH_MAX_NODES')
  : batchMaxNodes
var nodesLocation = empty(batchLocation) ? location : batchLocation
var nodesRegion = isBatch && vnetEnabled && toLower(nodesLocation) != toLower(location)
  ? fail('With VNET_ENABLED the nodes are in the network: BATCH_LOCATION is AZURE_LOCATION, or empty')
  : nodesLocation
var wayOut = natGateway && !vnetEnabled
  ? fail('NAT_GATEWAY is the way out of a network: it needs VNET_ENABLED')
  : natGateway
var budgetEmail = monthlyBudget > 0 && (empty(alertEmail) || empty(budgetStart))
  ? fail('MONTHLY_BUDGET needs ALERT_EMAIL, which gets its messages, and BUDGET_START')
  : alertEmail

resource group 'Microsoft.Resources/resourceGroups@2025-04-01' = {
  name: 'rg-slipway-${environmentName}'
  location: location
  tags: tags
}

module identity 'identity.bicep' = {
  name: 'identity'
  scope: group
  params: { location: location, token: token, tags: tags }
}

module storage 'storage.bicep' = {
  name: 'storage'
  scope: group
  params: {
    location: location
    token: token
    tags: tags
    appPrincipalId: identity.outputs.principalId
    deployerId: principalId
    isPrivate: vnetEnabled
  }
}

module vault 'vault.bicep' = {
  name: 'vault'
  scope: group
  params: {
    location: location
    token: token
    tags: tags
    appPrincipalId: identity.outputs.principalId
    deployerId: principalId
  }
}

module monitor 'monitor.bicep' = {
  name: 'monitor'
  scope: group
  params: {
    location: location
    token: token
    tags: tags
    appPrincipalId: identity.outputs.principalId
    dailyLogGb: dailyLogGb
  }
}

module network 'network.bicep' = if (vnetEnabled) {
  name: 'network'
  scope: group
  params: {
    location: location
    token: token
    tags: tags
    storageId: storage.outputs.id
    hasGateway: wayOut
  }
}

module batch 'batch.bicep' = if (isBatch) {
  name: 'batch'
  scope: group
  params: {
    location: nodesRegion
    token: token
    tags: tags
    storageName: storage.outputs.name
    appPrincipalId: identity.outputs.principalId
    vmSize: batchVmSize
    gpus: batchGpus
    minNodes: batchMinNodes
    maxNodes: mostNodes
    spot: batchSpot
    gangs: batchGangs
    subnetId: vnetEnabled ? network!.outputs.nodesSubnetId : ''
    networkId: vnetEnabled ? network!.outputs.id : ''
    endpointsSubnetId: vnetEnabled ? network!.outputs.endpointsSubnetId : ''
  }
}

module dispatcher 'dispatcher.bicep' = {
  name: 'dispatcher'
  scope: group
  params: {
    location: location
    token: token
    tags: tags
    identityId: identity.outputs.id
    clientId: identity.outputs.clientId
    storageName: storage.outputs.name
    vaultUri: vault.outputs.uri
    insightsName: monitor.outputs.insightsName
    subnetId: vnetEnabled ? network!.outputs.appSubnetId : ''
    audience: audience
    // An entry of clusters.json with the name of the made cluster adds to its options.
    clusters: engine == 'none' ? {} : union(isBatch ? batch!.outputs.clusters : {}, loadJsonContent('clusters.json'))
    alwaysReady: alwaysReady
  }
}

module events 'events.bicep' = {
  name: 'events'
  scope: group
  params: { location: location, token: token, tags: tags, storageName: storage.outputs.name }
}

module alerts 'alerts.bicep' = {
  name: 'alerts'
  scope: group
  params: {
    location: location
    token: token
    tags: tags
    insightsId: monitor.outputs.insightsId
    topicId: events.outputs.topicId
    storageId: storage.outputs.id
    email: alertEmail
  }
}

module budget 'budget.bicep' = if (monthlyBudget > 0) {
  name: 'budget'
  scope: group
  params: { amount: monthlyBudget, start: budgetStart, email: budgetEmail }
}

output AZURE_TENANT_ID string = tenant().tenantId
output AZURE_RESOURCE_GROUP string = group.name
output AZURE_FUNCTION_APP_NAME string = dispatcher.outputs.name
output AZURE_KEY_VAULT_NAME string = vault.outputs.name
output AZURE_STORAGE_ACCOUNT_NAME string = storage.outputs.name
output SLIPWAY_URL string = dispatcher.outputs.url
output AZURE_EVENT_TOPIC_NAME string = events.outputs.topicName
output AZURE_INSIGHTS_NAME string = monitor.outputs.insightsName
output AZURE_BATCH_ACCOUNT_NAME string = isBatch ? batch!.outputs.name : ''
