"""What no user means to send: the emulator refuses it by name, or the task fails; nothing else is held up."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from azure.batch import BatchClient
from azure.core.exceptions import HttpResponseError
from azure.core.rest import HttpRequest

from tests.slow.local.azurebatch.world import Emulator, code_of, ended, new_job, new_pool, new_task


@pytest.fixture(scope="module")
def pool(running: Emulator) -> str:
    """A pool of one node."""
    with running.client() as client:
        client.create_pool(new_pool("one", target_dedicated_nodes=1))
    return "one"


@pytest.fixture
def job(client: BatchClient, pool: str) -> Iterator[str]:
    """A job of the test's own, by the same name each time."""
    client.create_job(new_job("odd", pool))
    yield "odd"
    client.begin_delete_job("odd", polling_interval=0).wait()


def test_a_range_that_a_file_does_not_have_is_refused_by_name(client: BatchClient, job: str) -> None:
    client.create_task(job, new_task("t", "echo hello"))
    ended(client, job, "t")
    path = f"/jobs/{job}/tasks/t/files/stdout.txt?api-version=2024-07-01.20.0"

    with pytest.raises(HttpResponseError) as refused:
        client.send_request(HttpRequest("GET", path, headers={"ocp-range": "bytes=5000-"}))

    assert refused.value.response
    assert (refused.value.response.status_code, code_of(refused.value)) == (416, "InvalidRange")


@pytest.mark.parametrize("odd", ["a\0b", "\ud800"], ids=["null", "surrogate"])
def test_text_that_no_file_or_process_can_have_is_refused(client: BatchClient, job: str, odd: str) -> None:
    for body in (
        {"id": "t", "commandLine": f"/bin/echo {odd}"},
        {"id": "t", "commandLine": "true", "environmentSettings": [{"name": odd, "value": "1"}]},
    ):
        with pytest.raises(HttpResponseError) as refused:
            client.create_task(job, body)  # type: ignore[arg-type]
        assert code_of(refused.value) == "InvalidRequestBody"


@pytest.mark.parametrize(
    "odd",
    [
        {"commandLine": "/bin/true", "environmentSettings": [{"name": "A=B", "value": "1"}]},
        {"commandLine": f"/bin/echo {'x' * 200_000}"},
        {"commandLine": "/bin/sh -c 'without an end"},
        {"commandLine": ""},
    ],
    ids=["variable", "long", "quote", "empty"],
)
def test_a_task_that_no_node_can_start_fails_and_frees_its_node(
    client: BatchClient, job: str, odd: dict[str, Any]
) -> None:
    client.create_task(job, {"id": "odd", **odd})  # type: ignore[arg-type]

    info = ended(client, job, "odd").execution_info

    assert info
    assert (info.result, info.requeue_count) == ("failure", 0)


@pytest.mark.parametrize("name", ["maxresults", "$skiptoken"])
@pytest.mark.parametrize("number", ["²", "9" * 5000, "-1", "x"])
def test_a_page_that_is_no_number_is_refused_by_name(client: BatchClient, name: str, number: str) -> None:
    request = HttpRequest("GET", "/jobs", params={"api-version": "2024-07-01.20.0", name: number})

    with pytest.raises(HttpResponseError) as refused:
        client.send_request(request).raise_for_status()

    assert code_of(refused.value) == "InvalidQueryParameterValue"


def test_a_text_that_is_no_time_fits_no_time(client: BatchClient, job: str) -> None:
    assert list(client.list_jobs(filter="id gt DateTime'2020-01-01T00:00:00Z'")) == []


@pytest.mark.thorough
def test_folders_in_folders_without_an_end_are_listed_to_a_depth(client: BatchClient, job: str) -> None:
    client.create_task(job, new_task("t", f"mkdir -p {'d/' * 1500}"))
    ended(client, job, "t")
    names = [str(file.name) for file in client.list_task_files(job, "t", recursive=True)]

    client.delete_task_file(job, "t", "wd/d", recursive=True)

    assert "wd/d/d" in names
    assert max(name.count("/") for name in names) == 64
    assert [file.name for file in client.list_task_files(job, "t", recursive=True)] == [
        "stderr.txt",
        "stdout.txt",
        "wd",
    ]
