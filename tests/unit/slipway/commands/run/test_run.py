"""What becomes of the job after a Ctrl-C."""

import os
from pathlib import Path

import pytest
from aiohttp import web
from typer.testing import CliRunner

from slipway.client.service import service
from slipway.client.snapshot.pack import archive_of
from slipway.client.snapshot.submission import Submission
from slipway.client.snapshot.walk import walk
from slipway.commands.run.follow import cancel, cancel_sent
from slipway.failure import Failure
from slipway.main import app
from tests.doubles.server import answering, as_slipway
from tests.unit.slipway.client.snapshot.deployment import Deployment


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


@pytest.mark.parametrize(("sweep", "call"), [({}, "POST /api/jobs/j_"), ({"lr": [1]}, "POST /api/sweeps/s_")])
async def test_what_was_sent_before_a_ctrl_c_is_cancelled_whichever_kind_it_is(
    sweep: dict[str, list[int]], call: str, tmp_path: Path
) -> None:
    deployment = Deployment()
    (tmp_path / "a.py").touch()
    message = {"spec": {}, **({"sweep": sweep} if sweep else {})}

    async with deployment.serving() as url:
        submission = Submission(message, "a", "job.json")
        async with service(url) as api, archive_of(walk(tmp_path)) as archive:
            await submission.send(api, archive)
        identity, is_cancelled = await cancel_sent(submission, url, "")

    assert is_cancelled
    assert deployment.calls[-1].startswith(call)
    assert deployment.calls[-1].endswith(f"/{identity}/cancel")
    assert len(deployment.messages) == 1


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
