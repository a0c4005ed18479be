"""A CloudEvent over HTTP means the same whether its attributes are headers (binary mode) or members."""

from __future__ import annotations

import json
from typing import Any

import azure.functions as func
import pytest

from functions.document import event_of
from functions.openapi.elements import EVENT, JOB_DOCUMENT, OPERATIONS
from shared.core.errors import Misuse
from shared.core.job import JobState
from shared.intake.reading.event import SUBMIT
from tests.unit.functions.calls import call, use
from tests.unit.world import World, job_json

#: The calls that take a document of a job, with the address of each.
CALLS = {name: f"/api/{one.route}" for name, one in OPERATIONS.items() if one.body is JOB_DOCUMENT}
EVENT_HEADERS = {"ce-specversion": "1.0", "ce-type": SUBMIT, "ce-source": "/ci", "ce-id": "A-1"}
JSON = {"Content-Type": "application/json"}
STRUCTURED = {"Content-Type": "application/cloudevents+json; charset=UTF-8"}


@pytest.fixture
def api(world: World, monkeypatch: pytest.MonkeyPatch) -> World:
    use(world, monkeypatch)
    return world


async def post(address: str, headers: dict[str, str], document: Any = None) -> tuple[int, dict[str, Any]]:
    body = json.dumps(job_json() if document is None else document).encode()
    answer = await call("POST", address, {**JSON, **headers}, body)
    return answer.status_code, json.loads(answer.get_body())


def structured(**attributes: str) -> dict[str, Any]:
    members = {name.removeprefix("ce-"): value for name, value in EVENT_HEADERS.items()}
    return {**members, **attributes, "data": job_json()}


async def test_an_event_in_binary_mode_is_one_job_however_often_it_comes(api: World) -> None:
    first, again = await post("/api/jobs", EVENT_HEADERS), await post("/api/jobs", EVENT_HEADERS)
    as_text = await post("/api/jobs", STRUCTURED, structured())
    another = await post("/api/jobs", {**EVENT_HEADERS, "ce-id": "A-2"})

    assert [status for status, _ in (first, again, as_text, another)] == [202, 200, 200, 202]
    assert first[1]["id"] == again[1]["id"] == as_text[1]["id"] != another[1]["id"]
    assert len(api.engine.started) == 2


async def test_an_event_in_binary_mode_with_another_document_is_refused(api: World) -> None:
    await post("/api/jobs", EVENT_HEADERS)

    status, problem = await post("/api/jobs", EVENT_HEADERS, job_json(nodeCount=2))

    assert (status, "key was used" in problem["detail"]) == (422, True)


def in_mode(mode: str, attributes: dict[str, str], data: Any = None) -> tuple[dict[str, str], Any]:
    """The headers and the body of an event in that mode."""
    if mode == "binary":
        return attributes, data
    members = {name.removeprefix("ce-"): value for name, value in attributes.items()}
    return STRUCTURED, {**members, "data": job_json() if data is None else data}


@pytest.mark.parametrize("mode", ["binary", "structured"])
@pytest.mark.parametrize("absent", [["ce-id"], ["ce-source"], ["ce-id", "ce-source"]])
@pytest.mark.parametrize("empty", [False, True])
@pytest.mark.parametrize("name", CALLS)
async def test_an_event_that_nothing_names_is_refused_by_every_call(
    api: World, name: str, mode: str, absent: list[str], empty: bool
) -> None:
    """Two deliveries of it would be two jobs."""
    attributes = {key: value for key, value in EVENT_HEADERS.items() if key not in absent}
    attributes |= dict.fromkeys(absent, "") if empty else {}
    template = {"spec": job_json(), "sweep": {"lr": [0.1]}}
    headers, body = in_mode(mode, attributes, template if "sweep" in name else None)

    status, answer = await post(CALLS[name], headers, body)

    problems = answer["errors"] if status == 422 else answer["problems"]
    assert (status == 422, answer.get("valid"), answer.get("verdict")) in (
        (True, None, None),
        (False, False, None),
        (False, None, "rejected"),
    )
    (problem,) = [one for one in problems if one["severity"] == "error"]
    assert problem["code"] == "SW010"
    for one in absent:
        assert (one if mode == "binary" else f'"{one.removeprefix("ce-")}"') in problem["message"]
    assert "Idempotency-Key" in problem["remedy"]
    assert api.engine.started == []
    assert {job.state for job in api.ledger.jobs} <= {JobState.REJECTED}


@pytest.mark.parametrize("mode", ["binary", "structured"])
@pytest.mark.parametrize("key", ["header", "message"])
async def test_an_event_that_lacks_an_id_runs_once_under_a_key_of_its_own(
    api: World, mode: str, key: str
) -> None:
    attributes = {name: value for name, value in EVENT_HEADERS.items() if name != "ce-id"}
    envelope = {"spec": job_json(), **({"idempotencyKey": "k"} if key == "message" else {})}
    headers, body = in_mode(mode, attributes, envelope)
    headers = headers | ({"Idempotency-Key": '"k"'} if key == "header" else {})

    answers = [await post("/api/jobs", headers, body) for _ in range(2)]

    assert [status for status, _ in answers] == [202, 200]


@pytest.mark.parametrize("key", ["header", "message"])
async def test_a_key_of_its_own_wins_over_that_of_the_event(api: World, key: str) -> None:
    headers = {"Idempotency-Key": '"k"'} if key == "header" else {}
    document = {"spec": job_json(), **({"idempotencyKey": "k"} if key == "message" else {})}

    first = await post("/api/jobs", {**EVENT_HEADERS, **headers}, document)
    again = await post("/api/jobs", {**EVENT_HEADERS, **headers, "ce-id": "A-2"}, document)

    assert ([first[0], again[0]], first[1]["id"] == again[1]["id"]) == ([202, 200], True)


async def test_an_event_that_cannot_be_read_is_one_rejection_however_often_it_comes(api: World) -> None:
    answers = [await call("POST", "/api/jobs", {**JSON, **EVENT_HEADERS}, b"{") for _ in range(2)]

    assert [answer.status_code for answer in answers] == [422, 422]
    assert len({json.loads(answer.get_body())["jobId"] for answer in answers}) == 1


def test_every_call_that_takes_a_job_says_that_it_takes_events() -> None:
    assert len(CALLS) >= 4
    for name in CALLS:
        assert OPERATIONS[name].headers[-len(EVENT) :] == EVENT, f"add EVENT to the headers of {name}"


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("type_", ["com.example.other", "io.slipway.job.submit.v2", None])
async def test_another_event_runs_nothing_by_any_call(api: World, name: str, type_: str | None) -> None:
    headers = {k: v for k, v in EVENT_HEADERS.items() if k != "ce-type"} | (
        {"ce-type": type_} if type_ else {}
    )
    template = {"spec": job_json(), "sweep": {"lr": [0.1]}}

    status, body = await post(CALLS[name], headers, template if "sweep" in name else None)

    problems = body["errors"] if status == 422 else body["problems"]
    assert (status == 422, body.get("valid"), body.get("verdict")) in (
        (True, None, None),
        (False, False, None),
        (False, None, "rejected"),
    )
    assert [problem["code"] for problem in problems if problem["severity"] == "error"] == ["SW086"]
    assert f"type {SUBMIT}" in problems[0]["remedy"]
    assert api.engine.started == []
    assert {job.state for job in api.ledger.jobs} <= {JobState.REJECTED}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize(
    "kind",
    [
        "application/cloudevents-batch+json",
        "Application/CloudEvents-Batch+JSON; charset=utf-8",
        "application/cloudevents+xml",
        "application/cloudevents+avro",
    ],
)
async def test_a_batch_and_an_event_that_is_not_json_are_refused_with_what_to_send(
    api: World, name: str, kind: str
) -> None:
    status, problem = await post(CALLS[name], {"Content-Type": kind}, [structured()])

    assert (status, api.ledger.jobs) == (415, [])
    assert "application/cloudevents+json" in problem["remedy"]


def event(**headers: str) -> Any:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return event_of(func.HttpRequest(method="POST", url="/api/jobs", headers=named, body=b"{}"))


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("A-1", "A-1"),
        ("  A-1 ", "A-1"),
        ("Euro%20%E2%82%AC%20%F0%9F%98%80", "Euro € 😀"),
        ("euro%20%e2%82%ac", "euro €"),
        ("100%25", "100%"),
        ("100%2525", "100%25"),
        ("50%", "50%"),
        ("a+b", "a+b"),
        ("caf%C3%A9", "café"),
        ('"a b"', "a b"),
        (r'"a \"b\" \\ %25"', r'a "b" \ %'),
        ('"', '"'),
        ('"a"b"', '"a"b"'),
        ("%22a%22", '"a"'),
    ],
)
def test_an_attribute_is_decoded_once_as_the_binding_says(written: str, value: str) -> None:
    assert event(CE_ID=written, Ce_Source=written).id == value
    assert event(ce_id=written, ce_source=written).sender == value


def test_an_attribute_that_is_not_utf_8_is_refused_by_its_name() -> None:
    with pytest.raises(Misuse, match="ce-source is not UTF-8"):
        event(ce_id="1", ce_source="%FF", ce_type=SUBMIT)


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"ce-myextension": "x"},
        {"cf-ray": "1", "ce": "1"},
        {**EVENT_HEADERS, "content-type": "application/cloudevents+json"},
        {**EVENT_HEADERS, "content-type": "APPLICATION/CLOUDEVENTS; charset=utf-8"},
    ],
)
def test_what_is_no_event_in_binary_mode_is_read_from_its_text(headers: dict[str, str]) -> None:
    assert event(**{name.replace("-", "_"): value for name, value in headers.items()}) is None
