"""An expression of another type than its place, a bound or a scope: found without the compiler."""

from __future__ import annotations

from pathlib import Path

import pytest

from local.bicep.check import check
from local.bicep.types import Types
from tests.unit.local.bicep.planted import planted

PLANTED = {
    "a loop over a text": (
        "network.bicep",
        "var kinds = ['blob', 'queue', 'table']",
        "var kinds = 'blob'",
        "BCP138",
    ),
    "a function without its argument": ("dispatcher.bicep", "empty(audience) ?", "empty() ?", "BCP071"),
    "a name of nothing": ("vault.bicep", "guid(vault.id, 'app', secretsUser)", "guid()", "BCP071"),
    "all parents at once": ("batch-network.bicep", "parent: endpoints[index]", "parent: endpoints", "BCP036"),
    "an index of one parent": (
        "storage.bicep",
        "parent: queueService\n",
        "parent: queueService[0]\n",
        "BCP036",
    ),
    "an index of one resource": (
        "batch.bicep",
        "guid(account.id, 'app', s",
        "guid(account[0].id, 'app', s",
        "BCP076",
    ),
    "a number for a text, as output": (
        "batch.bicep",
        "output id string = account.id",
        "output id string = 5",
        "BCP033",
    ),
    "an object for a text, as output": (
        "batch.bicep",
        "output clusters object = {",
        "output clusters string = {",
        "BCP033",
    ),
    "a parameter of another type, as output": (
        "batch.bicep",
        "output name string = account.name",
        "output name string = gpus",
        "BCP033",
    ),
    "an output of a module, of another type": (
        "main.bicep",
        "output AZURE_RESOURCE_GROUP string = group.name",
        "output AZURE_RESOURCE_GROUP string = batch!.outputs.clusters",
        "BCP033",
    ),
    "a resource for its name, as output": (
        "storage.bicep",
        "output name string = storage.name",
        "output name string = storage",
        "BCP033",
    ),
    "a scope that is none": (
        "main.bicep",
        "targetScope = 'subscription'",
        "targetScope = 'subscripton'",
        "BCP033",
    ),
    "a group without a subscription": ("main.bicep", "targetScope = 'subscription'\n", "", "BCP135"),
    "a default that is not allowed": (
        "main.bicep",
        "param engine string = 'none'",
        "param engine string = 'kubernetes'",
        "BCP033",
    ),
    "a default below the least": (
        "main.bicep",
        "param dailyLogGb int = 1",
        "param dailyLogGb int = 0",
        "BCP033",
    ),
    "a default that is too short": (
        "main.bicep",
        "param environmentName string",
        "param environmentName string = ''",
        "BCP033",
    ),
    "a text for the number of a module": (
        "main.bicep",
        "alwaysReady: alwaysReady",
        "alwaysReady: 'x'",
        "BCP036",
    ),
    "a text for the object of a module": ("main.bicep", "tags: tags }", "tags: 'x' }", "BCP036"),
    "a number for the flag of a module": ("main.bicep", "spot: batchSpot", "spot: batchMaxNodes", "BCP036"),
    "an object for the text of a module": ("main.bicep", "location: nodesRegion", "location: tags", "BCP036"),
    "an output for the flag of a module": (
        "main.bicep",
        "isPrivate: vnetEnabled",
        "isPrivate: identity.outputs.principalId",
        "BCP036",
    ),
    "a suffix that no cloud has": (
        "network.bicep",
        "environment().suffixes.storage",
        "environment().suffixes.storge",
        "BCP053",
    ),
    "a tenant without that member": (
        "vault.bicep",
        "tenantId: tenant().tenantId",
        "tenantId: tenant().tenantid",
        "BCP053",
    ),
    "a group without that member": (
        "dispatcher.bicep",
        "resourceGroup().name",
        "resourceGroup().nme",
        "BCP053",
    ),
    "a subscription without that member": (
        "dispatcher.bicep",
        "subscription().subscriptionId",
        "subscription().subscriptionID",
        "BCP053",
    ),
    "a deployer without that member": ("main.bicep", "deployer().objectId", "deployer().objectid", "BCP053"),
    "a member of what exists": (
        "events.bicep",
        "existing = {\n  parent: storage\n",
        "existing = {\n  parent: storage\n  nonsense: true\n",
        "BCP173",
    ),
    "a member that no module has": (
        "main.bicep",
        "  name: 'identity'\n",
        "  name: 'identity'\n  location: location\n",
        "BCP037",
    ),
}


@pytest.mark.parametrize("error", PLANTED)
def test_an_error_of_types_is_found_with_the_compilers_code(tmp_path: Path, error: str) -> None:
    file, old, new, code = PLANTED[error]

    findings = check(planted(tmp_path, file, old, new), Types(tmp_path)).findings

    assert code in {one.code for one in findings if one.file == file}
