"""What the recordings of azure-sdk-for-python (azure-mgmt-batchai/tests, 2018) show, value by value."""

import sqlite3
from contextlib import closing
from typing import Any

import pytest
from azure.mgmt.batchai.models import (
    AutoScaleSettings,
    ClusterCreateParameters,
    ClusterUpdateParameters,
    ScaleSettings,
    UserAccountSettings,
)

from tests.contract.emulator.conftest import CLUSTER, GROUP, Lab, cluster_body, custom, share_mount, until
from tests.contract.emulator.recorder import Recorder

EMPTY = {"manual": {"targetNodeCount": 0}}
SERVER: dict[str, Any] = {
    "vmSize": "STANDARD_D1",
    "sshConfiguration": {"userAccountSettings": {"adminUserName": "demoUser", "adminUserPassword": "hidden"}},
    "dataDisks": {"diskSizeInGB": 10, "diskCount": 2, "storageAccountType": "Standard_LRS"},
}
FAMILIES = ("D", "Dv2", "NC", "NCv2", "NCv3", "ND", "NV")


async def test_terminating_a_finished_job_is_done_at_once(lab: Lab) -> None:
    await lab.make_cluster(EMPTY)
    await lab.submit("job", **custom("true"))
    path = f"{lab.path}/experiments/digits/jobs/job"
    await lab.send("POST", f"{path}/terminate")
    before = (await lab.ends("job")).as_dict()

    status, body, headers = await lab.send("POST", f"{path}/terminate")

    assert (status, body, headers["Content-Length"]) == (200, None, "0")
    assert {"Azure-AsyncOperation", "Location", "Retry-After"}.isdisjoint(headers)
    assert (await lab.job("job")).as_dict() == before


async def test_shares_show_the_modes_that_they_are_mounted_with(lab: Lab) -> None:
    mounts = {
        "azureFileShares": [share_mount("logs", "logs"), share_mount("data", "data") | {"fileMode": "0700"}]
    }
    await lab.make_cluster(EMPTY, nodeSetup={"mountVolumes": mounts})
    await lab.submit("job", mountVolumes=mounts, **custom("true"))

    cluster, job = await lab.cluster(), await lab.job("job")

    for volumes in (cluster.node_setup.mount_volumes, job.mount_volumes):
        shown = [(share.file_mode, share.directory_mode) for share in volumes.azure_file_shares]
        assert shown == [("0777", "0777"), ("0700", "0777")]


async def test_usages_have_the_names_units_and_limits_of_the_service(lab: Lab) -> None:
    path = "/subscriptions/sub/providers/Microsoft.BatchAI/locations/northeurope/usages"

    _, body, _ = await lab.send("GET", path)

    names = {one["name"]["value"]: one["name"]["localizedValue"] for one in body["value"]}
    expected = {"Clusters": "Clusters"}
    for value, shown in (("Dedicated", "Dedicated"), ("LowPriority", "Low Priority")):
        expected[f"Total Cluster {value} Regional vCPUs"] = f"Total Cluster {shown} Regional vCPUs"
        for family in FAMILIES:
            name = f"Standard {family} Family Cluster {{}} vCPUs"
            expected[name.format(value)] = name.format(shown)
    assert list(names.items()) == list(expected.items())
    assert {one["unit"] for one in body["value"]} == {"Count"}
    assert all(one["limit"] > 0 for one in body["value"])


async def test_a_file_server_has_the_id_the_subnet_and_the_mount_point_of_the_service(lab: Lab) -> None:
    await lab.prepare()
    path = f"{lab.path}/fileServers/nfs"
    own = {"id": "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/v/subnets/s"}

    await lab.send("PUT", path, json={"properties": SERVER})
    await lab.send("PUT", f"{path}-2", json={"properties": SERVER | {"subnet": own}})
    _, server, _ = await lab.send("GET", path)
    _, other, _ = await lab.send("GET", f"{path}-2")

    assert server["id"] == f"{lab.path}/fileservers/nfs"
    assert server["type"] == "Microsoft.BatchAI/workspaces/fileservers"
    assert server["properties"]["mountSettings"]["mountPoint"] == "/data"
    subnet = server["properties"]["subnet"]["id"]
    assert subnet.startswith("/subscriptions/sub/resourceGroups/fileserverrg-")
    assert subnet.endswith("vnet/subnets/Subnet-1")
    assert other["properties"]["subnet"] == own


async def test_an_operation_is_found_in_the_region_of_its_workspace_by_a_whole_address(lab: Lab) -> None:
    location = "/subscriptions/sub/providers/Microsoft.BatchAI/locations/northeurope"
    await lab.send("PUT", lab.path, json={"location": "North Europe"})
    _, _, headers = await lab.send("PUT", f"{lab.path}/clusters/c", json=cluster_body(EMPTY))
    _, _, deletion = await lab.send("DELETE", lab.path)

    address = headers["Azure-AsyncOperation"].split("?")[0]
    _, body, _ = await lab.send("GET", address.removeprefix(lab.emulator.url))
    _, again, _ = await lab.send("GET", address.removeprefix(lab.emulator.url))

    assert address.startswith(f"{lab.emulator.url}{location}/operationresults/")
    assert headers["Location"].startswith(f"{lab.emulator.url}{location}/operationstatuses/")
    assert deletion["Location"].startswith(f"{lab.emulator.url}{location}/operationstatuses/")
    assert body["id"] == address
    assert body["properties"]["resourceId"] == f"sub${GROUP}${lab.workspace}$c"
    assert again == body  # its end does not move when it is asked for later


async def test_a_cluster_resizes_until_its_shrink_is_over(lab: Lab) -> None:
    await lab.make_cluster({"manual": {"targetNodeCount": 1}})
    await lab.submit("job", **custom("while [ ! -e over ]; do sleep 0.1; done"))
    await lab.reaches("job", "running")
    option = {"targetNodeCount": 0, "nodeDeallocationOption": "waitforjobcompletion"}
    scale = {"properties": {"scaleSettings": {"manual": option}}}

    shrunk = await lab.client.clusters.update(GROUP, lab.workspace, CLUSTER, scale)
    shown = await lab.cluster()
    await (await lab.client.jobs.begin_terminate(*lab.place, "job")).result()

    async def steady() -> Any:
        cluster = await lab.cluster()
        return cluster if cluster.allocation_state == "steady" else None

    assert (shrunk.allocation_state, shrunk.current_node_count) == ("resizing", 1)
    assert (shown.allocation_state, shown.current_node_count) == ("resizing", 1)
    assert (await until(steady)).current_node_count == 0


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("PUT", "/workspaces/w"),
        ("GET", "/workspaces"),
        ("GET", "/workspaces/w"),
        ("PUT", "/workspaces/w/clusters/c"),
        ("POST", "/workspaces/w/experiments/e/jobs/j/terminate"),
        ("DELETE", "/workspaces/w"),
    ],
)
async def test_nothing_is_in_a_resource_group_that_was_never_made(lab: Lab, method: str, path: str) -> None:
    group = "/subscriptions/sub/resourceGroups/never-made/providers/Microsoft.BatchAI"
    body = {"location": "eastus"} if path == "/workspaces/w" and method == "PUT" else None

    status, answer, _ = await lab.send(method, group + path, json=body)

    message = "Resource group 'never-made' could not be found."
    assert (status, answer["error"]) == (404, {"code": "ResourceGroupNotFound", "message": message})


@pytest.mark.parametrize(
    "size", ["Standard_Bogus", "STANDARD_A0", "Standard_DS2_v2", "Standard_GS1", "x" * 300]
)
async def test_a_size_that_no_node_can_have_is_refused(lab: Lab, size: str) -> None:
    await lab.prepare()

    status, body, _ = await lab.send("PUT", f"{lab.path}/clusters/c", json=cluster_body(EMPTY, vmSize=size))

    assert (status, body["error"]["target"]) == (400, "/properties/vmSize")


async def test_a_file_server_may_have_premium_storage_but_no_unknown_size(lab: Lab) -> None:
    await lab.prepare()
    path = f"{lab.path}/fileServers/nfs"

    unknown, body, _ = await lab.send("PUT", path, json={"properties": SERVER | {"vmSize": "Standard_Bogus"}})
    premium, _, _ = await lab.send("PUT", path, json={"properties": SERVER | {"vmSize": "Standard_DS2_v2"}})

    assert (unknown, body["error"]["target"], premium) == (400, "/properties/vmSize", 202)


async def test_a_location_that_is_no_region_is_refused(lab: Lab) -> None:
    usages = "/subscriptions/sub/providers/Microsoft.BatchAI/locations/mars/usages"
    for method, path, target in (
        ("PUT", lab.path, "/location"),
        ("PUT", f"/subscriptions/sub/resourceGroups/g-{lab.workspace}", "/location"),
        ("GET", usages, "location"),
    ):
        body = {"location": "mars"} if method == "PUT" else None
        status, answer, _ = await lab.send(method, path, json=body)

        assert (status, answer["error"]["target"]) == (400, target), path
        assert answer["error"]["code"] == "LocationNotAvailableForResourceType"


async def test_workspaces_of_earlier_emulators_keep_their_groups(own_lab: Lab) -> None:
    group = "/subscriptions/sub/resourceGroups/old"
    workspace = f"{group}/providers/Microsoft.BatchAI/workspaces/w"
    await own_lab.emulator.make_group("old")
    await own_lab.send("PUT", workspace, json={"location": "westus"})
    await own_lab.emulator.stop()
    with closing(sqlite3.connect(own_lab.emulator.data / "state.sqlite")) as state, state:
        state.execute("DELETE FROM records WHERE kind = 'Group'")
    await own_lab.emulator.start()

    status, body, _ = await own_lab.send("GET", group)

    assert (status, body["location"]) == (200, "westus")
    assert (await own_lab.send("GET", workspace))[0] == 200


async def test_the_sdks_initial_count_of_0_is_accepted_with_any_minimum(lab: Lab) -> None:
    await lab.prepare()
    place = (GROUP, lab.workspace, CLUSTER)
    one, three = (AutoScaleSettings(minimum_node_count=1, maximum_node_count=most) for most in (1, 3))
    user = UserAccountSettings(admin_user_name="demo", admin_user_password="hidden")
    request = ClusterCreateParameters(
        vm_size="STANDARD_NC6",
        user_account_settings=user,
        scale_settings=ScaleSettings(auto_scale=one),
    )

    created = await (await lab.client.clusters.begin_create(*place, request)).result()
    changed = ClusterUpdateParameters(scale_settings=ScaleSettings(auto_scale=three))
    shown = (await lab.client.clusters.update(*place, changed)).scale_settings
    again = ClusterCreateParameters(vm_size="STANDARD_NC6", user_account_settings=user, scale_settings=shown)
    copy = await (await lab.client.clusters.begin_create(*place[:2], "copy", again)).result()

    def counts(auto: Any) -> list[int]:
        return [auto.minimum_node_count, auto.maximum_node_count, auto.initial_node_count]

    assert counts(created.scale_settings.auto_scale) == [1, 1, 0]
    assert counts(shown.auto_scale) == counts(copy.scale_settings.auto_scale) == [1, 3, 0]

    async def grown() -> bool:
        return bool((await lab.cluster()).current_node_count == 1)

    assert await until(grown)
    await lab.client.clusters.update(*place, {"properties": {"scaleSettings": EMPTY}})
    await lab.client.clusters.begin_delete(*place[:2], "copy")


async def test_a_job_that_is_terminated_in_the_queue_has_no_start(lab: Lab) -> None:
    await lab.make_cluster(EMPTY)
    await lab.submit("job", **custom("true"))
    await lab.send("POST", f"{lab.path}/experiments/digits/jobs/job/terminate")

    info = (await lab.ends("job")).execution_info

    assert info.start_time is None
    assert info.end_time is not None
    assert [error.code for error in info.errors] == ["JobTerminated"]


async def test_usages_are_found_by_either_name_of_a_region(lab: Lab, recorder: Recorder) -> None:
    place = "/subscriptions/sub/providers/Microsoft.BatchAI/locations"

    spaced = await lab.send("GET", f"{place}/East US/usages")
    joined = await lab.send("GET", f"{place}/eastus/usages")

    def limits(body: Any) -> list[tuple[str, int]]:
        return [(usage["name"]["value"], usage["limit"]) for usage in body["value"]]

    assert (spaced[0], limits(spaced[1])) == (joined[0], limits(joined[1]))
    assert spaced[0] == 200
    # The contract knows one form only; Azure Resource Manager, which stood before the service, reads both.
    assert recorder.contract is None or "East US" in " ".join(recorder.drain())
