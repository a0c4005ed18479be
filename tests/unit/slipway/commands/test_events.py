"""Events as a person sees them: one line a try."""

from typing import Any

from slipway.commands.events import rows


def event(**target: Any) -> dict[str, Any]:
    whole = {"url": "https://h.example.com/…1a2b", "state": "dead", "last": "5xx", "tries": [], **target}
    return {"id": "evt_a", "type": "io.slipway.job.failed.v1", "targets": [whole]}


def test_each_try_is_a_line_and_the_last_says_how_it_stands() -> None:
    tries = [
        {"at": "2026-01-01T12:00:00+00:00", "status": None, "ms": 15000, "said": "timeout"},
        {"at": "2026-01-01T12:00:05+00:00", "status": 503, "ms": 12, "said": "5xx"},
    ]
    lines = rows([event(tries=tries)])

    assert [line.split() for line in lines[1:]] == [
        ["evt_a", "failed", "https://h.example.com/…1a2b", "2026-01-01", "12:00:00", "15000", "timeout"],
        ["evt_a", "failed", "https://h.example.com/…1a2b", "dead", "2026-01-01", "12:00:05", "12", "503"],
    ]


def test_what_was_not_tried_says_why() -> None:
    lines = rows([event(state="pending", last="not sent: the receiver does not answer")])
    assert lines[1].split()[3:] == ["pending", *["not", "sent:", "the", "receiver", "does", "not", "answer"]]


def test_a_job_that_tells_no_one_says_so() -> None:
    assert rows([{"id": "evt_a", "type": "io.slipway.job.failed.v1", "targets": []}]) == [
        "this job does not have a receiver"
    ]
