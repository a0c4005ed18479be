// BlobCreated in the drop container → the queue `jobs`, delivered with the identity of the topic: no key and no webhook.
param location string
param token string
param tags object
param storageName string

var queueMessageSender = 'c6a89b2d-59bc-44d0-9896-0f6e12d7b80a'
var blobDataContributor = 'ba92f5b4-2d11-453d-a403-e96b0029c9fe'

resource storage 'Microsoft.Storage/storageAccounts@2025-01-01' existing = {
  name: storageName
}

resource queueService 'Microsoft.Storage/storageAccounts/queueServices@2025-01-01' existing = {
  parent: storage
  name: 'default'
}

resource jobs 'Microsoft.Storage/storageAccounts/queueServices/queues@2025-01-01' existing = {
  parent: queueService
  name: 'jobs'
}

resource blobs 'Microsoft.Storage/storageAccounts/blobServices@2025-01-01' existing = {
  parent: storage
  name: 'default'
}

resource deadLetters 'Microsoft.Storage/storageAccounts/blobServices/containers@2025-01-01' existing = {
  parent: blobs
  name: 'dead-letters'
}

resource topic 'Microsoft.EventGrid/systemTopics@2025-02-15' = {
  name: 'evgt-${token}'
  location: location
  tags: tags
  identity: { type: 'SystemAssigned' }
  properties: { source: storage.id, topicType: 'Microsoft.Storage.StorageAccounts' }
}

resource mayDeliver 'Microsoft.Authorization/roleAssignments@2022-04-01' = {
  name: guid(jobs.id, topic.id, queueMessageSender)
  scope: jobs
  properties: {
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', queueMessageSender)
    principalId: topic.identity.principalId
    principalType: 'ServicePrincipal'
  }
}

resource mayKeep 'Microsoft.Authorization/roleAssignments@2022-04-01' = {
  name: guid(deadLetters.id, topic.id, blobDataContributor)
  scope: deadLetters
  properties: {
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', blobDataContributor)
    principalId: topic.identity.principalId
    principalType: 'ServicePrincipal'
  }
}

resource dropped 'Microsoft.EventGrid/systemTopics/eventSubscriptions@2025-02-15' = {
  parent: topic
  name: 'drops'
  // Event Grid tries the roles when it makes the subscription.
  dependsOn: [mayDeliver, mayKeep]
  properties: {
    eventDeliverySchema: 'CloudEventSchemaV1_0'
    deliveryWithResourceIdentity: {
      identity: { type: 'SystemAssigned' }
      destination: {
        endpointType: 'StorageQueue'
        properties: { resourceId: storage.id, queueName: 'jobs', queueMessageTimeToLiveInSeconds: 604800 }
      }
    }
    deadLetterWithResourceIdentity: {
      identity: { type: 'SystemAssigned' }
      deadLetterDestination: {
        endpointType: 'StorageBlob'
        properties: { resourceId: storage.id, blobContainerName: 'dead-letters' }
      }
    }
    filter: {
      includedEventTypes: ['Microsoft.Storage.BlobCreated']
      subjectBeginsWith: '/blobServices/default/containers/scripts/'
      enableAdvancedFilteringOnArrays: false
      advancedFilters: [
        { operatorType: 'StringIn', key: 'data.api', values: ['PutBlob', 'PutBlockList', 'CopyBlob', 'FlushWithClose'] }
      ]
    }
    retryPolicy: { maxDeliveryAttempts: 30, eventTimeToLiveInMinutes: 1440 }
  }
}

output topicId string = topic.id
output topicName string = topic.name
