"""A job in an event of another type leaves a trace in every form in which an event can carry it."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from itertools import product
from typing import Any

import pytest

from shared.intake.message import ForeignEvent, Request, read_message
from shared.intake.reading.event import REJECTION, SUBMIT
from shared.intake.reading.wakeups import WAKE_UPS
from shared.jobspec import Limits
from tests.unit.intake.reading.test_event import grid_event
from tests.unit.intake.reading.test_meaning import BARE, ENVELOPE, event

BOM = "\ufeff"


def _base64(document: Any) -> str:
    return base64.b64encode(json.dumps(document).encode()).decode()


#: The members of an event that carries this job.
FORMS: dict[str, Callable[[Any], dict[str, Any]]] = {
    "an object": lambda job: {"data": job},
    "a text": lambda job: {"data": json.dumps(job)},
    "a text in a text": lambda job: {"data": json.dumps(json.dumps(job))},
    "a text with a byte order mark": lambda job: {"data": f"{BOM} {json.dumps(job)}"},
    "a text in base64": lambda job: {"data": _base64(job)},
    "a text in base64 with a byte order mark": lambda job: {
        "data": base64.b64encode(f"{BOM}{json.dumps(job)}".encode()).decode()
    },
    "data_base64": lambda job: {"data_base64": _base64(job)},
    "data_base64 with line breaks": lambda job: {
        "data_base64": base64.encodebytes(json.dumps(job).encode()).decode()
    },
    "data_base64 without padding": lambda job: {"data_base64": _base64(job).rstrip("=")},
    "data_base64 beside null": lambda job: {"data": None, "data_base64": _base64(job)},
    "a list": lambda job: {"data": [job]},
    "a list of texts": lambda job: {"data": ["x", json.dumps(job)]},
    "an event in the event": lambda job: {"data": event("com.example.inner", data=job)},
    "a list of events": lambda job: {"data": [event("com.example.inner", data_base64=_base64(job))]},
    "the event itself": dict,
}
#: Types of events that ask for nothing themselves.
OTHERS = (
    *("com.example.train", "com.io.slipway.job.submit.v1", "slipway.job.submit.v1"),
    *("Microsoft.Storage.BlobCreated", "Microsoft.Storage.DirectoryRenamed", *WAKE_UPS),
)  # fmt: skip
#: The spellings of a type that is ours, for any data.
OURS = (
    *("io.slipway", "io.slipway.", "IO.SLIPWAY", "Io.Slipway.Job.Submit.v1", " io.slipway.x"),
    *(f"{BOM}io.slipway.x", "io.slipway/job.submit.v1", "io.slipway:job", "io.slipway_job"),
    *("\u200bio.slipway.job.submit.v1",),
)  # fmt: skip
#: How the text of the message carries the event.
WRAPPERS: dict[str, Callable[[Any], bytes]] = {
    "alone": lambda one: json.dumps(one).encode(),
    "in a batch": lambda one: json.dumps([one]).encode(),
    "in a batch with a byte order mark": lambda one: f"{BOM}{json.dumps([one])}".encode(),
    "in base64": lambda one: base64.b64encode(json.dumps(one).encode()),
}


@pytest.mark.parametrize("wrapper", WRAPPERS)
@pytest.mark.parametrize("form", FORMS)
def test_a_job_in_an_event_of_another_type_is_a_request_that_says_its_type(form: str, wrapper: str) -> None:
    for type_, job, make in product(
        OTHERS, (BARE, ENVELOPE, {"specBlob": "specs/a.json"}), (event, grid_event)
    ):
        document = make(type_, **FORMS[form](job))
        (message,) = read_message(WRAPPERS[wrapper](document), Limits())

        assert isinstance(message, Request), document
        assert not message.readable
        assert message.problems[0].code == "SW086", document


@pytest.mark.parametrize("type_", OURS)
def test_a_type_that_is_meant_as_ours_is_never_ignored(type_: str) -> None:
    for form, make in product(["nothing", *FORMS], (event, grid_event)):
        document = make(type_, **(FORMS[form](BARE) if form in FORMS else {}))
        (message,) = read_message(json.dumps(document).encode(), Limits())

        assert isinstance(message, Request), document
        assert not message.readable


#: An event in the event is judged as if it were the document.
@pytest.mark.parametrize("form", [one for one in FORMS if one not in ("an object", "an event in the event")])
def test_our_type_with_a_job_that_is_no_object_says_how_one_is_written(form: str) -> None:
    (message,) = read_message(json.dumps(event(SUBMIT, **FORMS[form](BARE))).encode(), Limits())

    assert isinstance(message, Request)
    assert message.problems


@pytest.mark.parametrize(
    "data",
    [
        *(7, True, "", "text", "{", "[", "e30=", "AAAA", "[" * 100_000, [[]], {"a": BARE}),
        *({"spec": "text"}, event("com.example.inner", data={"x": 1}), event(REJECTION, data=ENVELOPE)),
    ],
    ids=lambda one: str(one)[:40],
)  # fmt: skip
def test_an_event_of_others_without_a_job_is_ignored(data: Any) -> None:
    for members in ({"data": data}, {"data_base64": data}):
        (message,) = read_message(json.dumps(event("com.example.other", **members)).encode(), Limits())

        assert message == ForeignEvent("com.example.other")


@pytest.mark.parametrize(
    "type_", ["io.slipwayer.train", "com.example.io.slipway.report", "slipway", "io.slip.way"]
)
def test_a_type_that_is_not_ours_is_ignored(type_: str) -> None:
    (message,) = read_message(json.dumps(event(type_, data={"x": 1})).encode(), Limits())

    assert message == ForeignEvent(type_)
