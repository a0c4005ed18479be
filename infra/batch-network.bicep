// With vnetEnabled: the app and the nodes reach the Batch account over private endpoints, and no one else does.
param location string
param token string
param tags object
param accountId string
param networkId string
param subnetId string

// The zone of Batch in the public cloud; in others it ends as storage's does.
var suffix = environment().name == 'AzureCloud' ? 'azure.com' : replace(environment().suffixes.storage, 'core.', '')

resource zone 'Microsoft.Network/privateDnsZones@2024-06-01' = {
  name: 'privatelink.batch.${suffix}'
  location: 'global'
  tags: tags
}

resource link 'Microsoft.Network/privateDnsZones/virtualNetworkLinks@2024-06-01' = {
  parent: zone
  name: 'vnet'
  location: 'global'
  tags: tags
  properties: { registrationEnabled: false, virtualNetwork: { id: networkId } }
}

// What the app calls, and what the nodes call.
var kinds = ['batchAccount', 'nodeManagement']

resource endpoints 'Microsoft.Network/privateEndpoints@2024-07-01' = [
  for kind in kinds: {
    name: 'pe-${kind}-${token}'
    location: location
    tags: tags
    properties: {
      subnet: { id: subnetId }
      privateLinkServiceConnections: [
        { name: kind, properties: { privateLinkServiceId: accountId, groupIds: [kind] } }
      ]
    }
  }
]

resource names 'Microsoft.Network/privateEndpoints/privateDnsZoneGroups@2024-07-01' = [
  for (kind, index) in kinds: {
    parent: endpoints[index]
    name: 'default'
    properties: { privateDnsZoneConfigs: [{ name: kind, properties: { privateDnsZoneId: zone.id } }] }
  }
]
