"""A type or a member that no one has thought about is a weakness, as is a guard that is left out."""

from __future__ import annotations

from pathlib import Path

import pytest

from local.bicep.__main__ import templates
from local.bicep.closed import CLOSED
from local.bicep.policy import weaknesses
from tests.unit.local.bicep.planted import INFRA, planted

PLANTED = {
    "addresses that pass the firewall": (
        "storage.bicep",
        "bypass: 'AzureServices' }",
        "bypass: 'AzureServices', ipRules: [{ value: '0.0.0.0/0' }] }",
    ),
    "blobs that leave the tenant": (
        "storage.bicep",
        "allowCrossTenantReplication: false",
        "allowCrossTenantReplication: true",
    ),
    "users of storage with passwords": (
        "storage.bicep",
        "accessTier: 'Hot'",
        "accessTier: 'Hot'\n    isLocalUserEnabled: true\n    isSftpEnabled: true",
    ),
    "every page may read blobs": (
        "storage.bicep",
        "    deleteRetentionPolicy",
        "    cors: { corsRules: [{ allowedOrigins: ['*'] }] }\n    deleteRetentionPolicy",
    ),
    "deleted blobs that are gone": (
        "storage.bicep",
        "    deleteRetentionPolicy: { enabled: true, days: 7 }",
        "    deleteRetentionPolicy: { enabled: false }",
    ),
    "a signing secret in a text": (
        "dispatcher.bicep",
        "SLIPWAY_REGION: location",
        """SLIPWAY_HOOKS: '{"default": "whsec_c2VjcmV0"}'""",
    ),
    "secrets of webhooks in a setting": (
        "dispatcher.bicep",
        "SLIPWAY_REGION: location",
        "SLIPWAY_WEBHOOK_SECRETS: 'x'",
    ),
    "events of every container": (
        "events.bicep",
        "      subjectBeginsWith: '/blobServices/default/containers/scripts/'\n",
        "",
    ),
    "alerts to another address": (
        "alerts.bicep",
        "    emailReceivers:",
        "    webhookReceivers: [{ name: 'x', serviceUri: 'http://example.com' }]\n    emailReceivers:",
    ),
    "someone else's token for the app's identity": (
        "identity.bicep",
        "output id string",
        "resource trust 'Microsoft.ManagedIdentity/userAssignedIdentities/"
        "federatedIdentityCredentials@2024-11-30' = {\n  parent: identity\n  name: 'x'\n}\noutput id string",
    ),
    "a script with an identity": (
        "vault.bicep",
        "output id string",
        "resource script 'Microsoft.Resources/deploymentScripts@2023-08-01' = {\n  name: 's'\n}\n"
        "output id string",
    ),
    "keys by the function for any resource": (
        "dispatcher.bicep",
        "output name string",
        "output all object = list('${app.id}/host/default', '2024-11-01')\noutput name string",
    ),
    "a second app": (
        "dispatcher.bicep",
        "  resource noPasswordForFtp",
        "  resource slot 'slots' = {\n    name: 'x'\n  }\n\n  resource noPasswordForFtp",
    ),
    "passwords of publishing, by the default": (
        "dispatcher.bicep",
        "  resource noPasswordForScm 'basicPublishingCredentialsPolicies' = {\n"
        "    name: 'scm'\n    properties: { allow: false }\n  }\n",
        "",
    ),
    "a grant in another tenant": (
        "storage.bicep",
        "principalType: 'ServicePrincipal'",
        "principalType: 'ServicePrincipal'\n      delegatedManagedIdentityResourceId: appPrincipalId",
    ),
}


@pytest.mark.parametrize("weakness", PLANTED)
def test_a_door_that_no_rule_names_is_found_in_its_file(tmp_path: Path, weakness: str) -> None:
    file, old, new = PLANTED[weakness]

    findings = weaknesses(planted(tmp_path, file, old, new))

    assert {one.file for one in findings} == {file}


def test_a_type_in_the_list_is_one_that_a_template_makes() -> None:
    kinds = {
        resource.type.partition("@")[0]
        for template in templates(INFRA).values()
        for resource in template.resources
        if not resource.is_existing
    }

    assert set(CLOSED) == kinds
