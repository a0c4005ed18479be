// Secrets: the template makes the vault and says who may read it. hooks/secrets.sh writes what is absent in it.
param location string
param token string
param tags object
param appPrincipalId string
param deployerId string

var secretsUser = '4633458b-17de-408a-b874-0445c86b69e6'
var secretsOfficer = 'b86a8fe4-44ce-4948-aee5-eccb2c155cd7'

resource vault 'Microsoft.KeyVault/vaults@2026-02-01' = {
  name: 'kv-${token}'
  location: location
  tags: tags
  properties: {
    tenantId: tenant().tenantId
    sku: { family: 'A', name: 'standard' }
    enableRbacAuthorization: true
    enableSoftDelete: true
    softDeleteRetentionInDays: 7
    publicNetworkAccess: 'Enabled'
    networkAcls: { defaultAction: 'Allow', bypass: 'AzureServices' }
  }
}

resource roleOfApp 'Microsoft.Authorization/roleAssignments@2022-04-01' = {
  name: guid(vault.id, 'app', secretsUser)
  scope: vault
  properties: {
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', secretsUser)
    principalId: appPrincipalId
    principalType: 'ServicePrincipal'
  }
}

resource roleOfDeployer 'Microsoft.Authorization/roleAssignments@2022-04-01' = {
  name: guid(vault.id, deployerId, secretsOfficer)
  scope: vault
  properties: {
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', secretsOfficer)
    principalId: deployerId
  }
}

output id string = vault.id
output name string = vault.name
output uri string = vault.properties.vaultUri
