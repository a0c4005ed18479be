"""What the queue door understands."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.core.messages import FolderLook, look_message
from shared.intake.message import ForeignEvent, Request, read_message
from shared.intake.reading.wakeups import BlobWritten
from shared.jobspec import Limits

BARE = {"properties": {"nodeCount": 1}}
SUBJECT = "/blobServices/default/containers/scripts/blobs/digits/run/train.py"
EVENT_GRID = {
    "id": "1",
    "eventType": "Microsoft.Storage.BlobCreated",
    "subject": SUBJECT,
    "data": {"api": "PutBlob"},
}
CLOUD_EVENT = {
    "specversion": "1.0",
    "id": "1",
    "source": "/subscriptions/x",
    "type": "Microsoft.Storage.BlobCreated",
    "subject": SUBJECT,
}


def _read(document: object) -> tuple[object, ...]:
    return read_message(json.dumps(document).encode(), Limits())


@pytest.mark.parametrize(
    "wrap", [bytes, base64.b64encode, lambda data: b"\xef\xbb\xbf" + data, lambda data: data + b"\n"]
)
def test_a_message_may_be_plain_or_base64(wrap: object) -> None:
    assert callable(wrap)
    (message,) = read_message(wrap(json.dumps(BARE).encode()), Limits())
    assert isinstance(message, Request)
    assert message.document == BARE


@pytest.mark.parametrize("event", [EVENT_GRID, CLOUD_EVENT, [EVENT_GRID]])
def test_a_blob_created_event_is_an_arrival(event: object) -> None:
    assert _read(event) == (BlobWritten("scripts", "digits/run/train.py"),)


def test_the_message_by_which_the_host_stands_for_a_blob_is_an_arrival() -> None:
    message = {
        "Type": "BlobTrigger",
        "FunctionId": "Host.Functions.accept_drop",
        "BlobType": "BlockBlob",
        "ContainerName": "scripts",
        "BlobName": "digits/train.py",
        "ETag": None,
    }

    assert _read(message) == (BlobWritten("scripts", "digits/train.py"),)
    assert _read(message | {"BlobName": 7}) == (ForeignEvent("BlobTrigger"),)


def test_a_batch_of_events_is_read_whole() -> None:
    assert len(_read([EVENT_GRID, CLOUD_EVENT])) == 2


def test_an_envelope_is_a_request_with_its_key() -> None:
    (message,) = _read({"spec": BARE, "idempotencyKey": "k", "name": "n"})
    assert isinstance(message, Request)
    assert (message.document, message.key, message.envelope.name) == (BARE, "k", "n")


def test_a_job_message_in_a_cloud_event_has_the_key_of_the_event() -> None:
    (message,) = _read(
        {
            "specversion": "1.0",
            "id": "7",
            "source": "/ci",
            "type": "io.slipway.job.submit.v1",
            "data": {"spec": BARE},
        }
    )
    assert isinstance(message, Request)
    assert message.key == "/ci|7"
    assert message.document == BARE


@pytest.mark.parametrize(
    "event",
    [
        {**EVENT_GRID, "eventType": "Microsoft.Storage.BlobDeleted"},
        {**EVENT_GRID, "subject": "/containers/x"},
        {**CLOUD_EVENT, "type": "com.example.other"},
    ],
)
def test_an_event_that_is_not_for_us_is_foreign(event: object) -> None:
    (message,) = _read(event)
    assert isinstance(message, ForeignEvent)


def test_our_own_delayed_look_comes_back_as_it_was_sent() -> None:
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    assert read_message(look_message("a/b/", moment).encode(), Limits()) == (FolderLook("a/b/", moment),)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"hello",
        b"{",
        b"[]",
        b"[1]",
        b"\xff\xfe{\x00}\x00",
        b'{"a": 1, "a": 2}',
        b"[" * 100_000,
        b"null",
        b"\x00",
    ],
)
def test_what_cannot_be_read_is_a_request_with_problems(body: bytes) -> None:
    (message,) = read_message(body, Limits())
    assert isinstance(message, Request)
    assert not message.readable
    assert message.problems
    assert all(problem.remedy for problem in message.problems)


def test_the_payload_does_not_depend_on_spacing_or_order() -> None:
    (one,) = read_message(b'{"properties": {"a": 1, "b": 2}}', Limits())
    (two,) = read_message(b'{"properties":{"b":2,"a":1}}', Limits())
    assert isinstance(one, Request)
    assert isinstance(two, Request)
    assert one.payload == two.payload


@given(st.binary(max_size=300))
def test_no_bytes_make_it_raise(body: bytes) -> None:
    assert read_message(body, Limits())


def test_an_explicit_key_wins_over_the_event_and_an_event_without_identity_has_none() -> None:
    event = {
        "specversion": "1.0",
        "type": "io.slipway.job.submit.v1",
        "data": {"spec": BARE, "idempotencyKey": "k"},
    }
    (message,) = _read({**event, "id": "7", "source": "/ci"})
    assert isinstance(message, Request)
    assert message.key == "k"
    (message,) = _read({**event, "data": {"spec": BARE}})
    assert isinstance(message, Request)
    assert message.key is None
