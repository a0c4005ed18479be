"""The checker of templates, against Microsoft's types; without them, what needs none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from local.bicep.__main__ import templates
from local.bicep.check import check
from local.bicep.fetch import TYPES
from local.bicep.reader import read
from local.bicep.types import Types, file_name
from tests.unit.local.bicep.planted import INFRA, planted

#: Read once, for all tests.
OF_AZURE = Types(TYPES)
#: what → the file, a text in it and another one, the compiler's code
TYPED = {
    "a number for a text, by its parameter": ("batch.bicep", "vmSize: vmSize", "vmSize: gpus", "BCP036"),
    "a flag for a text, by its parameter": (
        "storage.bicep",
        "accessTier: 'Hot'",
        "accessTier: isPrivate",
        "BCP036",
    ),
    "a text for a number, by its parameter": (
        "monitor.bicep",
        "dailyQuotaGb: dailyLogGb",
        "dailyQuotaGb: token",
        "BCP036",
    ),
    "a resource for its id": (
        "monitor.bicep",
        "WorkspaceResourceId: logs.id",
        "WorkspaceResourceId: logs",
        "BCP036",
    ),
    "a word behind a comment": ("storage.bicep", "accessTier: 'Hot'", "accessTier: /* x */ 'Warm'", "BCP036"),
    "a member before a comment": (
        "storage.bicep",
        "allowBlobPublicAccess: false",
        "allowBlobPublicAcess: /* x */ false",
        "BCP037",
    ),
    "a text for the number of a pool": (
        "batch.bicep",
        "taskSlotsPerNode: 1",
        "taskSlotsPerNode: '1'",
        "BCP036",
    ),
    "a word of a pool that is none": (
        "batch.bicep",
        "interNodeCommunication: 'Enabled'",
        "interNodeCommunication: 'On'",
        "BCP036",
    ),
    "a word in a condition": ("batch.bicep", "'NoPublicIPAddresses'", "'None'", "BCP036"),
    "a member as another API spells it": ("batch.bicep", "nodeAgentSkuId", "nodeAgentSKUId", "BCP037"),
    "a formula that is missing": ("batch.bicep", "formula: formula, ", "", "BCP035"),
    "a text for a list": (
        "main.bicep",
        "actions: ['Microsoft.Batch/batchAccounts/pools/write']",
        "actions: 'Microsoft.Batch/batchAccounts/pools/write'",
        "BCP036",
    ),
    "a word in a list": ("batch.bicep", "['AAD']", "['Entra']", "BCP036"),
    "a text with a name in it for a number": (
        "events.bicep",
        "maxDeliveryAttempts: 30",
        "maxDeliveryAttempts: '${token}'",
        "BCP036",
    ),
    "a misspelt member": ("storage.bicep", "allowBlobPublicAccess:", "allowBlobPublicAcess:", "BCP037"),
    "another case": ("monitor.bicep", "DisableLocalAuth", "disableLocalAuth", "BCP037"),
    "a misspelt member of a member": ("dispatcher.bicep", "http20Enabled:", "http2Enabled:", "BCP037"),
    "a member in another place": ("dispatcher.bicep", "httpsOnly: true", "minTlsVersion: '1.2'", "BCP037"),
    "a text for a flag": (
        "storage.bicep",
        "supportsHttpsTrafficOnly: true",
        "supportsHttpsTrafficOnly: 'true'",
        "BCP036",
    ),
    "a number for a flag": ("vault.bicep", "enableSoftDelete: true", "enableSoftDelete: 1", "BCP036"),
    "a text for a number": ("events.bicep", "maxDeliveryAttempts: 30", "maxDeliveryAttempts: '30'", "BCP036"),
    "a flag for a text": ("monitor.bicep", "Application_Type: 'web'", "Application_Type: true", "BCP036"),
    "an object for a list": (
        "events.bicep",
        "includedEventTypes: ['Microsoft.Storage.BlobCreated']",
        "includedEventTypes: {}",
        "BCP036",
    ),
    "a list for an object": ("vault.bicep", "sku: { family: 'A', name: 'standard' }", "sku: []", "BCP036"),
    "a text for an object": ("identity.bicep", "tags: tags", "tags: 'x'", "BCP036"),
    "a word that is none of the list": ("storage.bicep", "accessTier: 'Hot'", "accessTier: 'Warm'", "BCP036"),
    "a required member that is missing": ("storage.bicep", "  kind: 'StorageV2'\n", "", "BCP035"),
    "a required member of a member": ("vault.bicep", "    tenantId: tenant().tenantId\n", "", "BCP035"),
    "a required location": ("monitor.bicep", "  location: location\n", "", "BCP035"),
    "no discriminator": ("events.bicep", "        endpointType: 'StorageQueue'\n", "", "BCP078"),
    "another discriminator": ("events.bicep", "operatorType: 'StringIn'", "operatorType: 'TextIn'", "BCP036"),
    "a member of another variant": (
        "events.bicep",
        "queueName: 'jobs'",
        "blobContainerName: 'jobs'",
        "BCP037",
    ),
    "a read-only member": ("identity.bicep", "  tags: tags", "  properties: { clientId: token }", "BCP073"),
    "a version that does not exist": (
        "events.bicep",
        "systemTopics@2025-02-15",
        "systemTopics@2025-02-16",
        "BCP081",
    ),
    "a member that a resource has not": (
        "dispatcher.bicep",
        "app.properties.defaultHostName",
        "app.properties.defaultHostname",
        "BCP053",
    ),
    "a member that an account has not": ("batch.bicep", "accountEndpoint", "accountEndpont", "BCP053"),
    "a name that a resource has not": (
        "dispatcher.bicep",
        "string = app.name",
        "string = app.nmae",
        "BCP053",
    ),
}
UNTYPED = {
    "a member that stands twice": (
        "vault.bicep",
        "enableSoftDelete: true",
        "enableSoftDelete: true\n    enableSoftDelete: false",
        "BCP025",
    ),
    "a default of another type": (
        "main.bicep",
        "param dailyLogGb int = 1",
        "param dailyLogGb int = '1'",
        "BCP033",
    ),
    "a word for a flag, by default": (
        "main.bicep",
        "param batchSpot bool = false",
        "param batchSpot bool = 'no'",
        "BCP033",
    ),
    "an output that a module has not": (
        "main.bicep",
        "network!.outputs.nodesSubnetId",
        "network!.outputs.nodeSubnetId",
        "BCP053",
    ),
    "a member that a variable has not": ("batch.bicep", "spot ? counts.spot", "spot ? counts.spt", "BCP053"),
    "a parameter declared twice": (
        "batch.bicep",
        "param gpus int",
        "param gpus int\nparam gpus int",
        "BCP028",
    ),
    "a function that is none": ("batch.bicep", "guid(account.id", "guidd(account.id", "BCP082"),
    "a decorator that is none": ("main.bicep", "@minLength(1)", "@minLengt(1)", "BCP082"),
    "a type that is none": ("batch.bicep", "param spot bool", "param spot boolean", "BCP302"),
    "a document that is not there": ("main.bicep", "'clusters.json'", "'cluster.json'", "BCP091"),
    "a text that is not there": ("monitor.bicep", "'workbook.json'", "'workbok.json'", "BCP091"),
    "a parent of another kind": ("batch.bicep", "parent: account", "parent: blobs", "BCP036"),
    "a resource without its parent": ("batch.bicep", "  parent: account\n", "", "BCP169"),
    "a resource that is not within another": (
        "network.bicep",
        "network::nodes.id",
        "network::node.id",
        "BCP159",
    ),
    "an output declared twice": (
        "batch.bicep",
        "output id string = account.id",
        "output id string = account.id\noutput id string = account.id",
        "BCP028",
    ),
    "a name that no one declares": ("main.bicep", "token: token", "token: tokn", "BCP057"),
    "a name in a lambda": ("dispatcher.bicep", "${secret})'", "${secrets})'", "BCP057"),
    "a parameter that a module has not": (
        "main.bicep",
        "dailyLogGb: dailyLogGb",
        "dailyLogs: dailyLogGb",
        "BCP037",
    ),
    "a parameter that a module needs": ("main.bicep", "    dailyLogGb: dailyLogGb\n", "", "BCP035"),
    "a file that is not there": ("main.bicep", "'events.bicep'", "'event.bicep'", "BCP091"),
    "a bracket": (
        "vault.bicep",
        "sku: { family: 'A', name: 'standard' }",
        "sku: { family: 'A', name: 'standard'",
        "SYNTAX",
    ),
    "a variable that no one uses": (
        "vault.bicep",
        "var secretsUser",
        "var other = 1\nvar secretsUser",
        "no-unused",
    ),
}


def test_the_templates_have_no_finding() -> None:
    assert check(templates(INFRA), Types(TYPES)).findings == []


@pytest.mark.parametrize("error", [*TYPED, *UNTYPED])
def test_a_planted_error_is_found_with_the_compilers_code(tmp_path: Path, error: str) -> None:
    file, old, new, code = (TYPED | UNTYPED)[error]
    if error in TYPED and not any(TYPES.glob("*.json")):
        pytest.skip("Microsoft's types are not here: `make check` fetches them into .local/bicep")

    findings = check(planted(tmp_path, file, old, new), OF_AZURE).findings

    assert code in {one.code for one in findings}
    assert {one.file for one in findings} <= {file, "main.bicep"}


def types_in(folder: Path, *, kind: str = "Example.Boats/harbours") -> Types:
    """Types that hold one kind of resource, as the program prints them."""
    body = {
        "$type": "Object",
        "name": kind,
        "properties": [
            {"name": "name", "type": "string", "flags": "Required, DeployTimeConstant"},
            {"name": "berths", "type": "int", "flags": "Required"},
            {"name": "flags", "type": "Flag[]"},
            {"name": "state", "type": "Open | Closed"},
            {"name": "made", "type": "string", "flags": "ReadOnly"},
        ],
    }
    flag = {
        "$type": "Object",
        "name": "Flag",
        "properties": [{"name": "colour", "type": "red | blue | string"}],
    }
    rows = [{"$type": "Resource", "name": f"{kind}@2026-01-01", "bodyType": body}, flag]
    (folder / file_name(kind)).write_text(json.dumps({"results": {"BicepSchemaResult": rows}}))
    return Types(folder)


@pytest.mark.parametrize(
    ("members", "codes"),
    [
        ("berths: 3\n flags: [{ colour: 'green' }]\n state: 'Open'", []),
        ("berths: count", []),
        ("berths: true ? 3 : 'four'", ["BCP036"]),
        ("flags: {}", ["BCP035", "BCP036"]),
        ("berths: 3\n flags: [for one in [1]: { color: 'red' }]", ["BCP037"]),
        ("berths: 3\n state: 'Ajar'", ["BCP036"]),
        ("berths: 3\n made: 'x'", ["BCP073"]),
        ("berths: 3\n name: 7", ["BCP036"]),
    ],
)
def test_a_resource_is_held_to_its_type(tmp_path: Path, members: str, codes: list[str]) -> None:
    name = "" if "name:" in members else " name: 'n'"
    text = f"resource a 'Example.Boats/harbours@2026-01-01' = {{\n {members}\n{name}\n}}\n"
    text += "param count int\noutput all int = count\n"
    (tmp_path / "a.bicep").write_text(text)

    report = check({"a.bicep": read(tmp_path / "a.bicep")}, types_in(tmp_path))

    assert sorted(one.code for one in report.findings) == codes


def test_a_type_that_is_not_here_is_named_not_passed_over(tmp_path: Path) -> None:
    (tmp_path / "a.bicep").write_text("resource a 'Example.Boats/quays@2026-01-01' = {\n name: 'n'\n}\n")

    report = check({"a.bicep": read(tmp_path / "a.bicep")}, Types(tmp_path))

    assert (report.findings, report.untyped) == ([], {"Example.Boats/quays@2026-01-01"})
