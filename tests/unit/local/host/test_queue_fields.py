"""The queue triggers of the app: a sender chooses the body of a message, and nothing else of it."""

from __future__ import annotations

import itertools
import json
from datetime import UTC, datetime
from typing import Any

import azure.functions as func
import pytest
from azure.functions.decorators.queue import QueueTrigger
from azure.functions.meta import Datum
from azure.storage.queue import QueueMessage

from local.host.triggers.queue import body_of, metadata_of
from tests.breadth import one_each
from tests.unit.routes import TRIGGER_BY_EVENT

_TRIGGERS = {name: t for name, t in TRIGGER_BY_EVENT.items() if isinstance(t, QueueTrigger)}
#: One of each JSON type, and of each form that a field of a message may have.
_VALUES = (None, True, 8, 1.5, "many", "8", "", "2020-01-01T00:00:00Z", {"a": 1}, ["a"])


def _from_storage(text: str) -> QueueMessage:
    message = QueueMessage(content=text)
    message.id, message.dequeue_count, message.pop_receipt = "the queue's", 2, "receipt"
    message.inserted_on = message.expires_on = message.next_visible_on = datetime(2026, 1, 1, tzinfo=UTC)
    return message


def _as_given(text: str, trigger: QueueTrigger) -> func.QueueMessage:
    """The message as the function gets it: by the host's metadata, and the library's own converter."""
    body = body_of(text, trigger.get_dict_repr(), "none")
    assert body is not None
    metadata = {n: Datum(data.value, data.kind) for n, data in metadata_of(_from_storage(text), body).items()}
    converter = func.get_binding_registry().get("queueTrigger")  # type: ignore[no-untyped-call]
    message = converter.decode(Datum(body.value, body.kind), trigger_metadata=metadata)
    assert isinstance(message, func.QueueMessage)
    return message


def _fields(message: func.QueueMessage) -> dict[str, Any]:
    """All that a message has, without its body."""
    names = [n for n in dir(func.QueueMessage) if not n.startswith("_")]
    values = {name: getattr(message, name) for name in names}
    return {name: value for name, value in values.items() if not callable(value)}


def _members() -> list[str]:
    text = "{}"
    body = body_of(text, {}, "none")
    assert body is not None
    names = metadata_of(_from_storage(text), body)
    return [spelled for name in names for spelled in (name, name.lower(), name.upper())]


@pytest.mark.parametrize("function", _TRIGGERS)
def test_a_queue_trigger_asks_for_bytes_so_that_members_of_a_text_replace_no_field(function: str) -> None:
    binding = _TRIGGERS[function].get_dict_repr()

    assert str(binding.get("dataType")) == "BINARY", f"{function}: add data_type=func.DataType.BINARY"


@pytest.mark.parametrize("function", _TRIGGERS)
@pytest.mark.parametrize("value", one_each(_VALUES, lambda value: type(value).__name__), ids=repr)
def test_a_member_of_a_message_named_like_a_field_changes_the_body_only(function: str, value: object) -> None:
    trigger = _TRIGGERS[function]
    plain = _fields(_as_given("{}", trigger))
    assert (plain["id"], plain["dequeue_count"], plain["pop_receipt"]) == ("the queue's", 2, "receipt")
    assert None not in plain.values()

    for name in _members():
        text = json.dumps({name: value})
        message = _as_given(text, trigger)
        assert _fields(message) == plain, f"{function}: the member {name!r} is taken for a field"
        assert message.get_body() == text.encode()


def test_the_matrix_sees_a_trigger_that_asks_for_text() -> None:
    as_text = QueueTrigger(name="message", queue_name="q", connection="C")
    plain = _fields(_as_given("{}", as_text))

    changed = set()
    for name, value in itertools.product(_members(), _VALUES):
        try:
            fields = _fields(_as_given(json.dumps({name: value}), as_text))
        except ValueError:
            changed.add(name.lower())
        else:
            changed |= {name.lower()} if fields != plain else set()

    assert changed == {
        "id",
        "dequeuecount",
        "popreceipt",
        "insertiontime",
        "expirationtime",
        "nextvisibletime",
    }
