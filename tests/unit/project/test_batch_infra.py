"""The pool and the cluster that infra/ makes are those that the engine makes and reads."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from local.bicep.resolve import shown
from local.bicep.template import Value
from shared.configured import ConfiguredEngines
from shared.engines.batch.cluster import BatchCluster, clusters_from
from shared.engines.batch.provision import pool_body
from shared.engines.batch.scaling import Demand, formula
from shared.engines.provisioning import Plan
from shared.settings import Settings
from tests.unit.project.test_infra import TEMPLATES, code, of_type

#: What expressions of the template stand for.
FILLED: dict[str, Any] = {
    "'https://${account.properties.accountEndpoint}'": "https://ba1.westeurope.batch.azure.com",
    "account.id": "/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/rg-slipway"
    "/providers/Microsoft.Batch/batchAccounts/ba1",
    "pool.name": "gpu",
    "'${storage.properties.primaryEndpoints.blob}${records.name}'": "https://st1.blob.core.windows.net/clusters",
    "nodes.properties.clientId": "00000000-0000-0000-0000-00000000000c",
    "gpus": 1,
    "minNodes": 1,
    "maxNodes": 4,
    "spot": True,
}


def plain(value: Value) -> Any:
    """A value of the template, its expressions replaced by what they stand for."""
    if value.kind == "object":
        return {name: plain(one) for name, one in value.members.items()}
    if value.kind == "array":
        return [plain(one) for one in value.items]
    if value.kind == "code":
        return FILLED[value.text]
    return json.loads(value.text) if value.kind in ("int", "bool") else value.text


def made_clusters() -> dict[str, Any]:
    """SLIPWAY_CLUSTERS as the template makes it."""
    document: dict[str, Any] = plain(TEMPLATES["batch.bicep"].outputs["clusters"])
    return document


def cluster(**options: Any) -> BatchCluster:
    members = {name: value for name, value in made_clusters()["gpu"].items() if name != "engine"}
    (one,) = clusters_from({"gpu": members | options}, "SLIPWAY_CLUSTERS").values()
    return one


def pool() -> dict[str, Value]:
    (body,) = of_type("Microsoft.Batch/batchAccounts/pools")
    return dict(body.members["properties"].members)


def test_the_cluster_is_one_that_the_app_starts_with() -> None:
    engines = ConfiguredEngines(Settings({"SLIPWAY_CLUSTERS": json.dumps(made_clusters())}))

    assert set(engines.clusters) == {"gpu"}
    assert cluster().max_nodes == 4
    assert cluster().spot


def test_it_names_the_pool_and_the_container_of_the_template() -> None:
    (body,) = of_type("Microsoft.Batch/batchAccounts/pools")
    text = code("infra/batch.bicep")
    (name,) = re.findall(r"resource records '[^']*' = \{\n  parent: blobs\n  name: '(\w+)'", text)

    assert body.members["name"].text == FILLED["pool.name"] == cluster().pool
    assert cluster().blobs.endswith(f"/{name}")


@pytest.mark.parametrize("is_spot", [True, False])
@pytest.mark.parametrize("least", [0, 2])
def test_its_formula_is_what_a_pass_writes_when_nothing_waits(is_spot: bool, least: int) -> None:
    """Else each deployment would change the pool, and each pass change it back."""
    text = code("infra/batch.bicep")
    (words,) = re.findall(r"format\(\n  '''\n(.*?)'''", text, re.DOTALL)
    counts = plain(TEMPLATES["batch.bicep"].variables["counts"])
    target, other = ("spot", "dedicated") if is_spot else ("dedicated", "spot")
    (order,) = re.findall(
        r"''',\n  spot \? counts.(\w+) : counts.(\w+),\n  (\w+),\n  (\w+),\n  spot \? counts.(\w+)", text
    )

    assert order == ("spot", "dedicated", "maxNodes", "minNodes", "dedicated")
    assert words.format(counts[target], 4, least, counts[other]) == formula(
        cluster(spot=is_spot, minNodes=least), Demand()
    )
    assert "formula: formula, evaluationInterval" in text


def test_the_pool_is_the_one_that_setup_makes_but_for_its_identity() -> None:
    body = pool_body(cluster(), Plan())
    members = pool()
    machine = plain(members["deploymentConfiguration"])["virtualMachineConfiguration"]
    (size,) = re.findall(r"^param batchVmSize string = '(\w+)'", code("infra/main.bicep"), re.MULTILINE)

    assert machine == {
        "imageReference": body["virtualMachineConfiguration"]["imageReference"],
        "nodeAgentSkuId": body["virtualMachineConfiguration"]["nodeAgentSKUId"],
    }
    assert size == body["vmSize"]
    assert plain(members["taskSlotsPerNode"]) == body["taskSlotsPerNode"]
    assert shown(members["interNodeCommunication"]) == "gangs && maxNodes > 1 ? Enabled : Disabled"
    assert body["enableInterNodeCommunication"]
    assert (
        plain(members["taskSchedulingPolicy"])["nodeFillType"].lower()
        == body["taskSchedulingPolicy"]["nodeFillType"]
    )
    assert plain(members["metadata"]) == body["metadata"]
    assert f"evaluationInterval: '{body['autoScaleEvaluationInterval']}'" in code("infra/batch.bicep")
    assert "containerConfiguration" not in machine


def test_an_entry_of_the_file_adds_options_to_the_made_cluster() -> None:
    """Azure merges objects member by member, and the last one wins."""
    (order,) = re.findall(
        r"clusters: engine == 'none' \? \{\} : union\((.*)\)$", code("infra/main.bicep"), re.M
    )

    assert order == "isBatch ? batch!.outputs.clusters : {}, loadJsonContent('clusters.json')"
    assert cluster(maxWallClock="P1D").pool == "gpu"
