"""The ARM contract as it was recorded: status codes, headers, bodies, paging, redaction."""

import json
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from azure.core.exceptions import ResourceNotFoundError
from azure.mgmt.batchai.models import JobsListByExperimentOptions

from local.azurite import KEY
from tests.contract.emulator.conftest import (
    CLUSTER,
    GROUP,
    Lab,
    autoscale,
    cluster_body,
    custom,
    share_mount,
    until,
)

EMPTY = {"manual": {"targetNodeCount": 0}}
USER = {"adminUserName": "me", "adminUserPassword": "hidden"}
DISKS = {"diskSizeInGB": 1, "diskCount": 1, "storageAccountType": "Standard_LRS"}


async def test_workspaces_are_made_changed_listed_and_deleted(lab: Lab) -> None:
    created = await (
        await lab.client.workspaces.begin_create(
            GROUP, lab.workspace, {"location": "eastus", "tags": {"a": "b"}}
        )
    ).result()
    changed = await lab.client.workspaces.update(GROUP, lab.workspace, {"tags": {"c": "d"}})
    listed = [result.name async for result in lab.client.workspaces.list_by_resource_group(GROUP)]
    in_subscription = [result.name async for result in lab.client.workspaces.list()]

    assert created.type == "Microsoft.BatchAI/workspaces"
    assert created.provisioning_state == "succeeded"
    assert changed.tags == {"c": "d"}
    assert lab.workspace in listed
    assert lab.workspace in in_subscription

    await (await lab.client.workspaces.begin_delete(GROUP, lab.workspace)).result()
    with pytest.raises(ResourceNotFoundError):
        await lab.client.workspaces.get(GROUP, lab.workspace)


async def test_puts_answer_as_recorded(lab: Lab) -> None:
    status, workspace, headers = await lab.send("PUT", lab.path, json={"location": "eastus"})
    assert (status, workspace["properties"]["provisioningState"]) == (200, "succeeded")
    assert headers["ETag"].startswith('"0x8D')
    assert "Last-Modified" in headers

    status, experiment, _ = await lab.send("PUT", f"{lab.path}/experiments/digits")
    again = await lab.send("PUT", f"{lab.path}/experiments/digits")
    assert status == 200
    assert experiment["type"] == "Microsoft.BatchAI/workspaces/experiments"
    assert again[1] == experiment

    path = f"{lab.path}/clusters/{CLUSTER}"
    status, body, headers = await lab.send("PUT", path, json=cluster_body(EMPTY))
    assert (status, body) == (202, None)
    assert int(headers["Retry-After"]) >= 1
    assert "/operationresults/" in headers["Azure-AsyncOperation"]
    assert "/operationstatuses/" in headers["Location"]

    _, operation, _ = await lab.send("GET", _path(lab, headers["Azure-AsyncOperation"]))
    assert operation["status"] == "Succeeded"
    assert operation["properties"]["resourceId"] == f"sub${GROUP}${lab.workspace}${CLUSTER}"
    status, _, _ = await lab.send("GET", _path(lab, headers["Location"]))
    assert status == 200

    # The same again finds it there.
    status, body, _ = await lab.send("PUT", path, json=cluster_body(EMPTY))
    assert (status, body["name"]) == (200, CLUSTER)


async def test_a_terminating_job_is_an_operation_in_progress(lab: Lab, tmp_path: Path) -> None:
    await lab.make_cluster(autoscale(1))
    mark = tmp_path / "deaf"
    await lab.submit("job", **custom(f"trap '' TERM; touch {mark}; sleep 600; sleep 600"))

    async def deaf() -> bool:
        return mark.exists()

    await until(deaf)

    status, body, headers = await lab.send("POST", f"{lab.path}/experiments/digits/jobs/job/terminate")
    _, operation, _ = await lab.send("GET", _path(lab, headers["Azure-AsyncOperation"]))
    location, _, _ = await lab.send("GET", _path(lab, headers["Location"]))
    job = await lab.job("job")

    assert (status, body, location) == (202, None, 202)
    assert operation.keys() == {"id", "name", "status", "startTime"}
    assert operation["status"] == "InProgress"
    assert job.execution_state == "terminating"
    await lab.ends("job")


async def test_a_missing_job_is_reported_word_for_word(lab: Lab) -> None:
    await lab.prepare()

    status, body, headers = await lab.send("GET", f"{lab.path}/experiments/digits/jobs/job")

    assert status == 404
    assert body == {"error": {"code": "JobNotFound", "message": "The specified job job is not found"}}
    assert headers["reason"] == "The specified job job is not found"


@pytest.mark.parametrize(
    ("method", "path", "code"),
    [
        ("GET", "/experiments/none", "ExperimentNotFound"),
        ("GET", "/clusters/none", "ClusterNotFound"),
        ("PUT", "/experiments/none/jobs/job", "ExperimentNotFound"),
        ("POST", "/experiments/none/jobs/job/terminate", "ExperimentNotFound"),
        ("GET", "/unheard/of", "InvalidResourceType"),
    ],
)
async def test_what_is_not_there_is_404(lab: Lab, method: str, path: str, code: str) -> None:
    await lab.prepare()

    status, body, _ = await lab.send(method, lab.path + path, json={} if method == "PUT" else None)

    assert (status, body["error"]["code"]) == (404, code)


async def test_everything_in_a_missing_workspace_is_404(lab: Lab) -> None:
    for path in ("", "/experiments", "/experiments/e", "/experiments/e/jobs", "/clusters"):
        status, body, _ = await lab.send("GET", lab.path + path)

        assert (status, body["error"]["code"]) == (404, "WorkspaceNotFound"), path


async def test_deleting_what_is_not_there_is_204(lab: Lab) -> None:
    status, body, _ = await lab.send("DELETE", lab.path)

    assert (status, body) == (204, None)


async def test_another_api_version_is_refused_and_none_as_well(lab: Lab) -> None:
    other, wrong, _ = await lab.send("GET", lab.path, params={"api-version": "2017-09-01-preview"})
    async with aiohttp.ClientSession() as session, session.get(lab.emulator.url + lab.path) as answer:
        without, absent = answer.status, await answer.json()

    assert (other, without) == (400, 400)
    assert wrong["error"]["code"] == "InvalidApiVersionParameter"
    assert absent["error"]["code"] == "MissingApiVersionParameter"
    assert wrong["error"]["target"] == absent["error"]["target"] == "api-version"


@pytest.mark.parametrize("name", ["bad name!", "ä", "x" * 65, "a.b"])
async def test_names_that_the_service_forbids_are_refused(lab: Lab, name: str) -> None:
    status, body, _ = await lab.send("PUT", f"{lab.path}/experiments/{name}")

    assert (status, body["error"]["target"]) == (400, "experiment")


async def test_every_problem_of_a_body_is_reported_with_its_place(lab: Lab) -> None:
    await lab.make_cluster(EMPTY)
    body = lab.job_body(
        nodeCount="2",
        typo=1,
        customToolkitSettings={"commandLine": "true", "processCount": 2},
        mountVolumes={"azureBlobFileSystems": [{"relativeMountPath": "x"}]},
    )
    del body["properties"]["stdOutErrPathPrefix"]

    status, answer, _ = await lab.send("PUT", f"{lab.path}/experiments/digits/jobs/job", json=body)

    places = {detail["target"] for detail in answer["error"]["details"]}
    assert status == 400
    assert answer["error"]["target"] in places
    assert places == {
        "/properties/nodeCount",
        "/properties/typo",
        "/properties/customToolkitSettings/processCount",
        "/properties/mountVolumes/azureBlobFileSystems/0/accountName",
        "/properties/mountVolumes/azureBlobFileSystems/0/containerName",
        "/properties/mountVolumes/azureBlobFileSystems/0/credentials",
        "/properties/stdOutErrPathPrefix",
    }


@pytest.mark.parametrize("body", [b"", b"[", b"[1]", b'"x"', b"\xff", b"[" * 100_000, b'{"a": NaN}'])
async def test_a_body_that_is_no_document_is_refused(lab: Lab, body: bytes) -> None:
    await lab.prepare()

    status, answer, _ = await lab.send("PUT", f"{lab.path}/experiments/digits/jobs/job", data=body)

    assert (status, answer.keys()) == (400, {"error"})


async def test_a_mount_command_of_a_job_is_refused_by_name(lab: Lab) -> None:
    await lab.make_cluster(EMPTY)
    mount = {"mountCommand": "mount -t nfs host:/x", "relativeMountPath": "x"}
    body = lab.job_body(mountVolumes={"unmanagedFileSystems": [mount]}, **custom("true"))

    status, answer, _ = await lab.send("PUT", f"{lab.path}/experiments/digits/jobs/job", json=body)

    assert (status, answer["error"]["code"]) == (400, "MountNotSupported")
    assert answer["error"]["target"] == "/properties/mountVolumes/unmanagedFileSystems"
    assert "mount command" in answer["error"]["message"]


async def test_a_job_on_a_missing_cluster_is_refused(lab: Lab) -> None:
    await lab.prepare()

    path = f"{lab.path}/experiments/digits/jobs/job"
    status, answer, _ = await lab.send("PUT", path, json=lab.job_body(**custom("true")))

    assert (status, answer["error"]["code"]) == (400, "ClusterNotFound")
    assert answer["error"]["target"] == "/properties/cluster/id"


async def test_a_job_is_created_once(lab: Lab) -> None:
    await lab.make_cluster(EMPTY)
    path = f"{lab.path}/experiments/digits/jobs/job"

    first, _, _ = await lab.send("PUT", path, json=lab.job_body(**custom("true")))
    same, body, _ = await lab.send(
        "PUT", path.replace("jobs/job", "JOBS/Job"), json=lab.job_body(**custom("true"))
    )
    other, error, _ = await lab.send("PUT", path, json=lab.job_body(**custom("false")))

    assert (first, same, other) == (202, 200, 409)
    assert body["id"] == path
    assert error["error"]["code"] == "JobAlreadyExists"
    assert error["error"]["target"] == "/properties/customToolkitSettings"


async def test_a_job_shows_what_was_asked_with_defaults_and_without_secrets(lab: Lab) -> None:
    await lab.make_cluster(EMPTY)
    mounts = {"azureFileShares": [share_mount("logs", "out")]}
    registry = {"image": "a/b", "credentials": {"username": "me", "password": "hidden-password"}}
    await lab.submit(
        "job",
        nodeCount=2,
        mountVolumes=mounts,
        secrets=[{"name": "TOKEN", "value": "hidden-token"}],
        containerSettings={"imageSourceRegistry": registry},
        pyTorchSettings={"pythonScriptFilePath": "x.py"},
        environmentVariables=None,
    )

    _, job, _ = await lab.send("GET", f"{lab.path}/experiments/digits/jobs/job")

    properties = job["properties"]
    assert job["type"] == "Microsoft.BatchAI/workspaces/experiments/jobs"
    assert properties["toolType"] == "pytorch"
    assert properties["experimentName"] == "digits"
    assert properties["schedulingPriority"] == "normal"
    assert properties["pyTorchSettings"]["processCount"] == 2
    assert properties["constraints"] == {"maxWallClockTime": "P7D"}
    assert properties["executionState"] == "queued"
    assert "executionInfo" not in properties
    assert "environmentVariables" not in properties
    assert properties["secrets"] == [{"name": "TOKEN"}]
    assert properties["mountVolumes"]["azureFileShares"][0]["credentials"] == {}
    segment = properties["jobOutputDirectoryPathSegment"]
    assert segment.startswith(f"sub/{GROUP}/workspaces/{lab.workspace}/experiments/digits/jobs/job/")
    text = json.dumps(job)
    assert "hidden" not in text
    assert KEY not in text
    assert "null" not in text


async def test_a_cluster_shows_its_defaults_and_no_password(lab: Lab) -> None:
    mounts = {"azureFileShares": [share_mount("logs", "logs")]}
    await lab.make_cluster(autoscale(3), nodeSetup={"mountVolumes": mounts})

    _, cluster, _ = await lab.send("GET", f"{lab.path}/clusters/{CLUSTER}")

    properties = cluster["properties"]
    assert cluster["type"] == "Microsoft.BatchAI/workspaces/clusters"
    assert properties["vmSize"] == "STANDARD_NC6"
    assert properties["vmPriority"] == "dedicated"
    assert properties["scaleSettings"]["autoScale"]["initialNodeCount"] == 0
    assert properties["virtualMachineConfiguration"]["imageReference"]["offer"] == "UbuntuServer"
    assert properties["userAccountSettings"] == {"adminUserName": "demo"}
    assert properties["nodeSetup"]["mountVolumes"]["azureFileShares"][0]["credentials"] == {}
    assert properties["allocationState"] == "steady"
    assert set(properties["nodeStateCounts"].values()) == {0}


async def test_only_the_scale_of_a_cluster_changes(lab: Lab) -> None:
    await lab.make_cluster(EMPTY)
    path = f"{lab.path}/clusters/{CLUSTER}"

    conflict, error, _ = await lab.send("PUT", path, json=cluster_body(autoscale(1)))
    refused, where, _ = await lab.send("PATCH", path, json={"properties": {"vmSize": "Standard_NC12"}})
    changed, body, _ = await lab.send("PATCH", path, json={"properties": {"scaleSettings": autoscale(4)}})

    assert (conflict, error["error"]["target"]) == (409, "/properties/scaleSettings")
    assert (refused, where["error"]["target"]) == (400, "/properties/vmSize")
    assert changed == 200
    assert body["properties"]["scaleSettings"]["autoScale"]["maximumNodeCount"] == 4


async def test_lists_come_in_pages(lab: Lab) -> None:
    await lab.make_cluster(EMPTY)
    names = [f"job-{number}" for number in range(5)]
    for name in names:
        await lab.submit(name, **custom("true"))
    path = f"{lab.path}/experiments/digits/jobs"

    options = JobsListByExperimentOptions(max_results=2)
    result = [job.name async for job in lab.client.jobs.list_by_experiment(*lab.place, options)]
    _, page, _ = await lab.send("GET", path, params={"maxresults": "2"})
    refused, error, _ = await lab.send("GET", path, params={"maxresults": "1001"})

    assert result == names
    assert len(page["value"]) == 2
    assert "api-version=2018-05-01" in page["nextLink"]
    assert (refused, error["error"]["target"]) == (400, "maxresults")


async def test_every_list_goes_on_where_its_page_ended(lab: Lab) -> None:
    await lab.prepare()
    await lab.send("PUT", f"{lab.path}-2", json={"location": "eastus"})
    group = lab.path.rpartition("/")[0]
    server = {"vmSize": "STANDARD_DS1", "sshConfiguration": {"userAccountSettings": USER}, "dataDisks": DISKS}
    for name in ("a", "b"):
        await lab.send("PUT", f"{lab.path}/experiments/{name}")
        await lab.send("PUT", f"{lab.path}/clusters/{name}", json=cluster_body(EMPTY))
        await lab.send("PUT", f"{lab.path}/fileServers/{name}", json={"properties": server})
    lists = [
        *(f"{lab.path}/{kind}" for kind in ("experiments", "clusters", "fileServers")),
        *(group, "/subscriptions/sub/providers/Microsoft.BatchAI/workspaces"),
        "/subscriptions/sub/providers/Microsoft.BatchAI/locations/eastus/usages",
        "/providers/Microsoft.BatchAI/operations",
    ]
    for path in lists:
        _, whole, _ = await lab.send("GET", path)
        results, query = [], {"maxresults": "1"}
        while query:
            _, page, _ = await lab.send("GET", path, params=query)
            assert len(page["value"]) == 1
            results += page["value"]
            query = _query(page["nextLink"]) if "nextLink" in page else {}

        assert len(results) > 1
        assert [_name(one) for one in results] == [_name(one) for one in whole["value"]], path


async def test_all_that_goes_on_afterwards_is_an_empty_202_with_both_addresses(lab: Lab) -> None:
    await lab.make_cluster(EMPTY)
    await lab.submit("job", **custom("true"))
    server = {"vmSize": "STANDARD_DS1", "sshConfiguration": {"userAccountSettings": USER}, "dataDisks": DISKS}
    job, nfs = f"{lab.path}/experiments/digits/jobs/job", f"{lab.path}/fileServers/nfs"
    requests: list[tuple[str, str, object]] = [
        ("PUT", nfs, {"properties": server}),
        ("PUT", f"{job}-2", lab.job_body(**custom("true"))),
        ("POST", f"{job}/terminate", None),
        ("DELETE", job, None),
        ("DELETE", f"{lab.path}/experiments/digits", None),
        ("DELETE", nfs, None),
        ("DELETE", f"{lab.path}/clusters/{CLUSTER}", None),
        ("DELETE", lab.path, None),
    ]
    for method, path, body in requests:
        status, answer, headers = await lab.send(method, path, json=body)

        assert (status, answer, headers["Content-Length"]) == (202, None, "0"), (method, path)
        assert "/operationresults/" in headers["Azure-AsyncOperation"]
        assert "/operationstatuses/" in headers["Location"]
        assert int(headers["Retry-After"]) >= 1


async def test_an_etag_changes_with_its_resource_and_with_nothing_else(lab: Lab) -> None:
    await lab.make_cluster(EMPTY)
    path = f"{lab.path}/clusters/{CLUSTER}"
    scale = {
        "properties": {
            "scaleSettings": {"manual": {"targetNodeCount": 0, "nodeDeallocationOption": "terminate"}}
        }
    }

    first, second = [(await lab.send("GET", path))[2]["ETag"] for _ in range(2)]
    changed = (await lab.send("PATCH", path, json=scale))[2]["ETag"]

    assert first == second != changed


async def test_deleting_an_experiment_takes_its_jobs_and_leaves_the_cluster(lab: Lab) -> None:
    await lab.make_cluster(EMPTY)
    await lab.submit("job", **custom("true"))

    await (await lab.client.experiments.begin_delete(*lab.place)).result()

    status, body, _ = await lab.send("GET", f"{lab.path}/experiments/digits/jobs/job")
    assert (status, body["error"]["code"]) == (404, "ExperimentNotFound")
    await lab.client.experiments.begin_create(*lab.place)
    assert [job.name async for job in lab.client.jobs.list_by_experiment(*lab.place)] == []
    assert (await lab.cluster()).name == CLUSTER


async def test_output_files_come_in_pages_and_only_from_a_known_directory(lab: Lab) -> None:
    await lab.make_cluster(autoscale(1))
    await lab.submit("job", **custom("true"))
    await lab.ends("job")
    path = f"{lab.path}/experiments/digits/jobs/job/listOutputFiles"

    _, page, _ = await lab.send("POST", path, params={"outputdirectoryid": "stdouterr", "maxresults": "2"})
    _, rest, _ = await lab.send("GET", _path(lab, page["nextLink"]), params=_query(page["nextLink"]))
    unknown, error, _ = await lab.send("POST", path, params={"outputdirectoryid": "NONE"})
    outside, where, _ = await lab.send(
        "POST", path, params={"outputdirectoryid": "stdouterr", "directory": "../../.."}
    )

    assert [file["name"] for file in page["value"]] == ["execution.log", "stderr.txt"]
    assert [file["name"] for file in rest["value"]] == ["stdout.txt"]
    assert (unknown, error["error"]["target"]) == (400, "outputdirectoryid")
    assert (outside, where["error"]["target"]) == (400, "directory")


async def test_another_method_is_refused(lab: Lab) -> None:
    status, body, _ = await lab.send("POST", lab.path)

    assert (status, body["error"]["code"]) == (405, "MethodNotAllowed")


def _path(lab: Lab, url: str) -> str:
    assert url.startswith(lab.emulator.url)
    return url.removeprefix(lab.emulator.url).split("?")[0]


def _name(one: dict[str, Any]) -> str:
    """What an entry of a list is known by."""
    name = one["name"]
    return str(name["value"] if isinstance(name, dict) else one.get("id", name))


def _query(url: str) -> dict[str, str]:
    return dict(pair.split("=", 1) for pair in url.split("?")[1].replace("%24", "$").split("&"))
