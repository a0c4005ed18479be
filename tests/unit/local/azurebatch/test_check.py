"""A request is read, and an answer written, as the caller's version of the service has it."""

from __future__ import annotations

import pytest

from local.azurebatch.service.check import read_body
from local.azurebatch.service.facts import facts
from local.azurebatch.service.older import as_of
from local.azurebatch.state.errors import BatchError
from shared.engines.batch.wire.client import API
from tests.unit.engines.batch.described import refusal


@pytest.mark.parametrize("version", facts().versions)
def test_a_member_is_taken_by_the_versions_that_have_it(version: str) -> None:
    pool = {"id": "p", "vmSize": "x", "certificateReferences": []}

    refused = refusal("POST", "/pools", {"api-version": version}, pool)

    assert (refused is None) == (version < "2025-06-01")


def test_the_service_reads_a_number_in_a_text_and_ignores_the_case_of_a_choice() -> None:
    bodies = [
        {"targetDedicatedNodes": "1"},
        {"targetDedicatedNodes": 1, "nodeDeallocationOption": "TaskCompletion"},
        {"targetDedicatedNodes": 1, "resizeTimeout": None},
    ]

    assert [
        refusal("POST", "/pools/p/resize", {"api-version": API, "timeOut": "9"}, one) for one in bodies
    ] == [None] * 3


def test_a_version_gets_the_members_that_it_has_by_its_own_names() -> None:
    old, new = "2020-03-01.11.0", "2025-06-01"
    older = {"id": "p", "vmSize": "x", "maxTasksPerNode": 4}
    body = read_body("PoolCreate", old, older)
    view = {**body, "state": "active", "targetNodeCommunicationMode": "classic"}

    assert body == {"id": "p", "vmSize": "x", "taskSlotsPerNode": 4}
    assert as_of("Pool", old, view) == {
        "id": "p",
        "vmSize": "x",
        "state": "active",
        "maxTasksPerNode": 4,
    }
    assert as_of("Pool", new, view) == {**body, "state": "active"}


def test_the_names_of_the_oldest_versions_are_read_and_answered_within_other_objects_too() -> None:
    task = {
        "id": "t",
        "commandLine": "true",
        "resourceFiles": [{"blobSource": "https://a/b", "filePath": "b"}],
    }
    body = read_body("TaskCreate", "2018-08-01.7.0", task)

    assert body["resourceFiles"] == [{"httpUrl": "https://a/b", "filePath": "b"}]
    assert as_of("Task", "2018-08-01.7.0", body)["resourceFiles"] == task["resourceFiles"]
    assert as_of("Task", "2018-12-01.8.0", body)["resourceFiles"] == body["resourceFiles"]
    assert read_body("PoolResize", "2017-01-01.4.0", {"targetDedicated": 2}) == {"targetDedicatedNodes": 2}
    with pytest.raises(BatchError):
        read_body("PoolResize", "2017-05-01.5.0", {"targetDedicated": 2})
