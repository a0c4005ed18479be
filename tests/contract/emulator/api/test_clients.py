"""Every operation that the service's own client has, by its synchronous and its asynchronous form."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import Any

import azure.mgmt.batchai.aio.operations as asynchronous
import azure.mgmt.batchai.operations as synchronous
from azure.core.credentials import AccessToken
from azure.core.pipeline.policies import SansIOHTTPPolicy
from azure.mgmt.batchai import BatchAI
from azure.mgmt.batchai.models import JobsListOutputFilesOptions

from tests.contract.emulator.api.test_contract import EMPTY, SERVER
from tests.contract.emulator.conftest import CLUSTER, GROUP, Lab, cluster_body, custom


class NoToken:
    def get_token(self, *_: str, **__: Any) -> AccessToken:
        return AccessToken("none", 0)


#: Group and name of an operation, its arguments, and what is in its result.
Step = tuple[str, str, tuple[Any, ...], Callable[[Any], bool]]


def steps(lab: Lab) -> Iterable[Step]:
    """From the workspace to its deletion; the result of a list is a list, that of a deletion None."""
    place, experiment, job = (GROUP, lab.workspace), lab.place, (*lab.place, "job")
    cluster, server = (*place, CLUSTER), (*place, "nfs")
    scale = {"properties": {"scaleSettings": {"manual": {"targetNodeCount": 1}}}}
    files = JobsListOutputFilesOptions(outputdirectoryid="stdouterr")

    def named(name: str) -> Callable[[Any], bool]:
        return lambda one: one.name == name

    def has(name: str) -> Callable[[Any], bool]:
        return lambda several: name in [one.name for one in several]

    def empty(result: Any) -> bool:
        return not result

    yield "operations", "list", (), has("Microsoft.BatchAI/workspaces/read")
    yield "usages", "list", ("eastus",), lambda several: len(several) > 0
    yield "workspaces", "begin_create", (*place, {"location": "eastus"}), named(lab.workspace)
    yield "workspaces", "update", (*place, {"tags": {"a": "b"}}), lambda one: one.tags == {"a": "b"}
    yield "workspaces", "get", place, named(lab.workspace)
    yield "workspaces", "list", (), has(lab.workspace)
    yield "workspaces", "list_by_resource_group", (GROUP,), has(lab.workspace)
    yield "file_servers", "begin_create", (*server, SERVER), named("nfs")
    yield "file_servers", "list_by_workspace", place, has("nfs")
    yield "experiments", "begin_create", experiment, named(experiment[-1])
    yield "experiments", "get", experiment, named(experiment[-1])
    yield "experiments", "list_by_workspace", place, has(experiment[-1])
    yield "clusters", "begin_create", (*cluster, cluster_body(EMPTY)), named(CLUSTER)
    yield (
        "clusters",
        "update",
        (*cluster, scale),
        lambda one: one.scale_settings.manual.target_node_count == 1,
    )
    yield "clusters", "get", cluster, named(CLUSTER)
    yield "clusters", "list_by_workspace", place, has(CLUSTER)
    yield "clusters", "list_remote_login_information", cluster, lambda several: len(several) <= 1
    yield "jobs", "begin_create", (*job, lab.job_body(**custom("sleep 600"))), named("job")
    yield "jobs", "get", job, named("job")
    yield "jobs", "list_by_experiment", experiment, has("job")
    yield "jobs", "list_output_files", (*job, files), lambda several: isinstance(several, list)
    yield "jobs", "list_remote_login_information", job, lambda several: len(several) <= 1
    yield "jobs", "begin_terminate", job, empty
    yield "jobs", "begin_delete", job, empty
    yield "clusters", "begin_delete", cluster, empty
    yield "experiments", "begin_delete", experiment, empty
    yield "workspaces", "begin_delete", place, empty


def all_of(module: Any) -> set[tuple[str, str]]:
    """Group and name of every operation, by the names of the groups' classes and of their functions."""
    groups = {
        "ClustersOperations": "clusters",
        "ExperimentsOperations": "experiments",
        "FileServersOperations": "file_servers",
        "JobsOperations": "jobs",
        "Operations": "operations",
        "UsagesOperations": "usages",
        "WorkspacesOperations": "workspaces",
    }
    return {
        (groups[name], operation)
        for name in module.__all__
        for operation in vars(getattr(module, name))
        if not operation.startswith("_") and operation != "models"
    }


async def test_every_operation_of_the_asynchronous_client(lab: Lab) -> None:
    done = set()
    for group, name, arguments, right in steps(lab):
        call = getattr(getattr(lab.client, group), name)(*arguments)
        if name.startswith("begin_"):
            result = await (await call).result()
        elif name.startswith("list"):
            result = [one async for one in call]
        else:
            result = await call
        assert right(result), (group, name, result)
        done.add((group, name))

    assert done == all_of(asynchronous)


async def test_every_operation_of_the_synchronous_client(lab: Lab) -> None:
    def run() -> set[tuple[str, str]]:
        done = set()
        client: Any  # the SDK's own types leave most of its results open
        with BatchAI(
            credential=NoToken(),
            subscription_id="sub",
            base_url=lab.emulator.url,
            authentication_policy=SansIOHTTPPolicy(),
            polling_interval=1,
        ) as client:
            for group, name, arguments, right in steps(lab):
                result = getattr(getattr(client, group), name)(*arguments)
                if name.startswith("begin_"):
                    result = result.result()
                elif name.startswith("list"):
                    result = list(result)
                assert right(result), (group, name, result)
                done.add((group, name))
        return done

    assert await asyncio.to_thread(run) == all_of(synchronous)
