"""Queue messages: encodings, and the metadata that the function gets."""

import json
from datetime import UTC, datetime

import pytest
from azure.storage.queue import QueueMessage

from local.host.triggers.queue import decode, metadata_of
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


def _message(body: str) -> QueueMessage:
    message = QueueMessage(content=body)
    message.id, message.dequeue_count, message.pop_receipt = "i", 3, "p"
    message.inserted_on = datetime(2026, 1, 1, tzinfo=UTC)
    return message


def test_metadata_holds_the_message_and_the_properties_of_its_body() -> None:
    body = json.dumps({"name": "x", "n": 1, "Id": "forged"})

    metadata = metadata_of(_message(body), Data("string", body))

    assert metadata["name"] == Data("string", "x")
    assert metadata["n"] == Data("json", "1")
    assert metadata["Id"] == Data("string", "i")
    assert metadata["DequeueCount"] == Data("json", "3")
    assert metadata["InsertionTime"] == Data("string", "2026-01-01T00:00:00+00:00")


@pytest.mark.parametrize("body", ["plain", "[1]", "{broken", "{" * 100_000])
def test_a_body_that_is_no_object_adds_nothing(body: str) -> None:
    metadata = metadata_of(_message(body), Data("string", body))

    assert set(metadata) == {"Id", "DequeueCount", "PopReceipt", "QueueTrigger", "InsertionTime"}
