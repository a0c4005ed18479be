"""What a person asks of a job beside its code: in the document that is written, and in one's own."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from slipway.client.request.compose import Choices
from slipway.client.request.request import Options, request_of
from slipway.client.request.terms import Terms, labels, time_limit
from slipway.failure import Failure
from tests.unit.slipway.client.request.test_request import PREFIX, SHELL, make, properties

TERMS = Terms("PT4H", "high", 2, {"owner": "ann"}, "nightly", ["https://hooks.example.com/a"])
HOOK = {"url": "https://hooks.example.com/a"}
ENVELOPE = {"retry": {"user": 2}, "labels": {"owner": "ann"}, "experiment": "nightly", "notify": [HOOK]}


def envelope(folder: Path) -> dict[str, Any]:
    request = request_of(folder, Options(Choices(terms=TERMS)), PREFIX)
    composed = properties(request)
    assert (composed["constraints"]["maxWallClockTime"], composed["schedulingPriority"]) == ("PT4H", "high")
    return {name: value for name, value in request.message.items() if name != "spec"}


def test_a_job_that_is_made_for_a_script_has_them(tmp_path: Path) -> None:
    assert envelope(make(tmp_path, "train.py")) == ENVELOPE


def test_they_change_what_a_document_of_ones_own_says_and_leave_the_rest(tmp_path: Path) -> None:
    job = {"properties": {**SHELL["properties"], "constraints": {"maxWallClockTime": "P1D"}}}
    written: dict[str, Any] = {
        "retry": {"user": 1, "infrastructure": 5},
        "labels": {"owner": "bob", "kind": "test"},
        "experiment": "old",
        "notify": [{"url": "https://hooks.example.com/b"}],
    }

    assert envelope(make(tmp_path, "run.sh", job=job, slipway=written)) == {
        "retry": {"user": 2, "infrastructure": 5},
        "labels": {"owner": "ann", "kind": "test"},
        "experiment": "nightly",
        "notify": [*written["notify"], HOOK],
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        *(("90m", "PT1H30M"), ("4h", "PT4H"), ("2d", "P2D"), ("1h30m", "PT1H30M"), ("2 days", "P2D")),
        *(("4:30:00", "PT4H30M"), ("1-12:00:00", "P1DT12H"), ("PT4H", "PT4H"), ("pt4h", "PT4H")),
        *((timedelta(hours=4), "PT4H"), ("", "")),
    ],
)
def test_a_length_of_time_is_written_as_people_do(text: str | timedelta, expected: str) -> None:
    assert time_limit(text) == expected


@pytest.mark.parametrize("text", ["4", "soon", "4 h please", "-4h", "P1M"])
def test_what_is_not_a_length_of_time_is_refused(text: str) -> None:
    with pytest.raises(Failure, match="write one such as 90m, 4h"):
        time_limit(text)


@pytest.mark.parametrize("pair", ["owner", "=ann"])
def test_what_is_not_a_label_is_refused(pair: str) -> None:
    with pytest.raises(Failure, match="write NAME=VALUE"):
        labels([pair])
