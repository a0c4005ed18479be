"""What becomes of the job after a Ctrl-C."""

import os
from pathlib import Path

import pytest
from aiohttp import web
from typer.testing import CliRunner

from slipway.commands.running.follow import cancel
from slipway.failure import Failure
from slipway.main import app
from tests.doubles.server import answering, as_slipway


@pytest.mark.parametrize(
    ("state", "cancelled", "message"),
    [
        ("running", True, "j_1 is being cancelled"),
        ("cancelled", True, "j_1 is being cancelled"),
        ("succeeded", False, "j_1 had ended before: succeeded"),
        ("failed", False, "j_1 had ended before: failed"),
    ],
)
async def test_a_job_that_ended_before_the_answer_is_not_called_cancelled(
    state: str, cancelled: bool, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    async def answer(request: web.Request) -> web.Response:
        assert (request.method, request.path) == ("POST", "/api/jobs/j_1/cancel")
        return web.json_response({"id": "j_1", "state": state})

    async with answering(as_slipway(answer)) as url:
        assert await cancel("j_1", url, "") == cancelled

    assert capsys.readouterr().err == f"slipway: {message}\n"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["run", "nope"], "there is no nope; name a script"),
        (["drop", "nope"], "nope is not a folder; name one"),
        (["drop", "--follow", "nope"], "nope is not a folder; name one"),
    ],
)
def test_a_path_that_is_not_there_is_named_before_settings_are_missed(
    words: list[str], expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("slipway.settings.UP", tmp_path / "none")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    for name in [name for name in os.environ if name.startswith("SLIPWAY_")]:
        monkeypatch.delenv(name)

    failure = CliRunner().invoke(app, words).exception

    assert isinstance(failure, Failure)
    assert expected in str(failure)
