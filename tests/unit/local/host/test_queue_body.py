"""Queue messages: encodings, and the metadata that the function gets."""

import json
from datetime import UTC, datetime

import pytest
from azure.storage.queue import QueueMessage

from local.host.triggers.queue import body_of, decode, fits, metadata_of
from local.host.worker.contract import Data


@pytest.mark.parametrize(
    ("text", "encoding", "expected"),
    [
        ("plain", "none", Data("string", "plain")),
        ("aGk=", "none", Data("string", "aGk=")),
        ("aGk=", "base64", Data("string", "hi")),
        ("/w==", "base64", Data("bytes", b"\xff")),
        (" aG\r\n\tk =\n", "base64", Data("string", "hi")),
        ("aGk", "base64", None),
        ("aGk\v=", "base64", None),
        ("aGk_", "base64", None),
        ("not base64!", "base64", None),
        ("grüße", "base64", None),
        ("", "base64", Data("string", "")),
    ],
)
def test_a_body_is_decoded_as_host_json_says(text: str, encoding: str, expected: Data | None) -> None:
    assert decode(text, encoding) == expected


@pytest.mark.parametrize(("kind", "expected"), [("", False), ("STRING", False), ("BINARY", True)])
def test_what_is_not_text_reaches_only_a_function_that_asks_for_bytes(kind: str, *, expected: bool) -> None:
    trigger = {"dataType": kind}

    assert fits(Data("bytes", b"\xff"), trigger) is expected
    assert fits(Data("string", "text"), trigger) is True


def _message(body: str) -> QueueMessage:
    message = QueueMessage(content=body)
    message.id, message.dequeue_count, message.pop_receipt = "i", 3, "p"
    message.inserted_on = datetime(2026, 1, 1, tzinfo=UTC)
    return message


def test_metadata_holds_the_message_and_the_members_of_its_text() -> None:
    body = json.dumps({"name": "x", "n": 1, "o": {"a": 1}, "l": [1], "at": "2020-01-01T01:00:00+01:00"})

    metadata = metadata_of(_message(body), Data("string", body))

    assert metadata["Id"] == Data("string", "i")
    assert metadata["DequeueCount"] == Data("json", "3")
    assert metadata["InsertionTime"] == Data("string", "2026-01-01T00:00:00+00:00")
    assert metadata["name"] == Data("string", "x")
    assert metadata["n"] == Data("string", "1")
    assert metadata["o"] == Data("json", '{"a": 1}')
    assert metadata["at"] == Data("string", "01/01/2020 00:00:00")
    assert "l" not in metadata


def test_members_of_a_text_replace_the_fields_of_the_message_in_any_case() -> None:
    body = json.dumps({"id": "mine", "DEQUEUECOUNT": 8, "PopReceipt": None, "insertionTime": True})

    metadata = metadata_of(_message(body), Data("string", body))

    assert {name: data.value for name, data in metadata.items()} == {
        "Id": "mine",
        "DequeueCount": "8",
        "PopReceipt": "",
        "QueueTrigger": body,
        "InsertionTime": "True",
    }


def test_members_of_a_body_that_is_asked_for_as_bytes_replace_nothing() -> None:
    text = json.dumps({"id": "mine", "name": "grüße"})

    body = body_of(text, {"type": "queueTrigger", "dataType": "BINARY"}, "none")

    assert body == Data("bytes", text.encode())
    metadata = metadata_of(_message(text), body)
    assert metadata["Id"] == Data("string", "i")
    assert metadata["QueueTrigger"] == Data("string", text)
    assert "name" not in metadata


@pytest.mark.parametrize("body", ["plain", "[1]", "{broken", "{" * 100_000])
def test_a_body_that_is_not_an_object_adds_nothing(body: str) -> None:
    metadata = metadata_of(_message(body), Data("string", body))

    assert set(metadata) == {"Id", "DequeueCount", "PopReceipt", "QueueTrigger", "InsertionTime"}
