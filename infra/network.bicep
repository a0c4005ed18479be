// With vnetEnabled: the app reaches storage over private endpoints, and storage's firewall refuses everyone else but Event Grid.
param location string
param token string
param tags object
param storageId string
@description('Give the subnets of the app and of the nodes a way out by a NAT gateway.')
param hasGateway bool

var kinds = ['blob', 'queue', 'table']

resource address 'Microsoft.Network/publicIPAddresses@2024-07-01' = if (hasGateway) {
  name: 'ip-${token}'
  location: location
  tags: tags
  sku: { name: 'Standard' }
  properties: { publicIPAllocationMethod: 'Static' }
}

resource gateway 'Microsoft.Network/natGateways@2024-07-01' = if (hasGateway) {
  name: 'nat-${token}'
  location: location
  tags: tags
  sku: { name: 'Standard' }
  properties: { publicIpAddresses: [{ id: address.id }] }
}

resource network 'Microsoft.Network/virtualNetworks@2024-07-01' = {
  name: 'vnet-${token}'
  location: location
  tags: tags
  properties: {
    addressSpace: { addressPrefixes: ['10.0.0.0/16'] }
    subnets: [
      {
        name: 'app'
        properties: {
          addressPrefix: '10.0.0.0/24'
          // The vault, Application Insights and receivers are outside; new subnets may have no way there by default.
          defaultOutboundAccess: true
          natGateway: hasGateway ? { id: gateway.id } : null
          delegations: [{ name: 'app', properties: { serviceName: 'Microsoft.App/environments' } }]
        }
      }
      { name: 'endpoints', properties: { addressPrefix: '10.0.1.0/24' } }
      // Of a Batch pool, whose jobs fetch packages and images: by the gateway alone, since Azure gives nodes without
      // a public address no way out of its own.
      {
        name: 'nodes'
        properties: {
          addressPrefix: '10.0.2.0/24'
          defaultOutboundAccess: false
          natGateway: hasGateway ? { id: gateway.id } : null
        }
      }
    ]
  }

  resource app 'subnets' existing = {
    name: 'app'
  }

  resource endpoints 'subnets' existing = {
    name: 'endpoints'
  }

  resource nodes 'subnets' existing = {
    name: 'nodes'
  }
}

resource zones 'Microsoft.Network/privateDnsZones@2024-06-01' = [
  for kind in kinds: {
    name: 'privatelink.${kind}.${environment().suffixes.storage}'
    location: 'global'
    tags: tags
  }
]

resource links 'Microsoft.Network/privateDnsZones/virtualNetworkLinks@2024-06-01' = [
  for (kind, index) in kinds: {
    parent: zones[index]
    name: 'vnet'
    location: 'global'
    tags: tags
    properties: { registrationEnabled: false, virtualNetwork: { id: network.id } }
  }
]

resource endpoints 'Microsoft.Network/privateEndpoints@2024-07-01' = [
  for kind in kinds: {
    name: 'pe-${kind}-${token}'
    location: location
    tags: tags
    properties: {
      subnet: { id: network::endpoints.id }
      privateLinkServiceConnections: [
        { name: kind, properties: { privateLinkServiceId: storageId, groupIds: [kind] } }
      ]
    }
  }
]

resource names 'Microsoft.Network/privateEndpoints/privateDnsZoneGroups@2024-07-01' = [
  for (kind, index) in kinds: {
    parent: endpoints[index]
    name: 'default'
    properties: { privateDnsZoneConfigs: [{ name: kind, properties: { privateDnsZoneId: zones[index].id } }] }
  }
]

output appSubnetId string = network::app.id
output id string = network.id
output endpointsSubnetId string = network::endpoints.id
output nodesSubnetId string = network::nodes.id
