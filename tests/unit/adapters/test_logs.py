"""Log lines are one JSON object each, with the fields of the record; no text of a person breaks it."""

from __future__ import annotations

import io
import json
import logging
from typing import Any

from shared.adapters.logs import JsonLines


def _lines(*calls: Any) -> list[dict[str, Any]]:
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonLines())
    log = logging.Logger("shared.test")
    log.addHandler(handler)
    for call in calls:
        call(log)
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_a_line_has_its_fields_and_those_of_the_record() -> None:
    (line,) = _lines(
        lambda log: log.info("%s is %s", "j_1", "queued", extra={"job": "j_1", "state": "queued"})
    )
    assert line.pop("time").endswith("Z")
    assert line == {
        "level": "info", "logger": "shared.test", "message": "j_1 is queued", "job": "j_1", "state": "queued"
    }  # fmt: skip


def test_no_text_makes_a_second_line_and_none_is_endless() -> None:
    forged = 'x\n{"level": "error", "message": "forged"}\r\u2028\u202e\x1b[31m'
    lines = _lines(lambda log: log.info("%s", forged), lambda log: log.info("%s", "y" * 10_000))
    assert [line["level"] for line in lines] == ["info", "info"]
    assert lines[0]["message"] == forged
    assert len(lines[1]["message"]) == 2000


def test_an_exception_stands_in_its_line() -> None:
    def fails(log: logging.Logger) -> None:
        try:
            raise ValueError("no")
        except ValueError:
            log.exception("failed", extra={"job": object()})

    (line,) = _lines(fails)
    assert line["exception"].endswith("ValueError: no")
    assert "object" in line["job"]
