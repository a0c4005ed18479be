// A cluster of Kubernetes beside the deployment, in a resource group of its own: one small node that stays, and a pool
// of GPU nodes that has none while no job waits. docs/how-to/kubernetes.md says how to deploy it.
param location string = resourceGroup().location
param name string = 'slipway'
@description('Size of the node that runs what belongs to the cluster, and stays.')
param systemSize string = 'Standard_D2s_v5'
@description('Size of the nodes for jobs.')
param vmSize string = 'Standard_NC4as_T4_v3'
@minValue(1)
param maxNodes int = 4
@description('At the price of spot machines, which Azure takes back when it needs them.')
param spot bool = true
@description('Addresses that may reach the API server, as 203.0.113.0/24; empty: all of them, with a token.')
param callers array = []

var spotMark = 'kubernetes.azure.com/scalesetpriority'

resource cluster 'Microsoft.ContainerService/managedClusters@2025-05-01' = {
  name: name
  location: location
  sku: { name: 'Base', tier: 'Free' }
  identity: { type: 'SystemAssigned' }
  properties: {
    dnsPrefix: name
    enableRBAC: true
    apiServerAccessProfile: { authorizedIPRanges: callers }
    // One that honours the network policy of the guide.
    networkProfile: {
      networkPlugin: 'azure'
      networkPluginMode: 'overlay'
      networkDataplane: 'cilium'
      networkPolicy: 'cilium'
    }
    autoUpgradeProfile: { upgradeChannel: 'patch', nodeOSUpgradeChannel: 'NodeImage' }
    agentPoolProfiles: [
      { name: 'system', mode: 'System', type: 'VirtualMachineScaleSets', osType: 'Linux', vmSize: systemSize, count: 1 }
    ]
  }
}

// A spot pool cannot be the first one of a cluster, and AKS marks its nodes with this label and this taint.
resource gpus 'Microsoft.ContainerService/managedClusters/agentPools@2025-05-01' = {
  parent: cluster
  name: 'gpus'
  properties: {
    mode: 'User'
    type: 'VirtualMachineScaleSets'
    osType: 'Linux'
    vmSize: vmSize
    count: 0
    minCount: 0
    maxCount: maxNodes
    enableAutoScaling: true
    scaleSetPriority: spot ? 'Spot' : 'Regular'
    scaleSetEvictionPolicy: spot ? 'Delete' : null
    spotMaxPrice: spot ? json('-1') : null
    nodeLabels: spot ? { '${spotMark}': 'spot' } : {}
    nodeTaints: spot ? ['${spotMark}=spot:NoSchedule'] : []
  }
}

output AKS_NAME string = cluster.name
