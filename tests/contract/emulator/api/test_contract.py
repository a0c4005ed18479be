"""The whole contract: all operations by the service's own clients, each exchange against its description."""

import json
from typing import Any

import pytest
from azure.core.exceptions import ResourceNotFoundError

from tests.contract.emulator.conftest import (
    CLUSTER,
    EXPERIMENT,
    GROUP,
    Lab,
    autoscale,
    cluster_body,
    custom,
    until,
)
from tests.contract.emulator.recorder import Recorder
from tests.contract.emulator.swagger import FILE, OVERLAY, Contract, Exchange

SERVER = {
    "properties": {
        "vmSize": "Standard_D2_v2",
        "sshConfiguration": {"userAccountSettings": {"adminUserName": "me", "adminUserPassword": "hidden"}},
        "dataDisks": {"diskSizeInGB": 10, "diskCount": 2, "storageAccountType": "Standard_LRS"},
    }
}
ONE_NODE = {"manual": {"targetNodeCount": 1}}
EMPTY = {"manual": {"targetNodeCount": 0}}


@pytest.fixture
def described(recorder: Recorder) -> Recorder:
    """The recorder, where the description of the API is at hand."""
    if recorder.contract is None:
        pytest.skip(f"{FILE.name} is not there: set BATCHAI_SWAGGER to the published description")
    return recorder


async def writing(lab: Lab) -> None:
    """Wait until the job has files."""

    async def check() -> Any:
        return await lab.files("job")

    await until(check)


async def _walk_without_waiting(lab: Lab) -> list[Any]:
    """Every operation of the asynchronous client, and the two it lacks."""
    client, place = lab.client, (GROUP, lab.workspace)
    observation = [[one.name async for one in client.operations.list()]]
    observation.append([one.name.value async for one in client.usages.list("eastus")])
    await (await client.workspaces.begin_create(*place, {"location": "eastus"})).result()
    await client.workspaces.update(*place, {"tags": {"a": "b"}})
    await client.workspaces.get(*place)
    observation.append([one.name async for one in client.workspaces.list()])
    observation.append([one.name async for one in client.workspaces.list_by_resource_group(GROUP)])
    await (await client.file_servers.begin_create(*place, "nfs", SERVER)).result()
    observation.append([one.name async for one in client.file_servers.list_by_workspace(*place)])
    await client.experiments.begin_create(*place, EXPERIMENT)
    await client.experiments.get(*place, EXPERIMENT)
    observation.append([one.name async for one in client.experiments.list_by_workspace(*place)])
    await client.clusters.begin_create(*place, CLUSTER, cluster_body(ONE_NODE))
    scale = {"properties": {"scaleSettings": {"manual": {"targetNodeCount": 2}}}}
    await client.clusters.update(*place, CLUSTER, scale)
    await client.clusters.get(*place, CLUSTER)
    observation.append([one.name async for one in client.clusters.list_by_workspace(*place)])
    await client.jobs.begin_create(*lab.place, "job", lab.job_body(**custom("sleep 600")))
    await lab.reaches("job", "running")
    await writing(lab)
    observation.append([one.name async for one in client.jobs.list_by_experiment(*lab.place)])
    logins = client.jobs.list_remote_login_information(*lab.place, "job")
    observation.append([one.ip_address async for one in logins])
    logins = client.clusters.list_remote_login_information(*place, CLUSTER)
    observation.append([one.node_id async for one in logins])
    observation.append(sorted(await lab.files("job")))
    await (await client.jobs.begin_terminate(*lab.place, "job")).result()
    await (await client.jobs.begin_delete(*lab.place, "job")).result()
    await client.clusters.begin_delete(*place, CLUSTER)
    await client.experiments.begin_delete(*lab.place)
    status, _, _ = await lab.send("GET", f"{lab.path}/fileServers/nfs")
    removed, _, _ = await lab.send("DELETE", f"{lab.path}/fileServers/nfs")
    await (await client.workspaces.begin_delete(*place)).result()
    return [*observation, status, removed]


async def test_every_operation_of_the_contract_is_there_and_keeps_to_it(
    lab: Lab, described: Recorder
) -> None:
    assert described.contract is not None

    observation = await _walk_without_waiting(lab)

    assert all(observation), observation
    assert described.problems == []
    assert described.contract.used == described.contract.operations.keys()
    assert len(described.contract.operations) == 29


async def test_the_description_notices_what_does_not_fit(lab: Lab, described: Recorder) -> None:
    assert described.contract is not None
    answer = b'{"id": "x", "name": 5, "surprise": 1}'

    problems = described.contract.problems(
        Exchange("GET", lab.path.upper(), {"api-version": "2018-05-01"}, b"", 200, answer, "application/json")
    )
    unasked = described.contract.problems(
        Exchange("PUT", lab.path, {}, b'{"tags": {}}', 200, b'{"id": "x"}', "application/json")
    )

    assert "surprise" in problems[0]
    assert "5" in problems[0]
    assert "api-version" in unasked[0]


async def test_each_line_of_the_overlay_is_needed_and_cites_its_evidence(described: Recorder) -> None:
    document, overlay = json.loads(FILE.read_text()), json.loads(OVERLAY.read_text())
    view = {
        "id": "x",
        "name": "job",
        "type": "t",
        "properties": {"experimentName": "e", "toolType": "pytorch"},
    }
    job = "/subscriptions/s/resourceGroups/g/providers/Microsoft.BatchAI/workspaces/w/experiments/e/jobs/j"
    error = {"error": {"code": "InternalServerError", "message": "m"}}
    usages = "/subscriptions/s/providers/Microsoft.BatchAI/locations/l/usages"
    answers = [
        (job, 200, view),
        ("/providers/Microsoft.BatchAI/operations", 500, error),
        (usages, 500, error),
    ]

    def problems(lines: list[Any]) -> int:
        contract, result = Contract(document, lines), 0
        for path, status, answer in answers:
            body = json.dumps(answer).encode()
            query = {"api-version": "2018-05-01"}
            result += len(
                contract.problems(Exchange("GET", path, query, b"", status, body, "application/json"))
            )
        return result

    assert problems(overlay) == 0
    for line in overlay:
        assert problems([other for other in overlay if other is not line]) > 0, line["at"]
        assert len(line["evidence"].split()) > 5


async def test_a_file_server_is_shown_without_its_password_and_created_once(lab: Lab) -> None:
    await lab.prepare()
    path = f"{lab.path}/fileServers/nfs"

    created, _, headers = await lab.send("PUT", path, json=SERVER)
    same, body, _ = await lab.send("PUT", path, json=SERVER)
    other = SERVER["properties"] | {"vmSize": "Standard_D3"}
    conflict, error, _ = await lab.send("PUT", path, json={"properties": other})

    assert (created, same, conflict) == (202, 200, 409)
    assert "Azure-AsyncOperation" in headers
    assert body["type"] == "Microsoft.BatchAI/workspaces/fileservers"
    assert body["properties"]["provisioningState"] == "succeeded"
    assert body["properties"]["mountSettings"].keys() == {
        "mountPoint",
        "fileServerPublicIP",
        "fileServerInternalIP",
    }
    assert body["properties"]["sshConfiguration"]["userAccountSettings"] == {"adminUserName": "me"}
    assert error["error"]["target"] == "/properties/vmSize"


async def test_jobs_and_clusters_share_the_files_of_a_file_server(lab: Lab) -> None:
    await lab.prepare()
    await lab.client.file_servers.begin_create(GROUP, lab.workspace, "nfs", SERVER)
    mount = {"fileServer": {"id": f"{lab.path}/fileServers/nfs"}, "relativeMountPath": "nfs"}
    mounts = {"fileServers": [mount]}
    await lab.make_cluster(autoscale(1), nodeSetup={"mountVolumes": mounts})
    write = "mkdir -p $AZ_BATCHAI_MOUNT_ROOT/nfs/sub; echo 42 > $AZ_BATCHAI_MOUNT_ROOT/nfs/sub/answer"
    await lab.submit("writer", **custom(write))
    assert (await lab.ends("writer")).execution_state == "succeeded"

    inside = {"fileServers": [mount | {"sourceDirectory": "sub", "relativeMountPath": "mine"}]}
    await lab.submit(
        "reader",
        mountVolumes=inside,
        stdOutErrPathPrefix="$AZ_BATCHAI_MOUNT_ROOT/nfs",
        **custom("cat $AZ_BATCHAI_JOB_MOUNT_ROOT/mine/answer"),
    )
    job = await lab.ends("reader")

    assert job.execution_state == "succeeded", job.execution_info.errors
    assert await lab.read("reader", "stdout.txt") == "42\n"


async def test_a_file_server_that_is_not_there_is_refused_where_it_is_named(lab: Lab) -> None:
    await lab.make_cluster(EMPTY)
    mount = {"fileServer": {"id": f"{lab.path}/fileServers/none"}, "relativeMountPath": "x"}
    job = lab.job_body(mountVolumes={"fileServers": [mount]}, **custom("true"))

    status, body, _ = await lab.send("PUT", f"{lab.path}/experiments/digits/jobs/job", json=job)
    cluster = cluster_body(EMPTY, nodeSetup={"mountVolumes": {"fileServers": [mount]}})
    second, other, _ = await lab.send("PUT", f"{lab.path}/clusters/other", json=cluster)

    assert (status, body["error"]["code"]) == (second, other["error"]["code"]) == (400, "FileServerNotFound")
    assert body["error"]["target"] == "/properties/mountVolumes/fileServers/0/fileServer/id"
    assert other["error"]["target"] == "/properties/nodeSetup/mountVolumes/fileServers/0/fileServer/id"


async def test_deleting_a_workspace_takes_all_that_is_in_it(lab: Lab) -> None:
    await lab.make_cluster(ONE_NODE)
    await lab.client.file_servers.begin_create(GROUP, lab.workspace, "nfs", SERVER)
    await lab.submit("job", **custom("sleep 600"))
    await lab.reaches("job", "running")

    await (await lab.client.workspaces.begin_delete(GROUP, lab.workspace)).result()
    await lab.prepare()

    assert [one.name async for one in lab.client.file_servers.list_by_workspace(GROUP, lab.workspace)] == []
    assert [one.name async for one in lab.client.clusters.list_by_workspace(GROUP, lab.workspace)] == []
    with pytest.raises(ResourceNotFoundError):
        await lab.job("job")


async def test_names_are_isolated_between_experiments_and_workspaces(lab: Lab) -> None:
    await lab.make_cluster(EMPTY)
    body = lab.job_body(**custom("true"))
    other = Lab(lab.emulator, f"{lab.workspace}-2")
    await other.prepare()
    await lab.client.experiments.begin_create(GROUP, lab.workspace, "other")

    for place in (lab.place, (GROUP, lab.workspace, "other"), other.place):
        await lab.client.jobs.begin_create(*place, "job", body)
    await (await lab.client.jobs.begin_terminate(*lab.place, "job")).result()
    await (await lab.client.jobs.begin_delete(GROUP, lab.workspace, "other", "job")).result()

    assert (await lab.job("job")).execution_state == "failed"
    # A job may use a cluster of another workspace.
    assert (await other.job("job")).execution_state == "queued"
    with pytest.raises(ResourceNotFoundError):
        await lab.client.jobs.get(GROUP, lab.workspace, "other", "job")


async def test_usages_count_clusters_and_cores_of_a_region(lab: Lab) -> None:
    async def used(location: str) -> dict[str, int]:
        result = lab.client.usages.list(location)
        return {one.name.value: one.current_value async for one in result if one.current_value}

    region = "chilecentral"  # no other test is there
    await lab.client.workspaces.begin_create(GROUP, lab.workspace, {"location": region})
    await lab.client.clusters.begin_create(
        GROUP, lab.workspace, CLUSTER, cluster_body(ONE_NODE, vmPriority="lowpriority")
    )

    async def provisioned() -> bool:
        return len(await used(region)) == 3

    await until(provisioned)
    assert await used(region) == {
        "Clusters": 1,
        "Total Cluster LowPriority Regional vCPUs": 6,
        "Standard NC Family Cluster LowPriority vCPUs": 6,
    }
    assert await used("austriaeast") == {}


async def test_where_the_nodes_are_is_listed_in_pages(lab: Lab) -> None:
    await lab.make_cluster({"manual": {"targetNodeCount": 3}})

    async def steady() -> bool:
        return bool((await lab.cluster()).node_state_counts.idle_node_count == 3)

    await until(steady)
    path = f"{lab.path}/clusters/{CLUSTER}/listRemoteLoginInformation"
    _, page, _ = await lab.send("POST", path, params={"maxresults": "2"})
    listed = lab.client.clusters.list_remote_login_information(GROUP, lab.workspace, CLUSTER)
    every = [(one.node_id, one.ip_address, one.port) async for one in listed]

    assert len(page["value"]) == 2
    assert "api-version=2018-05-01" in page["nextLink"]
    assert len(every) == len(set(every)) == 3
    assert all(address.startswith("127.0.") and port >= 50000 for _, address, port in every)
