"""Lines of logs for programs, and what `run` tells them."""

import io
import json

import pytest

from slipway.client.jobs.lines import JsonPrinter
from slipway.commands.run.report import Report

JOB = {
    "id": "j_1", "door": "drop", "name": "n", "state": "failed", "exitCode": 3, "message": "why",
    "history": [
        {"sequence": 1, "state": "running", "at": "t1"}, {"sequence": 2, "state": "failed", "at": "t2"}
    ],
}  # fmt: skip


def test_each_line_of_a_log_is_an_object() -> None:
    out = io.BytesIO()
    printer = JsonPrinter(out, head={"event": "log"})

    printer.write("stdout-0.txt", "0", b"one\ntw")
    printer.write("stdout.txt", "", "\x1b[2J\u202eä\xff".encode("latin-1", "ignore") + b"\n")
    printer.write("stdout-0.txt", "0", b"o\nend")
    printer.finish()

    text = out.getvalue().decode()
    assert [json.loads(line) for line in text.splitlines()] == [
        {"event": "log", "file": "stdout-0.txt", "rank": "0", "line": "one"},
        {"event": "log", "file": "stdout.txt", "line": "\x1b[2J\\xe4\\xff"},
        {"event": "log", "file": "stdout-0.txt", "rank": "0", "line": "two"},
        {"event": "log", "file": "stdout-0.txt", "rank": "0", "line": "end"},
    ]
    assert "\x1b" not in text


def test_a_program_gets_each_event_of_a_run_as_an_object(capsys: pytest.CaptureFixture[str]) -> None:
    report = Report(as_json=True)

    report.begun("j_1")
    report.waits({**JOB, "waiting": {"text": "for a node", "word": "queue", "since": "t0"}})
    report.state(None, JOB)
    report.failure(JOB, ["", "the end of stderr.txt:", "  bad"])

    out, err = capsys.readouterr()
    events = [json.loads(line) for line in out.splitlines()]
    assert [one["event"] for one in events] == ["job", "waits", "state", "state", "end"]
    assert events[0] == {"event": "job", "id": "j_1"}
    assert [one.get("state") for one in events[2:]] == ["running", "failed", "failed"]
    assert events[-1]["errors"] == ["the end of stderr.txt:", "bad"]
    assert (events[-1]["exitCode"], err) == (3, "")
