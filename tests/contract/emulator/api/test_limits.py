"""Limits that are documented or in the description, as the client meets them."""

import asyncio
from typing import Any

import pytest
from azure.core.exceptions import HttpResponseError

from tests.contract.emulator.conftest import CLUSTER, GROUP, Lab, autoscale, cluster_body, custom

EMPTY = {"manual": {"targetNodeCount": 0}}


def mpi(processes: int) -> dict[str, Any]:
    return {"customMpiSettings": {"commandLine": "true", "processCount": processes}}


def tensorflow(**counts: int) -> dict[str, Any]:
    return {"tensorFlowSettings": {"pythonScriptFilePath": "x.py", **counts}}


@pytest.mark.parametrize(
    ("properties", "target"),
    [
        (custom("true") | {"nodeCount": 101}, "/properties/nodeCount"),
        (custom("true") | {"nodeCount": 0}, "/properties/nodeCount"),
        (
            custom("true") | {"constraints": {"maxWallClockTime": "P7DT1S"}},
            "/properties/constraints/maxWallClockTime",
        ),
        (custom("true") | {"schedulingPriority": "urgent"}, "/properties/schedulingPriority"),
        (mpi(0), "/properties/customMpiSettings/processCount"),
        (tensorflow(parameterServerCount=2), "/properties/tensorFlowSettings/parameterServerCount"),
    ],
)
async def test_what_is_beyond_a_limit_is_refused_by_the_service_not_the_client(
    lab: Lab, properties: dict[str, Any], target: str
) -> None:
    await lab.make_cluster(EMPTY)

    with pytest.raises(HttpResponseError) as refused:
        await lab.submit("job", **properties)

    assert refused.value.status_code == 400
    assert refused.value.error is not None
    assert refused.value.error.target == target


@pytest.mark.parametrize(
    "properties",
    [
        custom("true") | {"nodeCount": 100},
        custom("true") | {"constraints": {"maxWallClockTime": "P7D"}},
        mpi(4),
        mpi(16),  # more than the documented four a node: it is the image and the node that decide
        tensorflow(parameterServerCount=1, workerCount=8),
    ],
)
async def test_what_is_just_within_a_limit_is_granted(lab: Lab, properties: dict[str, Any]) -> None:
    await lab.make_cluster(EMPTY)

    assert (await lab.submit("job", **properties)).execution_state == "queued"


@pytest.mark.parametrize("scale", [autoscale(101), {"manual": {"targetNodeCount": 101}}])
async def test_a_cluster_has_at_most_100_nodes_when_it_is_made_and_when_it_is_changed(
    lab: Lab, scale: dict[str, Any]
) -> None:
    await lab.make_cluster(EMPTY)
    created, _, _ = await lab.send("PUT", f"{lab.path}/clusters/other", json=cluster_body(scale))

    with pytest.raises(HttpResponseError) as changed:
        await lab.client.clusters.update(
            GROUP, lab.workspace, CLUSTER, {"properties": {"scaleSettings": scale}}
        )

    assert (created, changed.value.status_code) == (400, 400)
    assert (await lab.cluster()).scale_settings.manual.target_node_count == 0


@pytest.mark.parametrize("kind", ["clusters", "experiments", "fileServers", "experiments/digits/jobs"])
@pytest.mark.parametrize(
    ("name", "allowed"), [("a-B_9", True), ("x" * 64, True), ("x" * 65, False), ("a b", False)]
)
async def test_names_of_all_kinds_follow_one_rule(lab: Lab, kind: str, name: str, allowed: bool) -> None:
    await lab.prepare()

    status, body, _ = await lab.send("GET", f"{lab.path}/{kind}/{name}")

    assert status == (404 if allowed else 400)
    assert ("target" in body["error"]) is not allowed


@pytest.mark.parametrize(
    ("parameters", "target"),
    [
        ({"maxresults": "0"}, "maxresults"),
        ({"maxresults": "1001"}, "maxresults"),
        ({"maxresults": "many"}, "maxresults"),
        ({"linkexpiryinminutes": "4"}, "linkexpiryinminutes"),
        ({"linkexpiryinminutes": "601"}, "linkexpiryinminutes"),
        ({"outputdirectoryid": ""}, "outputdirectoryid"),
    ],
)
async def test_parameters_of_a_list_keep_to_their_limits(
    lab: Lab, parameters: dict[str, str], target: str
) -> None:
    await lab.make_cluster(EMPTY)
    await lab.submit("job", **custom("true"))
    path = f"{lab.path}/experiments/digits/jobs/job/listOutputFiles"

    status, body, _ = await lab.send("POST", path, params={"outputdirectoryid": "stdouterr"} | parameters)

    assert (status, body["error"]["target"]) == (400, target)


async def test_a_region_holds_200_clusters_of_a_subscription_and_no_more(own_lab: Lab) -> None:
    async def make(number: int, workspace: str = own_lab.path) -> int:
        body = cluster_body(EMPTY)
        return (await own_lab.send("PUT", f"{workspace}/clusters/c-{number}", json=body))[0]

    await own_lab.prepare()
    elsewhere = f"{own_lab.path}-2"
    await own_lab.send("PUT", elsewhere, json={"location": "westus"})
    created: list[int] = []
    for start in range(0, 200, 50):
        created += await asyncio.gather(*(make(number) for number in range(start, start + 50)))

    assert set(created) == {202}
    assert await make(7) == 200
    status, body, _ = await own_lab.send("PUT", f"{own_lab.path}/clusters/c-200", json=cluster_body(EMPTY))
    assert (status, body["error"]["code"]) == (409, "QuotaExceeded")
    assert await make(200, elsewhere) == 202
    await (await own_lab.client.clusters.begin_delete(GROUP, own_lab.workspace, "c-0")).result()
    assert await make(200) == 202


@pytest.mark.thorough
async def test_a_resource_group_holds_800_workspaces_and_no_more(own_lab: Lab) -> None:
    async def make(number: int) -> int:
        path = own_lab.path.replace(GROUP, "full") + f"-{number}"
        return (await own_lab.send("PUT", path, json={"location": "eastus"}))[0]

    await own_lab.emulator.make_group("full")
    created: list[int] = []
    for start in range(0, 800, 50):
        created += await asyncio.gather(*(make(number) for number in range(start, start + 50)))

    assert set(created) == {200}
    assert await make(800) == 409
