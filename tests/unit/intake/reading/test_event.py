"""Events: what is ours, or carries a job, is a job or a rejection that says why, in every spelling."""

from __future__ import annotations

import json
from typing import Any

import pytest

from shared.core.messages import ENDED, EXPAND, LOOK_AT_FOLDER
from shared.intake.message import Request
from shared.intake.reading.event import SUBMIT
from shared.intake.reading.wakeups import WAKE_UPS
from tests.unit.intake.reading.test_meaning import AT, BARE, ENVELOPE, JOB, event, one


def grid_event(type_: str = SUBMIT, **fields: Any) -> dict[str, Any]:
    """An event in Event Grid's own schema, the default of a custom topic."""
    fixed = {"id": "7", "subject": "x", "eventTime": AT.isoformat(), "dataVersion": "1.0"}
    return {**fixed, "eventType": type_, **fields}


@pytest.mark.parametrize(
    ("topic", "key"), [({"topic": "/t"}, "/t|7"), ({}, "|7"), ({"topic": ""}, "|7"), ({"topic": None}, "|7")]
)
@pytest.mark.parametrize("wrap", [lambda one: one, lambda one: [one]])
def test_a_job_message_in_event_grids_own_schema_is_a_request_with_the_key_of_the_event(
    wrap: Any, topic: dict[str, Any], key: str
) -> None:
    request = one(wrap(grid_event(**topic, data={"spec": BARE, "name": "n"})))

    assert isinstance(request, Request)
    assert (request.document, request.envelope.name, request.key) == (BARE, "n", key)
    assert (request.readable, request.problems) == (True, ())
    assert request.envelope_at.endswith("/data")


def test_an_event_of_event_grid_without_an_id_has_no_key() -> None:
    assert one(grid_event(data=BARE, id="")).key is None


#: Types that are meant as ours: other versions, other spellings, and those that mean something else.
OURS = [
    *(
        "io.slipway.job.submit.v2",
        "io.slipway.job.submit",
        "IO.Slipway.Job.Submit.V1",
        "io.slipway.submit.v1",
    ),
    *(" io.slipway.job.submit.v1", "io.slipway.", "io.slipway.job.succeeded.v1", "io.slipway.sweep.ended.v1"),
    *("io.slipway.jobs.ended.v2", "IO.SLIPWAY.SWEEP.V1", "io.slipway.dead.redrive.v1", "io.slipway.test.v1"),
]


@pytest.mark.parametrize("data", [ENVELOPE, BARE, {"jobs": [JOB]}, "a text", None])
@pytest.mark.parametrize("make", [event, grid_event, lambda *a, **b: [event(*a, **b)]])
@pytest.mark.parametrize("type_", OURS)
def test_every_other_event_of_ours_is_a_request_that_says_what_it_lacks(
    type_: str, make: Any, data: Any
) -> None:
    request = one(make(type_, data=data))

    assert isinstance(request, Request)
    problem = request.problems[0]
    assert (problem.code, problem.severity, request.readable) == ("SW086", "error", False)
    assert problem.pointer.rpartition("/")[2] in ("type", "eventType")
    assert type_ in problem.message
    assert f"type {SUBMIT}" in problem.remedy
    assert request.key is not None
    if data == ENVELOPE:
        assert request.envelope.name == "n"  # its receivers hear of it


MEANINGLESS = [
    event(LOOK_AT_FOLDER, data="a text"),
    event(LOOK_AT_FOLDER, data={"folder": "d/", "newest": "2026-01-01T00:00:00"}),
    event(ENDED),
    event(ENDED, data={"jobs": {JOB: 1}}),
    event(ENDED, data={"jobs": [5]}),
    event(ENDED, data={"jobs": [JOB, "j_bad"]}),
    event(ENDED, data={"jobs": [JOB] * 1001}),
    event(EXPAND, data={"sweep": "s_1"}),
    event(EXPAND, data={"sweep": 7}),
]


def test_each_wake_up_has_a_meaningless_form_here() -> None:
    assert {str(document["type"]) for document in MEANINGLESS} == set(WAKE_UPS)


@pytest.mark.parametrize(
    "document", MEANINGLESS, ids=lambda one: str(one["type"]) + str(one.get("data"))[:30]
)
def test_a_wake_up_without_its_data_is_a_request_that_says_so(document: dict[str, Any]) -> None:
    request = one(document)

    (problem,) = request.problems
    assert (problem.code, problem.pointer, request.readable) == ("SW086", "/type", False)
    assert f"the type {document['type']}" in problem.message
    assert ("ids of jobs" in problem.remedy) is (document["type"] == ENDED)


@pytest.mark.parametrize(
    "document",
    [
        event("com.example.train", data=ENVELOPE),
        event("com.example.train", data=BARE),
        event("com.example.train", data=json.dumps(ENVELOPE)),
        event("com.example.train", data={"specBlob": "specs/a.json"}),
        event("com.example.train", **ENVELOPE),
        event("Microsoft.Storage.BlobCreated", data=BARE),
        grid_event("Contoso.Jobs.Train", data=ENVELOPE),
    ],
    ids=lambda one: str(one)[:60],
)
def test_an_event_of_others_that_carries_a_job_is_a_request_that_says_its_type(document: Any) -> None:
    request = one(document)

    assert isinstance(request, Request)
    assert (request.problems[0].code, request.readable) == ("SW086", False)


def test_a_job_that_calls_itself_a_blob_is_judged_as_a_job() -> None:
    assert isinstance(one({"Type": "BlobTrigger", **BARE}), Request)


def test_nothing_of_an_event_that_asks_for_no_job_is_kept_in_its_rejection() -> None:
    secret = {"note": "canary", "data": {"jobs": ["canary"]}}
    for document in (event("io.slipway.other.v1", **secret), event(ENDED, **secret)):
        request = one(document)
        assert request.text is not None
        assert "canary" not in request.text.masked(request.problems)
    request = one(event("com.example.train", data=ENVELOPE, note="canary"))
    assert "nodeCount" in request.text.masked(request.problems)
    assert "canary" not in request.text.masked(request.problems)
