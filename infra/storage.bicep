// One account: drops, receipts, archive and ledger, the queues, and what the Functions host keeps for itself.
param location string
@minLength(13)
@maxLength(13)
param token string
param tags object
param appPrincipalId string
param deployerId string
param isPrivate bool

// Storage Blob Data Owner: the Functions host asks for it, for its locks and the deployed package.
var blobDataOwner = 'b7e6dc6d-f1e8-4753-8033-0f276bb0955b'
var queueDataContributor = '974c5e8b-45b9-4653-ba55-5f855dd0fb88'
var tableDataContributor = '0a9a7e1f-b9d0-4cc4-a60d-0319b160aaa3'
var blobDataContributor = 'ba92f5b4-2d11-453d-a403-e96b0029c9fe'
var blobDataReader = '2a2b9908-6ea1-4ae2-8e65-a410df84e7d1'

resource storage 'Microsoft.Storage/storageAccounts@2025-01-01' = {
  name: 'st${token}'
  location: location
  tags: tags
  kind: 'StorageV2'
  sku: { name: 'Standard_LRS' }
  properties: {
    accessTier: 'Hot'
    allowBlobPublicAccess: false
    allowCrossTenantReplication: false
    allowSharedKeyAccess: false
    defaultToOAuthAuthentication: true
    minimumTlsVersion: 'TLS1_2'
    supportsHttpsTrafficOnly: true
    publicNetworkAccess: 'Enabled'
    // Event Grid delivers past the firewall as a trusted service, with the identity of its topic.
    networkAcls: { defaultAction: isPrivate ? 'Deny' : 'Allow', bypass: 'AzureServices' }
  }
}

resource blobs 'Microsoft.Storage/storageAccounts/blobServices@2025-01-01' = {
  parent: storage
  name: 'default'
  properties: {
    deleteRetentionPolicy: { enabled: true, days: 7 }
    containerDeleteRetentionPolicy: { enabled: true, days: 7 }
  }
}

resource drops 'Microsoft.Storage/storageAccounts/blobServices/containers@2025-01-01' = {
  parent: blobs
  name: 'scripts'
  properties: { publicAccess: 'None' }
}

resource receipts 'Microsoft.Storage/storageAccounts/blobServices/containers@2025-01-01' = {
  parent: blobs
  name: 'runs'
  properties: { publicAccess: 'None' }
}

resource data 'Microsoft.Storage/storageAccounts/blobServices/containers@2025-01-01' = {
  parent: blobs
  name: 'datalake'
  properties: { publicAccess: 'None' }
}

resource containers 'Microsoft.Storage/storageAccounts/blobServices/containers@2025-01-01' = [
  for name in ['archive', 'snapshots', 'app-package', 'dead-letters']: {
    parent: blobs
    name: name
    properties: { publicAccess: 'None' }
  }
]

resource queueService 'Microsoft.Storage/storageAccounts/queueServices@2025-01-01' = {
  parent: storage
  name: 'default'
}

resource queues 'Microsoft.Storage/storageAccounts/queueServices/queues@2025-01-01' = [
  for name in ['jobs', 'jobs-poison', 'job-events', 'job-events-poison', 'job-notices', 'webjobs-blobtrigger-poison']: {
    parent: queueService
    name: name
  }
]

resource tableService 'Microsoft.Storage/storageAccounts/tableServices@2025-01-01' = {
  parent: storage
  name: 'default'
}

resource ledger 'Microsoft.Storage/storageAccounts/tableServices/tables@2025-01-01' = {
  parent: tableService
  name: 'slipway'
}

resource roleOfApp 'Microsoft.Authorization/roleAssignments@2022-04-01' = [
  for role in [blobDataOwner, queueDataContributor, tableDataContributor]: {
    name: guid(storage.id, 'app', role)
    scope: storage
    properties: {
      roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', role)
      principalId: appPrincipalId
      principalType: 'ServicePrincipal'
    }
  }
]

resource dropsOfDeployer 'Microsoft.Authorization/roleAssignments@2022-04-01' = {
  name: guid(drops.id, deployerId, blobDataContributor)
  scope: drops
  properties: {
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', blobDataContributor)
    principalId: deployerId
  }
}

resource dataOfDeployer 'Microsoft.Authorization/roleAssignments@2022-04-01' = {
  name: guid(data.id, deployerId, blobDataContributor)
  scope: data
  properties: {
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', blobDataContributor)
    principalId: deployerId
  }
}

resource receiptsOfDeployer 'Microsoft.Authorization/roleAssignments@2022-04-01' = {
  name: guid(receipts.id, deployerId, blobDataReader)
  scope: receipts
  properties: {
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', blobDataReader)
    principalId: deployerId
  }
}

output id string = storage.id
output name string = storage.name
