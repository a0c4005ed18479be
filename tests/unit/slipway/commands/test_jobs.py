"""`slipway jobs`: what is asked for, and where a list stopped."""

from __future__ import annotations

import json
from typing import Any

import pytest
from typer.testing import CliRunner

from slipway.commands.job_commands import app

JOB = {"id": "j_1", "name": "n", "door": "http", "state": "failed", "createdAt": "2026-01-01T00:00:00Z"}


class Answers:
    """The service, as far as lists ask for it."""

    def __init__(self, following: str | None) -> None:
        self.following = following
        self.asked: list[dict[str, Any]] = []

    async def json(self, method: str, path: str, *, params: dict[str, str]) -> dict[str, Any]:
        self.asked.append({"path": path, **params})
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
        "since": "2h",
        "after": "x",
    }
    words = [word for name, text in options.items() for word in (f"--{name}", text)]
    assert listed(monkeypatch, answers, *words, "--limit", "1").exit_code == 0
    assert answers.asked == [{"path": "jobs", **options, "limit": "1"}]

    answers.asked.clear()
    listed(monkeypatch, answers, "--state", "")  # of a variable that is not set: the service refuses it
    assert answers.asked.pop()["state"] == ""

    listed(monkeypatch, answers)
    assert answers.asked == [{"path": "jobs", "limit": "20"}]


def test_a_list_that_stops_at_its_limit_says_where_it_goes_on_beside_the_table(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ran = listed(monkeypatch, Answers("1|j_1"), "--limit", "1", "--json")
    assert json.loads(ran.stdout) == [JOB]
    assert ran.stderr == "more: slipway jobs … --after '1|j_1'\n"
    assert listed(monkeypatch, Answers(None), "--limit", "1").stderr == ""
