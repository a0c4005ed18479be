"""A weakness is found behind a condition, a variable, a union, and in who and what a module is given."""

from __future__ import annotations

from pathlib import Path

import pytest

from local.bicep.policy import weaknesses
from tests.unit.local.bicep.planted import planted

_NODES, _APP = "'${nodes.id}': {}", "'${identityId}': {}"
_ACLS = "networkAcls: { defaultAction: 'Allow', bypass: 'AzureServices' }"
_OPEN = "{ defaultAction: 'Allow', ipRules: [] }"
_SITE = "{ minTlsVersion: '1.2', scmMinTlsVersion: '1.2', http20Enabled: true }"
_CLOSED = "isPrivate ? 'Deny' : 'Allow'"
_PROVISION = "isPrivate\n      ? { subnetId"
PLANTED: dict[str, tuple[str, ...]] = {
    "the app's identity on the nodes": ("batch.bicep", _NODES, f"{_NODES}, '${{appIdentityId}}': {{}}"),
    "another identity of the nodes": ("batch.bicep", _NODES, "'${resourceId('a/b', 'c')}': {}"),
    "another identity of the app": ("dispatcher.bicep", _APP, f"{_APP}, '/subscriptions/x': {{}}"),
    "an identity by a condition": (
        "batch.bicep",
        f"userAssignedIdentities: {{ {_NODES} }}",
        f"userAssignedIdentities: spot ? {{ '${{x}}': {{}} }} : {{ {_NODES} }}",
    ),
    "an identity of the topic": (
        "events.bicep",
        "  identity: { type: 'SystemAssigned' }\n",
        "  identity: { type: 'SystemAssigned', userAssignedIdentities: { '${storageName}': {} } }\n",
    ),
    "an identity where none is needed": (
        "storage.bicep",
        "  kind: 'StorageV2'",
        "  kind: 'StorageV2'\n  identity: { type: 'SystemAssigned' }",
    ),
    "a firewall the wrong way round": ("storage.bicep", _CLOSED, f"!{_CLOSED}"),
    "a firewall that is never shut": ("storage.bicep", _CLOSED, f"isPrivate && false ? {_CLOSED[12:]}"),
    "a firewall by a nested condition": (
        "storage.bicep",
        _CLOSED,
        "isPrivate ? (empty(token) ? 'Deny' : 'Allow') : 'Allow'",
    ),
    "a condition that is turned in its variable": (
        "batch.bicep",
        "var isPrivate = !empty(subnetId)",
        "var isPrivate = empty(subnetId)",
    ),
    "a condition that is turned two variables away": (
        "batch.bicep",
        "var isPrivate = !empty(subnetId)",
        "var isOpen = !empty(subnetId)\nvar isPrivate = !isOpen",
    ),
    "a Batch account that opens in a network": ("batch.bicep", "isPrivate ? 'Dis", "!isPrivate ? 'Dis"),
    "addresses of nodes in a network alone": ("batch.bicep", _PROVISION, _PROVISION.replace("is", "!is")),
    "a variable in between": ("vault.bicep", _ACLS, "networkAcls: acls", f"var acls = {_OPEN}"),
    "a member of a variable": ("vault.bicep", _ACLS, "networkAcls: a.acls", f"var a = {{ acls: {_OPEN} }}"),
    "a variable of a variable": ("vault.bicep", _ACLS, "networkAcls: a", f"var a = b\nvar b = {_OPEN}"),
    "a variable that closes nothing": (
        "storage.bicep",
        "allowSharedKeyAccess: false",
        "allowSharedKeyAccess: keys",
        "var keys = true",
    ),
    "members by a union": ("vault.bicep", _ACLS, "networkAcls: union({}, any(acls))", f"var acls = {_OPEN}"),
    "members by a union with a parameter": ("vault.bicep", _ACLS, "networkAcls: union({}, tags)"),
    "a member that a union takes back": (
        "dispatcher.bicep",
        _SITE,
        f"union({_SITE}, {{ minTlsVersion: '1.0' }})",
    ),
    "a member within one that a union takes back": (
        "storage.bicep",
        "bypass: 'AzureServices' }",
        "bypass: union({ a: 'AzureServices' }, { a: 'None' }).a }",
    ),
    "members that only Azure can read": ("vault.bicep", _ACLS, """networkAcls: json('{"ipRules": []}')"""),
    "members that a parameter brings": ("vault.bicep", _ACLS, "networkAcls: tags"),
    "a member whose name is made": (
        "storage.bicep",
        "    accessTier: 'Hot'",
        "    accessTier: 'Hot'\n    'allow${token}': true",
    ),
    "properties of which the second are bad": (
        "dispatcher.bicep",
        "    name: 'ftp'\n    properties: { allow: false }",
        "    name: 'ftp'\n    properties: empty(audience) ? { allow: false } : { allow: true }",
    ),
    "a guard that is not always made": (
        "dispatcher.bicep",
        "'basicPublishingCredentialsPolicies' = {\n    name: 'scm'",
        "'basicPublishingCredentialsPolicies' = if (empty(audience)) {\n    name: 'scm'",
    ),
    "a network where none was wished": ("main.bicep", "= if (vnetEnabled) {", "= if (!vnetEnabled) {"),
    "alerts for those who have no address": ("alerts.bicep", "if (!empty(email))", "if (empty(email))"),
    "the app's roles for a person": (
        "main.bicep",
        "appPrincipalId: identity.outputs.principalId",
        "appPrincipalId: principalId",
    ),
    "a person's roles for a place": ("main.bicep", "deployerId: principalId", "deployerId: location"),
    "a module in another group": ("main.bicep", "scope: group", "scope: resourceGroup('elsewhere')"),
    "a stranger's roles": (
        "main.bicep",
        "param principalId string = deployer().objectId",
        "param principalId string = '6b5f4e2a-0d0c-4b0e-9d7e-0a1b2c3d4e5f'",
    ),
    "a module that hands on another identity": (
        "identity.bicep",
        "string = identity.properties.principalId",
        "string = deployer().objectId",
    ),
    "the package of someone else": (
        "dispatcher.bicep",
        "value: '${endpoints.blob}app-package'",
        "value: 'https://elsewhere.blob.core.windows.net/app-package'",
    ),
    "endpoints of someone else": (
        "dispatcher.bicep",
        "var endpoints = storage.properties.primaryEndpoints",
        "var endpoints = { blob: 'https://a', queue: 'https://b', table: 'https://c' }",
    ),
    "a ledger elsewhere": (
        "dispatcher.bicep",
        "SLIPWAY_STORAGE__tableServiceUri: endpoints.table",
        "SLIPWAY_STORAGE__tableServiceUri: 'https://elsewhere.table.core.windows.net'",
    ),
    "logs for someone else": (
        "dispatcher.bicep",
        "APPLICATIONINSIGHTS_CONNECTION_STRING: insights.properties.ConnectionString",
        "APPLICATIONINSIGHTS_CONNECTION_STRING: 'IngestionEndpoint=https://elsewhere'",
    ),
    "a secret of another vault": (
        "dispatcher.bicep",
        "AZURE_CLIENT_ID: clientId",
        "AZURE_CLIENT_ID: clientId\n        SLIPWAY_SEAL_KEY: "
        "'@Microsoft.KeyVault(SecretUri=https://elsewhere.vault.azure.net/secrets/seal-key)'",
    ),
    "another vault": (
        "dispatcher.bicep",
        "SecretUri=${vaultUri}",
        "SecretUri=https://elsewhere.vault.azure.net/",
    ),
    "settings of another file": (
        "dispatcher.bicep",
        "loadJsonContent('settings.json')",
        "loadJsonContent('main.parameters.json')",
    ),
    "tokens of another tenant": (
        "dispatcher.bicep",
        "SLIPWAY_TENANT: tenant().tenantId",
        "SLIPWAY_TENANT: 'common'",
    ),
    "events for another queue": ("events.bicep", "queueName: 'jobs'", "queueName: 'job-events'"),
    "events for another account": (
        "events.bicep",
        "properties: { resourceId: storage.id, queueName",
        "properties: { resourceId: '/subscriptions/x', queueName",
    ),
    "an image of someone else": ("batch.bicep", "publisher: 'microsoft-dsvm'", "publisher: 'elsewhere'"),
    "an image by its id": (
        "batch.bicep",
        "version: 'latest' }",
        "version: 'latest', id: '/subscriptions/x/images/y' }",
    ),
    "alerts that are off": ("alerts.bicep", "enabled: true\n      // The", "enabled: false\n      // The"),
    "alerts for someone else": ("alerts.bicep", "emailAddress: email", "emailAddress: 'x@example.com'"),
    "a private door to another account": (
        "network.bicep",
        "privateLinkServiceId: storageId",
        "privateLinkServiceId: location",
    ),
    "deleted drops that are gone tomorrow": (
        "storage.bicep",
        "deleteRetentionPolicy: { enabled: true, days: 7 }",
        "deleteRetentionPolicy: { enabled: true, days: 1 }",
    ),
    "nodes that come before the way to their account": ("batch.bicep", "  dependsOn: [doors]\n", ""),
    "a way to the account that is not always made": (
        "batch.bicep",
        "if (isPrivate) {",
        "if (minNodes > 0) {",
    ),
    "a way to the account from another subnet": (
        "batch.bicep",
        "subnetId: endpointsSubnetId",
        "subnetId: subnetId",
    ),
    "a way to the account in another group": (
        "batch.bicep",
        "  name: 'batch-network'\n",
        "  name: 'batch-network'\n  scope: resourceGroup('elsewhere')\n",
    ),
    "events before their roles": (
        "events.bicep",
        "dependsOn: [mayDeliver, mayKeep]",
        "dependsOn: [mayDeliver]",
    ),
    "alerts that Azure refuses until there are tables": (
        "alerts.bicep",
        "      skipQueryValidation: true\n",
        "",
    ),
    "a pool for every engine": (
        "main.bicep",
        "var isBatch = engine == 'batch'",
        "var isBatch = engine != 'none'",
    ),
}  # fmt: skip


@pytest.mark.parametrize("weakness", PLANTED)
def test_a_weakness_behind_a_detour_is_found_in_its_file(tmp_path: Path, weakness: str) -> None:
    file, old, new, *more = PLANTED[weakness]

    findings = weaknesses(planted(tmp_path, file, old, new, *more))

    assert {one.file for one in findings} == {file}
