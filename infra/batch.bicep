// A Batch account and a pool of GPU nodes from zero: the cluster `gpu`. What its nodes keep stands in a container of the
// one storage account, which the pool's own identity may write, and nothing else.
param location string
@minLength(13)
@maxLength(13)
param token string
param tags object
param storageName string
param appPrincipalId string
param vmSize string
param gpus int
param minNodes int
param maxNodes int
param spot bool
@description('Whether jobs may have several nodes.')
param gangs bool
@description('Subnet of the nodes; empty: outside of a network.')
param subnetId string
@description('The network of that subnet, and its subnet of private endpoints; both empty without a network.')
param networkId string
param endpointsSubnetId string

// Azure Batch Data Contributor: jobs and tasks, the formula of the pool, and the account's quota.
var batchDataContributor = '6aaa78f1-f7de-44ca-8722-c64a23943cae'
var blobDataContributor = 'ba92f5b4-2d11-453d-a403-e96b0029c9fe'
var blobDataReader = '2a2b9908-6ea1-4ae2-8e65-a410df84e7d1'
var isPrivate = !empty(subnetId)
var counts = { dedicated: '$TargetDedicatedNodes', spot: '$TargetLowPriorityNodes' }

// The app writes the same text, with the nodes that waiting jobs need.
var formula = format(
  '''
wideTasks = 0;
wideNodes = 0;
singleNodes = 0;
slots = 1;
samples = $PendingTasks.GetSamplePercent(TimeInterval_Minute * 5);
latest = max(0, $PendingTasks.GetSample(1));
pending = samples < 70 ? latest : max(latest, avg($PendingTasks.GetSample(TimeInterval_Minute * 5)));
known = wideNodes + min(singleNodes, max(0, pending - wideTasks));
wanted = pending > 0 ? max(1, max(known, latest / slots)) : 0;
{0} = min({1}, max({2}, wanted));
{3} = 0;
$NodeDeallocationOption = taskcompletion;
''',
  spot ? counts.spot : counts.dedicated,
  maxNodes,
  minNodes,
  spot ? counts.dedicated : counts.spot
)

resource storage 'Microsoft.Storage/storageAccounts@2025-01-01' existing = {
  name: storageName
}

resource blobs 'Microsoft.Storage/storageAccounts/blobServices@2025-01-01' existing = {
  parent: storage
  name: 'default'
}

resource records 'Microsoft.Storage/storageAccounts/blobServices/containers@2025-01-01' = {
  parent: blobs
  name: 'clusters'
  properties: { publicAccess: 'None' }
}

resource data 'Microsoft.Storage/storageAccounts/blobServices/containers@2025-01-01' existing = {
  parent: blobs
  name: 'datalake'
}

resource nodes 'Microsoft.ManagedIdentity/userAssignedIdentities@2024-11-30' = {
  name: 'id-nodes-${token}'
  location: location
  tags: tags
}

resource account 'Microsoft.Batch/batchAccounts@2025-06-01' = {
  name: 'ba${token}'
  location: location
  tags: tags
  properties: {
    poolAllocationMode: 'BatchService'
    allowedAuthenticationModes: ['AAD']
    publicNetworkAccess: isPrivate ? 'Disabled' : 'Enabled'
  }
}

module doors 'batch-network.bicep' = if (isPrivate) {
  name: 'batch-network'
  params: {
    location: location
    token: token
    tags: tags
    accountId: account.id
    networkId: networkId
    subnetId: endpointsSubnetId
  }
}

resource pool 'Microsoft.Batch/batchAccounts/pools@2025-06-01' = {
  parent: account
  name: 'gpu'
  // Nodes without a public address reach the account over its endpoint alone: it is there before they are.
  dependsOn: [doors]
  identity: { type: 'UserAssigned', userAssignedIdentities: { '${nodes.id}': {} } }
  properties: {
    vmSize: vmSize
    deploymentConfiguration: {
      virtualMachineConfiguration: {
        // Drivers of GPUs, Docker and Python are in it. Jobs run on it, in containers where they ask for that.
        imageReference: { publisher: 'microsoft-dsvm', offer: 'ubuntu-hpc', sku: '2404', version: 'latest' }
        nodeAgentSkuId: 'batch.node.ubuntu 24.04'
      }
    }
    taskSlotsPerNode: 1
    // For jobs on several nodes. Azure puts the nodes of such a pool close together, and has fewer for it.
    interNodeCommunication: gangs && maxNodes > 1 ? 'Enabled' : 'Disabled'
    taskSchedulingPolicy: { nodeFillType: 'Pack' }
    networkConfiguration: isPrivate
      ? { subnetId: subnetId, publicIPAddressConfiguration: { provision: 'NoPublicIPAddresses' } }
      : null
    scaleSettings: { autoScale: { formula: formula, evaluationInterval: 'PT5M' } }
    metadata: [{ name: 'slipway', value: 'gpu' }]
  }
}

resource appWorks 'Microsoft.Authorization/roleAssignments@2022-04-01' = {
  name: guid(account.id, 'app', batchDataContributor)
  scope: account
  properties: {
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', batchDataContributor)
    principalId: appPrincipalId
    principalType: 'ServicePrincipal'
  }
}

resource nodesWrite 'Microsoft.Authorization/roleAssignments@2022-04-01' = {
  name: guid(records.id, 'nodes', blobDataContributor)
  scope: records
  properties: {
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', blobDataContributor)
    principalId: nodes.properties.principalId
    principalType: 'ServicePrincipal'
  }
}

// Jobs mount it by the identity of their node.
resource nodesRead 'Microsoft.Authorization/roleAssignments@2022-04-01' = {
  name: guid(data.id, 'nodes', blobDataReader)
  scope: data
  properties: {
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', blobDataReader)
    principalId: nodes.properties.principalId
    principalType: 'ServicePrincipal'
  }
}

output id string = account.id
output name string = account.name
@description('What SLIPWAY_CLUSTERS says of it.')
output clusters object = {
  gpu: {
    engine: 'batch'
    url: 'https://${account.properties.accountEndpoint}'
    resource: account.id
    pool: pool.name
    blobs: '${storage.properties.primaryEndpoints.blob}${records.name}'
    identity: nodes.properties.clientId
    container: 'docker'
    gpus: gpus
    minNodes: minNodes
    maxNodes: maxNodes
    spot: spot
  }
}
