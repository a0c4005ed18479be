"""The emulator's facts of the service are those of Microsoft's client, and its answers keep to them."""

from __future__ import annotations

import enum
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from azure.batch import BatchClient, models
from azure.core.exceptions import HttpResponseError
from azure.core.rest import HttpRequest

from local.azurebatch.api.control import PREFIX
from local.azurebatch.api.routes import ROUTES, operation_of
from local.azurebatch.service.check import members_of as members_of_object
from local.azurebatch.service.facts import facts
from tests.slow.local.azurebatch.world import (
    Emulator,
    code_of,
    emulator,
    ended,
    new_job,
    new_pool,
    new_task,
    until,
)

NEWEST = "2025-06-01"
#: Objects of the facts with another name in the client.
NAMES = {
    "PoolCreate": "BatchPoolCreateOptions",
    "PoolUpdate": "BatchPoolUpdateOptions",
    "PoolReplace": "BatchPoolReplaceOptions",
    "PoolResize": "BatchPoolResizeOptions",
    "NodesRemove": "BatchNodeRemoveOptions",
    "EnableAutoScale": "BatchPoolEnableAutoScaleOptions",
    "EvaluateAutoScale": "BatchPoolEvaluateAutoScaleOptions",
    "NodeReboot": "BatchNodeRebootOptions",
    "NodeReimage": "BatchNodeReimageOptions",
    "NodeDisableScheduling": "BatchNodeDisableSchedulingOptions",
    "NodeUserCreate": "BatchNodeUserCreateOptions",
    "NodeUserReplace": "BatchNodeUserReplaceOptions",
    "JobCreate": "BatchJobCreateOptions",
    "JobUpdate": "BatchJobUpdateOptions",
    "JobReplace": "BatchJob",
    "JobDisable": "BatchJobDisableOptions",
    "JobTerminate": "BatchJobTerminateOptions",
    "TaskCreate": "BatchTaskCreateOptions",
    "TaskReplace": "BatchTask",
    "TaskCollection": "BatchTaskGroup",
}
#: Objects of answers. `Execution` is what the executions of tasks of each kind have.
ANSWERS = {
    "Pool": ("BatchPool",),
    "Node": ("BatchNode",),
    "Job": ("BatchJob",),
    "Task": ("BatchTask",),
    "Subtask": ("BatchSubtask",),
    "JobCommands": ("BatchJobPreparationAndReleaseTaskStatus",),
    "NodeCounts": ("BatchNodeCounts",),
    "TaskCounts": ("BatchTaskCounts",),
    "Execution": (
        *("BatchTaskExecutionInfo", "BatchStartTaskInfo", "BatchJobPreparationTaskExecutionInfo"),
        "BatchJobReleaseTaskExecutionInfo",
    ),
}
#: Some are not exported.
_MODELS: Any = inspect.getmodule(models.BatchPool)
_CHOICES: Any = inspect.getmodule(models.BatchJobState)
_OPTIONAL = re.compile(r"Optional\[|NoneType|None\b")


def members_of(model: Any) -> Iterator[tuple[str, bool, tuple[str, ...]]]:
    """Name of each member that a caller may set, whether a request needs it, and its choices."""
    model()  # the first instance gives the members their names
    hints = {name: text for one in reversed(model.__mro__) for name, text in _hints(one).items()}
    for name, value in _fields(model):
        if value._visibility != ["read"]:
            text = str(hints[name])
            yield value._rest_name, not _OPTIONAL.search(text), _choices(text)


def _fields(model: Any) -> Iterator[tuple[str, Any]]:
    members = (pair for one in model.__mro__ for pair in vars(one).items())
    return ((name, value) for name, value in members if type(value).__name__ == "_RestField")


def _hints(model: Any) -> dict[str, Any]:
    return dict(vars(model).get("__annotations__", {}))


def _choices(text: str) -> tuple[str, ...]:
    kinds = [getattr(_CHOICES, word, None) for word in re.findall(r"\w+", text)]
    return tuple(
        str(one.value)
        for kind in kinds
        if isinstance(kind, type) and issubclass(kind, enum.Enum)
        for one in kind
    )


@pytest.mark.parametrize(
    "name",
    [
        name
        for name, members in facts().objects.items()
        if name not in ANSWERS and any(one.is_of(NEWEST) for one in members.values())
    ],
)
def test_an_object_has_the_members_of_microsoft_s_client(name: str) -> None:
    model = getattr(_MODELS, NAMES.get(name, name))
    ours = {
        one.name: (one.is_needed, {choice.lower() for choice in one.choices})
        for one in facts().objects[name].values()
        if one.is_of(NEWEST)
    }

    theirs = {
        member: (needed, {choice.lower() for choice in choices})
        for member, needed, choices in members_of(model)
    }

    assert ours == theirs


@pytest.mark.parametrize("name", list(ANSWERS))
def test_an_answer_has_the_members_of_microsoft_s_client(name: str) -> None:
    models_of = [getattr(_MODELS, one) for one in ANSWERS[name]]
    for model in models_of:
        model()

    theirs = {value._rest_name for model in models_of for _, value in _fields(model)}

    assert set(members_of_object(name, NEWEST)) == theirs


def test_each_route_is_one_that_the_service_describes() -> None:
    without = [path for method, path, _ in ROUTES if operation_of(method, path) is None]
    served = {
        (method, re.sub(r":\(.*\)}", "}", path)) for method, path, _ in ROUTES if not path.startswith(PREFIX)
    }

    assert all(path.startswith(PREFIX) for path in without)
    assert served == set(facts().operations)


@pytest.mark.parametrize("version", facts().versions)
def test_each_published_version_is_served_with_its_own_names(
    running: Emulator, used: str, version: str
) -> None:
    with running.client() as client:

        def answer(path: str) -> Any:
            request = HttpRequest("GET", path, params={"api-version": version})
            members = client.send_request(request).json().items()
            return {name: part for name, part in members if name != "odata.metadata"}

        for path, kind in (
            (f"/pools/{used}", "Pool"),
            (f"/jobs/{used}", "Job"),
            (f"/jobs/{used}/tasks/t", "Task"),
            (f"/pools/{used}/nodes/{answer(f'/pools/{used}/nodes')['value'][0]['id']}", "Node"),
        ):
            assert set(answer(path)) <= set(members_of_object(kind, version))
        counted = "currentDedicatedNodes" if version >= "2017-05-01.5.0" else "currentDedicated"
        assert answer(f"/pools/{used}")[counted] == 1
        assert answer(f"/jobs/{used}/tasks/t")["executionInfo"]["exitCode"] == 3
        failed = "failureInfo" in answer(f"/jobs/{used}/tasks/t")["executionInfo"]
        assert failed == (version >= "2017-05-01.5.0")


@pytest.fixture(scope="module")
def used(running: Emulator) -> str:
    """A pool, and a job of the same name whose task has failed."""
    with running.client() as client:
        client.create_pool(new_pool("used", target_dedicated_nodes=1))
        client.create_job(new_job("used", "used"))
        client.create_task("used", new_task("t", "exit 3"))
        ended(client, "used", "t")
    return "used"


@pytest.mark.parametrize(
    ("version", "path"),
    [
        ("2018-12-01.8.0", "/supportedimages"),
        ("2019-06-01.9.0", "/nodeagentskus"),
        ("2017-09-01.6.0", "/nodecounts"),
        ("2017-05-01.5.0", "/jobs/used/taskcounts"),
    ],
)
def test_a_version_does_not_have_operations_of_others(
    running: Emulator, used: str, version: str, path: str
) -> None:
    with running.client() as client, pytest.raises(HttpResponseError) as refused:
        client.send_request(HttpRequest("GET", path, params={"api-version": version}))

    assert refused.value.status_code == 404


def test_a_list_has_pages_no_longer_than_the_service_gives(running: Emulator, client: BatchClient) -> None:
    for number in range(12):
        client.create_pool(new_pool(f"page-{number}", target_dedicated_nodes=0))

    request = HttpRequest("GET", "/nodecounts", params={"api-version": NEWEST})
    first = client.send_request(request).json()
    counts = list(client.list_pool_node_counts())
    with pytest.raises(HttpResponseError) as refused:
        list(client.list_pool_node_counts(max_results=11))

    assert len(first["value"]) == 10
    assert len([one for one in counts if str(one.pool_id).startswith("page-")]) == 12
    assert code_of(refused.value) == "InvalidQueryParameterValue"


def test_a_new_pool_is_resizing_first_and_its_nodes_come_in_pages(tmp_path: Path) -> None:
    with emulator(tmp_path, "--provisioning-seconds=3") as running, running.client() as client:
        client.create_pool(new_pool("slow", target_dedicated_nodes=3))
        first = client.get_pool("slow").allocation_state
        until(lambda: [node.state for node in client.list_nodes("slow")] == [models.BatchNodeState.IDLE] * 3)
        pages = [[str(one.id) for one in page] for page in client.list_nodes("slow", max_results=2).by_page()]

    assert first == models.AllocationState.RESIZING
    assert [len(page) for page in pages] == [2, 1]
    assert len({*pages[0], *pages[1]}) == 3


def test_a_collection_of_more_than_a_megabyte_is_too_large_and_the_client_sends_it_in_parts(
    client: BatchClient,
) -> None:
    client.create_pool(new_pool("large", target_dedicated_nodes=0))
    client.create_job(new_job("large", "large"))
    tasks = [models.BatchTaskCreateOptions(id=f"t{n}", command_line="x" * 20_000) for n in range(60)]

    with pytest.raises(HttpResponseError) as refused:
        client.create_task_collection("large", models.BatchTaskGroup(task_values=tasks))
    client.create_tasks("large", tasks)

    assert refused.value.status_code == 413
    assert code_of(refused.value) == "RequestBodyTooLarge"
    assert len(list(client.list_tasks("large"))) == 60


def test_an_automatic_pool_is_refused_with_what_to_do_instead(client: BatchClient) -> None:
    body = {"id": "auto", "poolInfo": {"autoPoolSpecification": {"poolLifetimeOption": "job"}}}

    with pytest.raises(HttpResponseError) as refused:
        client.create_job(body)  # type: ignore[arg-type]

    assert "make a pool, and name it by poolId" in str(refused.value)
