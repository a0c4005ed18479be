"""`slipway jobs`: what is asked for, and where a list stopped."""

from __future__ import annotations

import json
import re
import time
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from rich.cells import cell_len
from typer.testing import CliRunner

from slipway.commands.jobs import listing
from slipway.commands.jobs.listing import View, lines, more, news
from slipway.failure import Failure
from slipway.main import app
from slipway.terminal.times import age, moment

JOB = {"id": "j_1", "name": "n", "door": "http", "state": "failed", "createdAt": "2026-01-01T00:00:00Z"}


class Answers:
    """The service, as far as lists ask for it."""

    def __init__(self, following: str | None) -> None:
        self.following = following
        self.requests: list[dict[str, Any]] = []

    async def json(self, method: str, path: str, *, params: dict[str, str]) -> dict[str, Any]:
        self.requests.append({"path": path, **params})
        return {"jobs": [JOB], "next": self.following}


def listed(monkeypatch: pytest.MonkeyPatch, answers: Answers, *options: str) -> Any:
    async def asking(_: Any, method: str, path: str, **named: Any) -> dict[str, Any]:
        return await answers.json(method, path, **named)

    monkeypatch.setattr("slipway.client.service.Service._json", asking)
    return CliRunner().invoke(app, ["jobs", "--url", "http://127.0.0.1:1", *options])


def test_every_condition_is_asked_of_the_service_and_those_left_out_are_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answers = Answers(None)
    options = {
        "state": "failed,lost",
        "name": "train-*",
        "experiment": "e",
        "label": "team=vision",
        "cluster": "dev",
        "source": "drop",
        "owner": "ann",
        "team": "vision",
        "contains": "resnet oom",
        "error": "out of memory",
        "since": "2h",
        "until": "1h",
        "order": "ended",
        "after": "x",
    }
    words = [word for name, text in options.items() for word in (f"--{name}", text)]
    assert listed(monkeypatch, answers, *words, "--limit", "1").exit_code == 0
    assert answers.requests == [{"path": "jobs", **options, "limit": "1"}]

    answers.requests.clear()
    listed(monkeypatch, answers)
    assert answers.requests == [{"path": "jobs", "limit": "20"}]


def test_a_list_without_jobs_says_whether_its_conditions_leave_them_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class NoJobs(Answers):
        async def json(self, method: str, path: str, *, params: dict[str, str]) -> dict[str, Any]:
            return {"jobs": [], "next": None}

    assert listed(monkeypatch, NoJobs(None)).output == "there are no jobs\n"
    assert listed(monkeypatch, NoJobs(None), "--after", "x").output == "there are no more jobs\n"
    assert "no job matches these conditions" in listed(monkeypatch, NoJobs(None), "--failed").output
    assert json.loads(listed(monkeypatch, NoJobs(None), "--failed", "--json").output) == []


def test_what_failed_has_a_word_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = Answers(None)
    assert listed(monkeypatch, answers, "--failed").exit_code == 0
    assert answers.requests == [{"path": "jobs", "state": "failed,lost", "limit": "20"}]
    assert isinstance(listed(monkeypatch, answers, "--failed", "--state", "queued").exception, Failure)


def test_a_list_that_stops_at_its_limit_says_where_it_goes_on_beside_the_table(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ran = listed(monkeypatch, Answers("1|j_1"), "--limit", "1", "--json")
    assert json.loads(ran.stdout) == [JOB]
    assert ran.stderr == "more: slipway jobs … --after '1|j_1'\n"
    assert listed(monkeypatch, Answers(None), "--limit", "1").stderr == ""


@pytest.mark.parametrize("jobs", [[], [JOB]])
def test_a_search_that_reached_its_bounds_says_how_far_it_looked_and_goes_on_only_when_asked(
    monkeypatch: pytest.MonkeyPatch, jobs: list[dict[str, Any]]
) -> None:
    class Bounded(Answers):
        async def json(self, method: str, path: str, *, params: dict[str, str]) -> dict[str, Any]:
            await super().json(method, path, params=params)
            return {"jobs": jobs, "next": "1|j_1", "searchedTo": "2026-01-01T00:00:00.5Z", "note": "…"}

    answers = Bounded(None)
    ran = listed(monkeypatch, answers, "--name", "x", "--utc")

    assert len(answers.requests) == 1
    looked = "looked back to 2026-01-01 00:00:00Z\nmore: slipway jobs … --after '1|j_1'\n"
    assert ran.stderr == looked
    assert ("no job has matched so far" in ran.stdout) == (not jobs)


def test_where_a_list_goes_on_fits_a_narrow_terminal() -> None:
    following = "2517|j_abcdefghijklmnop23456722"

    assert more(following, View()) == f"more: slipway jobs … --after '{following}'"
    assert more(following, View(width=60)) == f"more: slipway jobs … --after \\\n  '{following}'"


NOON = datetime(2026, 1, 1, 12, 0, tzinfo=UTC)
LONG = {
    "id": "j_abcdefghijklmnop23456722",
    "name": "a-name-that-is-longer-than-most",
    "door": "inventory",
    "state": "submitting",
    "createdAt": "2025-12-30T12:00:01Z",
    "message": "it waits for something " * 20,
}


@pytest.mark.parametrize("width", [60, 80, 200])
def test_a_terminal_gets_lines_that_fit_and_a_pipe_all(width: int) -> None:
    (head, line, other) = lines([LONG, {**JOB, "lastError": "ValueError: no"}], View(width), NOON)
    assert head.split() == ["id", "name", "state", "age", "why"]
    assert len(line) == width
    assert line.startswith("j_abcdefgh  a-name-that-is-…  submitting  47h  it waits")
    assert other.startswith("j_1         n                 failed      12h  ValueErr")
    assert LONG["message"].rstrip() in lines([LONG], View())[1]
    assert lines([], View(60)) == ["there are no jobs"]


@pytest.mark.parametrize("name", ["訓練-モデル-の-長い-名前", "한국어"])
def test_lines_fit_in_columns_of_the_terminal_not_in_characters(name: str) -> None:
    job = {**LONG, "name": name, "message": "記憶體不足 " * 20}
    rows = lines([job, JOB], View(80), NOON)
    assert all(cell_len(row) <= 80 for row in rows)
    states = zip(rows[1:], ("submitting", "failed"), strict=True)
    assert len({cell_len(row[: row.index(state)]) for row, state in states}) == 1
    head, *whole = lines([job, JOB], View())
    doors = zip(whole, ("inventory", "http"), strict=True)
    assert {cell_len(row[: row.index(door)]) for row, door in doors} == {cell_len(head[: head.index("door")])}


def test_colours_change_no_column_and_no_colour_is_none() -> None:
    plain = lines([LONG, JOB], View(60), NOON)
    coloured = lines([LONG, JOB], View(60, colour=True), NOON)
    assert "\x1b[31mfailed\x1b[0m" in coloured[2]
    assert [re.sub(r"\x1b\[\d+m", "", line).rstrip() for line in coloured] == plain


@pytest.mark.parametrize(
    ("variable", "colour"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)]
)
def test_a_terminal_has_colours_unless_they_are_not_wanted(
    variable: dict[str, str], colour: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "40")
    for name, value in variable.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    view = listing.view(utc=False)
    assert (view.width, view.colour) == (60, colour)
    monkeypatch.setattr("sys.stdout.isatty", lambda: False)
    assert listing.view(utc=True) == View(utc=True)


def test_a_change_of_a_state_is_news_once() -> None:
    states: dict[str, str] = {}
    queued = {**JOB, "id": "j_2", "state": "queued"}
    assert news([queued, JOB], states) == ["j_1  n: failed", "j_2  n: queued"]
    assert news([queued, JOB], states) == []
    assert news([{**queued, "state": "running"}, JOB], states) == ["j_2  n: running"]


def test_a_watch_looks_until_it_is_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    answers, waits = Answers(None), list[float]()

    async def sleep(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr("asyncio.sleep", sleep)
    ran = listed(monkeypatch, answers, "--watch")
    assert (ran.exit_code, ran.stdout) == (0, "j_1  n: failed\n")
    assert len(answers.requests) == 3
    waits.clear()
    assert json.loads(listed(monkeypatch, answers, "--watch", "--json").stdout) == JOB


@pytest.mark.parametrize(
    ("ago", "text"),
    [
        (-5, "0s"),
        (0, "0s"),
        (99, "99s"),
        (100, "1m"),
        (5999, "99m"),
        (6000, "1h"),
        (172_800, "2d"),
        (86_400 * 400, "400d"),
    ],
)
def test_an_age_is_short(ago: float, text: str) -> None:
    assert age((NOON - timedelta(seconds=ago)).isoformat(), NOON) == text


def test_times_are_local_unless_they_are_to_be_utc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Kolkata")
    time.tzset()
    try:
        assert moment("2026-01-01T12:00:00.123Z") == "2026-01-01 17:30:00"
        assert moment("2026-01-01T12:00:00.123Z", utc=True) == "2026-01-01 12:00:00Z"
        assert lines([JOB], View(80, utc=True), NOON)[1].split()[3:5] == ["2026-01-01", "00:00:00Z"]
    finally:
        monkeypatch.undo()
        time.tzset()
