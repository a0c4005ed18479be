"""`--json`: for every command, and an answer of the API as it came."""

from __future__ import annotations

import json
from typing import Any

import pytest
from typer.testing import CliRunner

from slipway.cli_page import commands
from slipway.main import app

#: The bytes of a file; a text; what a person watches until Ctrl-C, or once; and what starts their own tools.
EXCEPTIONS = {
    *("cat", "completion", "skill", "mcp", "up", "demo", "tensorboard", "shell", "forward", "ssh-config"),
}
ID = "j_" + "a" * 24
JOB = {"id": ID, "name": "n", "state": "failed", "exitCode": 3}
SWITCH = {"paused": True, "by": "ann", "reason": "", "since": "2026-01-01T00:00:00Z"}
EVENT = {"outcome": "delivered", "status": 204, "said": "204", "ms": 3}
DISABLED = [{"url": "https://x.example.com/…1", "since": "2026-01-01T00:00:00+00:00", "why": "410"}]


def test_every_command_has_it() -> None:
    options = {name: {o for one in command.params for o in one.opts} for name, command in commands().items()}
    assert {name for name, names in options.items() if "--json" not in names} == EXCEPTIONS


@pytest.mark.parametrize(
    ("words", "answer", "message", "codes"),
    [
        ("cancel JOB", JOB, "JOB  n: failed", (0, 0)),
        ("wait JOB", JOB, "JOB  n: failed", (3, 1)),
        ("submit -", JOB, "JOB  n: failed", (0, 0)),
        ("pause --all", SWITCH, "submissions are paused by ann", (0, 0)),
        ("resume --all", SWITCH, "submissions are paused by ann", (1, 1)),
        ("events test https://x.example.com", EVENT, "delivered: 204 in 3 ms", (0, 0)),
        ("events redeliver evt_1", {"events": ["evt_1"]}, "evt_1  goes out again", (0, 0)),
        ("events disabled --utc", {"receivers": DISABLED}, "2026-01-01 00:00:00Z", (0, 0)),
        ("dead redrive d_1", {"kind": "message"}, "d_1  goes back to its queue", (0, 0)),
    ],
)
def test_the_answer_is_printed_for_people_or_as_it_came(
    words: str, answer: dict[str, Any], message: str, codes: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def request(*_: Any, **__: Any) -> dict[str, Any]:
        return answer

    monkeypatch.setattr("slipway.client.service.Service._json", request)
    line = [*words.replace("JOB", ID).split(), "--url", "http://127.0.0.1:1"]

    people, program = (CliRunner().invoke(app, [*line, *more], input="{}") for more in ([], ["--json"]))

    assert (people.exit_code, program.exit_code) == codes
    assert message.replace("JOB", ID) in people.stdout
    assert json.loads(program.stdout) in (answer, *answer.values(), [{"id": "d_1", **answer}])
