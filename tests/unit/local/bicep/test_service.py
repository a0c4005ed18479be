"""Templates that would deploy, and then watch no one, reach nothing, or cost what no one chose."""

from __future__ import annotations

from pathlib import Path

import pytest

from local.bicep.policy import weaknesses
from tests.unit.local.bicep.planted import planted

PLANTED = {
    "an account's name with a hyphen": ("storage.bicep", "name: 'st${token}'", "name: 'st-${token}'"),
    "a vault's name that is too long": ("vault.bicep", "'kv-${token}'", "'kv-slipway-of-a-team-${token}'"),
    "keys where people look first": (
        "storage.bicep",
        "defaultToOAuthAuthentication: true",
        "defaultToOAuthAuthentication: false",
    ),
    "events of blobs that go": ("events.bicep", "'FlushWithClose'", "'DeleteBlob'"),
    "throttling that no one notices": ("alerts.bicep", "threshold: 10\n", "threshold: 100000\n"),
    "a window shorter than its evaluation": ("alerts.bicep", "windowSize: 'PT10M'", "windowSize: 'PT1M'"),
    "an alert of every event": (
        "alerts.bicep",
        "metricName: 'DeadLetteredCount'",
        "metricName: 'PublishSuccessCount'",
    ),
    "an alert of another resource": ("alerts.bicep", "scopes: [insightsId]", "scopes: [storageId]"),
    "instances without a bound": (
        "dispatcher.bicep",
        "maximumInstanceCount: 40",
        "maximumInstanceCount: 1000",
    ),
    "deleted containers that are gone": (
        "storage.bicep",
        "containerDeleteRetentionPolicy: { enabled: true, days: 7 }",
        "containerDeleteRetentionPolicy: { enabled: false }",
    ),
    "roles for a group": ("storage.bicep", "principalType: 'ServicePrincipal'", "principalType: 'Group'"),
    "an endpoint in the zone of another service": (
        "network.bicep",
        "privateDnsZoneId: zones[index].id",
        "privateDnsZoneId: zones[0].id",
    ),
    "three endpoints of one service": ("network.bicep", "groupIds: [kind]", "groupIds: ['blob']"),
    "a zone that no network asks": (
        "network.bicep",
        "virtualNetwork: { id: network.id }",
        "virtualNetwork: { id: storageId }",
    ),
    "endpoints in the subnet of the app": (
        "network.bicep",
        "subnet: { id: network::endpoints.id }",
        "subnet: { id: network::app.id }",
    ),
    "a zone that Azure does not ask": (
        "batch-network.bicep",
        "name: 'privatelink.batch.${suffix}'",
        "name: 'privatelink.batch.example.com'",
    ),
    "logs of two years": ("monitor.bicep", "retentionInDays: 30", "retentionInDays: 730"),
    "a budget that says nothing": ("budget.bicep", "most: { enabled: true", "most: { enabled: false"),
    "a budget that speaks too late": ("budget.bicep", "threshold: 100,", "threshold: 10000,"),
    "a budget that speaks to no one": ("budget.bicep", "contactEmails: [email]", "contactEmails: []"),
    "two deployments in one group": (
        "main.bicep",
        "name: 'rg-slipway-${environmentName}'",
        "name: 'rg-slipway'",
    ),
    "names that two deployments share": (
        "main.bicep",
        "uniqueString(subscription().id, environmentName, location)",
        "uniqueString(subscription().id)",
    ),
    "a group that azd does not find": (
        "main.bicep",
        "var tags = { 'azd-env-name': environmentName }",
        "var tags = { env: environmentName }",
    ),
    "an app that azd does not find": (
        "dispatcher.bicep",
        "'azd-service-name': 'dispatcher'",
        "'azd-service-name': 'app'",
    ),
    "a page of the host's own": (
        "dispatcher.bicep",
        "AzureWebJobsDisableHomepage: 'true'",
        "AzureWebJobsDisableHomepage: 'false'",
    ),
    "a second door for drops, which reads whole files": (
        "dispatcher.bicep",
        "AzureWebJobs_accept_drop_Disabled: 'true'",
        "AzureWebJobs_accept_drop_Disabled: 'false'",
    ),
    "a package from elsewhere": (
        "dispatcher.bicep",
        "AZURE_CLIENT_ID: clientId",
        "AZURE_CLIENT_ID: clientId\n        WEBSITE_RUN_FROM_PACKAGE: 'https://elsewhere/x.zip'",
    ),
    "modules from elsewhere": (
        "dispatcher.bicep",
        "AZURE_CLIENT_ID: clientId",
        "AZURE_CLIENT_ID: clientId\n        PYTHONPATH: '/home/x'",
    ),
    "webhooks into the app itself": (
        "dispatcher.bicep",
        "AZURE_CLIENT_ID: clientId",
        "AZURE_CLIENT_ID: clientId\n        SLIPWAY_WEBHOOK_LOOPBACK: 'true'",
    ),
    "a cluster that no one chose": (
        "main.bicep",
        "clusters: engine == 'none' ? {} : union(",
        "clusters: engine == 'none' ? { x: 1 } : union(",
    ),
    "nodes in the subscription itself": (
        "batch.bicep",
        "poolAllocationMode: 'BatchService'",
        "poolAllocationMode: 'UserSubscription'",
    ),
    "nodes that Batch calls": (
        "batch.bicep",
        "taskSlotsPerNode: 1",
        "taskSlotsPerNode: 1\n    targetNodeCommunicationMode: 'Classic'",
    ),
    "jobs that share a node's GPUs": ("batch.bicep", "taskSlotsPerNode: 1", "taskSlotsPerNode: 64"),
    "a debugger behind a comment": (
        "dispatcher.bicep",
        "http20Enabled: true",
        "http20Enabled: true, remoteDebuggingEnabled: /* x */ true",
    ),
    "secrets for machines, behind a comment": (
        "vault.bicep",
        "publicNetworkAccess: 'Enabled'",
        "enabledForDeployment: /* no */ true\n    publicNetworkAccess: 'Enabled'",
    ),
    "an app that reaches no receiver": (
        "network.bicep",
        "defaultOutboundAccess: true\n",
        "defaultOutboundAccess: false\n",
    ),
    "an account without queues": ("storage.bicep", "kind: 'StorageV2'", "kind: 'BlobStorage'"),
    "instances that no one chose": ("dispatcher.bicep", "instanceCount: alwaysReady", "instanceCount: 10"),
    "the app among the nodes": (
        "network.bicep",
        "output appSubnetId string = network::app.id",
        "output appSubnetId string = network::nodes.id",
    ),
    "an account that is called without TLS": (
        "batch.bicep",
        "url: 'https://${account.properties.accountEndpoint}'",
        "url: 'http://${account.properties.accountEndpoint}'",
    ),
    "a Python that no test runs on": ("dispatcher.bicep", "version: '3.13'", "version: '3.9'"),
    "alerts of no weight": ("alerts.bicep", "severity: one.severity", "severity: 4"),
    "alerts that are muted for a day": (
        "alerts.bicep",
        "autoMitigate: true",
        "autoMitigate: true\n      muteActionsDuration: 'P1D'",
    ),
    "a setting that is dropped": ("dispatcher.bicep", "        SLIPWAY_REGION: location\n", ""),
    "a connection without its identity": (
        "dispatcher.bicep",
        "        SLIPWAY_STORAGE__clientId: clientId\n",
        "",
    ),
    "a setting of tokens that is dropped": ("dispatcher.bicep", "SLIPWAY_AUDIENCE: audience", ""),
    "an option of the made cluster that is dropped": ("batch.bicep", "    spot: spot\n  }\n}", "  }\n}"),
    "an option of the made cluster with another value": (
        "batch.bicep",
        "maxNodes: maxNodes\n    spot",
        "maxNodes: minNodes\n    spot",
    ),
    "nodes that stay by default": (
        "main.bicep",
        "param batchMinNodes int = 0",
        "param batchMinNodes int = 2",
    ),
    "a default of a parameter that had none": (
        "main.bicep",
        "param location string",
        "param location string = deployment().location",
    ),
    "subnets that overlap": ("network.bicep", "10.0.1.0/24", "10.0.0.128/25"),
    "a subnet outside of its network": ("network.bicep", "10.0.2.0/24", "10.1.2.0/24"),
    "an average of dead letters": ("alerts.bicep", "timeAggregation: 'Total'", "timeAggregation: 'Average'"),
}


@pytest.mark.parametrize("weakness", PLANTED)
def test_a_deployment_that_would_not_serve_is_found_in_its_file(tmp_path: Path, weakness: str) -> None:
    file, old, new = PLANTED[weakness]

    findings = weaknesses(planted(tmp_path, file, old, new))

    assert {one.file for one in findings} == {file}
