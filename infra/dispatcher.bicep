// The function app on Flex Consumption, and its settings. Secrets are references to the vault, which the hook fills.
param location string
param token string
param tags object
param identityId string
param clientId string
param storageName string
param vaultUri string
param insightsName string
param subnetId string
param audience string
param clusters object
param alwaysReady int

resource storage 'Microsoft.Storage/storageAccounts@2025-01-01' existing = {
  name: storageName
}

resource insights 'Microsoft.Insights/components@2020-02-02' existing = {
  name: insightsName
}

var endpoints = storage.properties.primaryEndpoints

// secrets.json says which secret of the vault each setting is.
var secretSettings = mapValues(
  loadJsonContent('secrets.json'),
  secret => '@Microsoft.KeyVault(SecretUri=${vaultUri}secrets/${secret})'
)

var ofTokens = empty(audience)
  ? {}
  : {
      SLIPWAY_TENANT: tenant().tenantId
      SLIPWAY_AUDIENCE: audience
      SLIPWAY_AUTHORITY: environment().authentication.loginEndpoint
    }

resource plan 'Microsoft.Web/serverfarms@2024-11-01' = {
  name: 'plan-${token}'
  location: location
  tags: tags
  kind: 'functionapp'
  sku: { name: 'FC1', tier: 'FlexConsumption' }
  properties: { reserved: true }
}

resource app 'Microsoft.Web/sites@2024-11-01' = {
  name: 'func-${token}'
  location: location
  tags: union(tags, { 'azd-service-name': 'dispatcher' })
  kind: 'functionapp,linux'
  identity: { type: 'UserAssigned', userAssignedIdentities: { '${identityId}': {} } }
  properties: {
    serverFarmId: plan.id
    httpsOnly: true
    keyVaultReferenceIdentity: identityId
    virtualNetworkSubnetId: empty(subnetId) ? null : subnetId
    // No ftpsState: Flex Consumption has no FTP, and refuses the member (error 51021).
    siteConfig: { minTlsVersion: '1.2', scmMinTlsVersion: '1.2', http20Enabled: true }
    functionAppConfig: {
      deployment: {
        storage: {
          type: 'blobContainer'
          value: '${endpoints.blob}app-package'
          authentication: { type: 'UserAssignedIdentity', userAssignedIdentityResourceId: identityId }
        }
      }
      runtime: { name: 'python', version: '3.13' }
      scaleAndConcurrency: {
        instanceMemoryMB: 2048
        maximumInstanceCount: 40
        alwaysReady: alwaysReady > 0 ? [{ name: 'function:sweeper', instanceCount: alwaysReady }] : []
        triggers: { http: { perInstanceConcurrency: 16 } }
      }
    }
  }

  resource noPasswordForFtp 'basicPublishingCredentialsPolicies' = {
    name: 'ftp'
    properties: { allow: false }
  }

  resource noPasswordForScm 'basicPublishingCredentialsPolicies' = {
    name: 'scm'
    properties: { allow: false }
  }

  resource settings 'config' = {
    name: 'appsettings'
    properties: union(
      {
        AzureWebJobsStorage__credential: 'managedidentity'
        AzureWebJobsStorage__clientId: clientId
        AzureWebJobsStorage__blobServiceUri: endpoints.blob
        AzureWebJobsStorage__queueServiceUri: endpoints.queue
        AzureWebJobsStorage__tableServiceUri: endpoints.table
        // Without it, the host shows a page of its own at /.
        AzureWebJobsDisableHomepage: 'true'
        // Drops come as events on the queue. The trigger would read a whole file, and is a web hook as well.
        AzureWebJobs_accept_drop_Disabled: 'true'
        APPLICATIONINSIGHTS_CONNECTION_STRING: insights.properties.ConnectionString
        APPLICATIONINSIGHTS_AUTHENTICATION_STRING: 'ClientId=${clientId};Authorization=AAD'
        AZURE_CLIENT_ID: clientId
        SLIPWAY_STORAGE__credential: 'managedidentity'
        SLIPWAY_STORAGE__clientId: clientId
        SLIPWAY_STORAGE__blobServiceUri: endpoints.blob
        SLIPWAY_STORAGE__queueServiceUri: endpoints.queue
        SLIPWAY_STORAGE__tableServiceUri: endpoints.table
        SLIPWAY_CLUSTERS: string(clusters)
        SLIPWAY_SOURCE: 'urn:slipway:${token}'
        SLIPWAY_REGION: location
        SLIPWAY_SUBSCRIPTION: subscription().subscriptionId
        SLIPWAY_RESOURCE_GROUP: resourceGroup().name
      },
      secretSettings,
      ofTokens,
      loadJsonContent('settings.json')
    )
  }
}

output name string = app.name
output url string = 'https://${app.properties.defaultHostName}'
