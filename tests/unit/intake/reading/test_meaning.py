"""What each form of a message means, field by field, and what is none of them."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime
from typing import Any

import pytest

from shared.core.messages import (
    ENDED,
    LOOK_AT_FOLDER,
    MESSAGE,
    FolderLook,
    JobsEnded,
    digest,
)
from shared.intake.message import ForeignEvent, Message, Request, read_message, read_request
from shared.intake.reading.event import REJECTION, SUBMIT
from shared.intake.reading.wakeups import BlobWritten
from shared.jobspec import Limits, Source

BARE: dict[str, Any] = {"properties": {"nodeCount": 1}}
ENVELOPE = {"spec": BARE, "idempotencyKey": "k", "name": "n"}
JOB = "j_" + "a" * 24
AT = datetime(2026, 1, 1, tzinfo=UTC)


def event(type_: str = SUBMIT, **fields: Any) -> dict[str, Any]:
    return {"specversion": "1.0", "type": type_, "source": "/ci", "id": "7", **fields}


def messages_of(document: object, **limits: Any) -> tuple[Message, ...]:
    return read_message(json.dumps(document).encode(), Limits(**limits))


def one(document: object, **limits: Any) -> Any:
    (only,) = messages_of(document, **limits)
    return only


def codes(request: Request) -> list[str]:
    return [problem.code for problem in request.problems]


@pytest.mark.parametrize(
    ("document", "index", "at", "envelope_at", "key"),
    [
        (BARE, 0, "", "", None),
        (ENVELOPE, 0, "/spec", "", "k"),
        (event(data=ENVELOPE), 0, "/data/spec", "/data", "k"),
        (event(data=BARE), 0, "/data", "/data", "/ci|7"),
        ([BARE, event(data=ENVELOPE)], 1, "/1/data/spec", "/1/data", "k"),
        ([BARE, BARE], 1, "/1", "/1", None),
    ],
)
def test_a_request_knows_where_its_document_stands_in_what_was_sent(
    document: Any, index: int, at: str, envelope_at: str, key: str | None
) -> None:
    request = messages_of(document)[index]

    assert isinstance(request, Request)
    assert (request.document, request.pointer, request.envelope_at, request.key) == (
        BARE,
        at,
        envelope_at,
        key,
    )
    assert request.readable
    assert request.text is not None
    assert (json.loads(request.text.data), request.text.file) == (document, MESSAGE)


@pytest.mark.parametrize("wrap", [lambda one: one, lambda one: [one], lambda one: event(data=one)])
def test_problems_of_an_envelope_point_into_what_was_sent(wrap: Any) -> None:
    whole = wrap({**ENVELOPE, "nmae": "x"})
    request = one(whole)

    (problem,) = request.problems
    assert problem.pointer == f"{request.envelope_at}/nmae"
    assert request.envelope.name == "n"  # what is sound beside it stays
    assert request.payload == digest(
        whole["data"]
        if isinstance(whole, dict) and "data" in whole
        else whole[0]
        if isinstance(whole, list)
        else whole
    )


@pytest.mark.parametrize("wrap", [lambda one: one, lambda one: [one]])
def test_the_limits_hold_for_every_form(wrap: Any) -> None:
    deep: object = {"properties": {"a": {"b": {"c": {"d": {}}}}}}
    hook = {"url": "https://a.example.com"}
    assert codes(one(wrap(deep), max_depth=4)) == ["SW004"]
    assert codes(one(wrap({"spec": BARE, "notify": [hook, hook]}), max_receivers=1)) == ["SW063"]


def test_a_text_with_mistakes_asks_for_nothing_and_has_no_key() -> None:
    body = b'{"spec": {"properties": {}}, "idempotencyKey": "k", "idempotencyKey": "k"}'
    (only,) = read_message(body, Limits())

    assert isinstance(only, Request)
    assert (only.key, only.readable, only.payload) == (None, False, hashlib.sha256(body).hexdigest())
    assert only.document == {"properties": {}}
    assert only.text == Source(body, MESSAGE)


@pytest.mark.parametrize("body", [b"{", b"7", b"false"])
def test_what_is_no_object_is_kept_with_its_text(body: bytes) -> None:
    (only,) = read_message(body, Limits())

    assert isinstance(only, Request)
    assert (only.document, only.text) == (None, Source(body, MESSAGE))


@pytest.mark.parametrize(
    ("document", "foreign"),
    [
        (event("com.example.other", data={"jobs": [JOB]}), "com.example.other"),
        (event("com.example.other", data={"part": 0, "of": 4, "at": AT.isoformat()}), "com.example.other"),
        (event("t" * 200), "t" * 100),
        (
            event("com.example.slipway.job.submit.v1", data={"specification": BARE}),
            "com.example.slipway.job.submit.v1",
        ),
        (event("com.example.other", data={"properties": {"cluster": "x"}}), "com.example.other"),
        (event("com.example.other", data='{"spec": '), "com.example.other"),
        (event(REJECTION, data={"id": JOB, "state": "rejected"}), REJECTION),
        (event("Microsoft.Storage.BlobCreated"), "Microsoft.Storage.BlobCreated"),
        *(
            (event("Microsoft.Storage.BlobCreated", subject=subject), "Microsoft.Storage.BlobCreated")
            for subject in ("/containers/c/blobs/n", "/x/containers//blobs/n", "/x/containers/c/blobs/")
        ),
        *(
            ({"Type": "BlobTrigger", "ContainerName": container, "BlobName": name}, "BlobTrigger")
            for container, name in ((7, "n"), ("c", 7), ("", "n"), ("c", ""), (None, None))
        ),
    ],
    ids=lambda one: str(one)[:60],
)
def test_what_is_not_for_us_is_foreign(document: Any, foreign: str) -> None:
    assert one(document) == ForeignEvent(foreign)


@pytest.mark.parametrize(
    ("document", "meaning"),
    [
        (event(ENDED, data={"jobs": [JOB] * 1000}), JobsEnded((JOB,) * 1000)),
        (event(LOOK_AT_FOLDER, data={"folder": "d/", "newest": AT.isoformat()}), FolderLook("d/", AT)),
        (
            event("Microsoft.Storage.BlobRenamed", subject="/x/containers/c/blobs/a/b"),
            BlobWritten("c", "a/b"),
        ),
        ({"Type": "BlobTrigger", "ContainerName": "c", "BlobName": "a/b"}, BlobWritten("c", "a/b")),
    ],
    ids=lambda one: str(one)[:60],
)
def test_what_is_ours_means_what_it_says(document: Any, meaning: Message) -> None:
    assert one(document) == meaning


@pytest.mark.parametrize(
    "document", [{**BARE, "type": "x"}, {**BARE, "specversion": "1.0"}, {**BARE, "type": 7}]
)
def test_what_is_no_whole_event_is_a_request(document: Any) -> None:
    assert isinstance(one(document), Request)


@pytest.mark.parametrize("data", ["a text", None, [1]])
def test_an_event_without_a_job_message_says_how_one_is_written(data: Any) -> None:
    whole = event(data=data)
    request = one(whole)

    (problem,) = request.problems
    assert (problem.code, problem.pointer, request.envelope_at) == ("SW008", "/data", "/data")
    assert "write the job message as an object" in problem.remedy
    assert (request.document, request.payload, request.key) == (None, digest(whole), "/ci|7")
    assert request.text is not None


@pytest.mark.parametrize("absent", ["source", "id"])
@pytest.mark.parametrize("wrap", [lambda one: one, lambda one: [event(data=BARE), one]])
def test_an_event_without_an_identity_says_what_it_lacks_where_nothing_else_names_it(
    absent: str, wrap: Any
) -> None:
    whole = event(data={"spec": BARE})
    del whole[absent]
    *_, request = messages_of(wrap(whole))
    assert isinstance(request, Request)

    refused = request.known_by(None)

    assert (request.key, request.problems, request.known_by("k").problems) == (None, (), ())
    assert [(one.code, one.pointer) for one in refused.problems] == [
        ("SW010", f"/1/{absent}" if isinstance(wrap(whole), list) else f"/{absent}")
    ]
    assert f'"{absent}"' in refused.problems[0].message


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ({"apiVersion": "batch/v1", "kind": "Job", "metadata": {}, "spec": {"template": {}}}, None),
        ({"job": {"properties": {"nodeCount": 1, "customToolkitSettings": {"commandLine": "x"}}}}, True),
    ],
)
def test_a_document_in_another_form_has_one_problem_that_says_so(document: Any, expected: object) -> None:
    request = one(document)

    assert (len(request.problems), request.readable) == (1, False)
    assert (request.document is not None) is bool(expected)


def test_a_job_in_a_wrapper_is_judged_as_if_it_stood_where_it_belongs() -> None:
    properties = {"nodeCount": 1, "customToolkitSettings": {"commandLine": "x"}}
    request = one({"job": {"properties": properties}})

    assert request.document == {"properties": properties}
    assert (request.properties, request.readable) == ("/job/properties", False)


def test_a_job_as_the_service_shows_it_is_no_envelope_although_it_has_a_name() -> None:
    inside = {"nodeCount": 1, "customToolkitSettings": {"commandLine": "x"}}
    shown = {"name": "job1", "type": "Microsoft.BatchAI/workspaces/experiments/jobs", **inside}
    request = one(shown)

    assert request.document == {"properties": inside}
    assert (len(request.problems), request.envelope.name) == (1, None)


def test_a_spec_that_is_no_object_is_no_document() -> None:
    request = one({"spec": "a text", "name": "n"})

    assert (request.document, request.envelope.name) == (None, "n")
    assert request.problems


# By the other doors


def test_a_request_is_read_with_the_name_of_its_text() -> None:
    request = read_request(json.dumps(ENVELOPE).encode(), Limits(), "train.json")

    assert (request.document, request.key, request.readable) == (BARE, "k", True)
    assert request.text is not None
    assert request.text.file == "train.json"
    deep = json.dumps({"properties": {"a": {"b": {"c": {"d": {}}}}}}).encode()
    assert codes(read_request(deep, Limits(max_depth=4))) == ["SW004"]
    assert codes(
        read_request(json.dumps({"spec": BARE, "notify": [{}, {}]}).encode(), Limits(max_receivers=1))
    )


@pytest.mark.parametrize("body", [b"{", b"[]", b"7"])
def test_a_request_that_cannot_be_read_is_none_and_says_why(body: bytes) -> None:
    request = read_request(body, Limits())

    assert (request.document, request.readable, request.key) == (None, False, None)
    assert request.problems


def test_an_event_that_asks_for_no_job_is_refused_where_a_job_is_expected() -> None:
    request = read_request(json.dumps(event(ENDED, data={"jobs": [JOB]})).encode(), Limits())

    (problem,) = request.problems
    assert (problem.code, request.document, request.readable) == ("SW086", None, False)
    assert "write the job itself" in problem.remedy


def test_a_request_with_mistakes_in_its_text_keeps_what_can_be_read_for_diagnostics() -> None:
    request = read_request(b'{"properties": {"a": 1, "a": 2}}', Limits())

    assert request.problems
    assert (request.document is not None, request.readable) == (True, False)
