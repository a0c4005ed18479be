"""A command that follows a job: one exit code for a job that failed, another for not knowing how it ended."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from slipway.client.calls.patience import Patience, patience
from slipway.commands.wait import run as wait
from slipway.failure import NOT_KNOWN, Failure
from slipway.main import main
from tests.breadth import pairs
from tests.doubles.patience import Waits
from tests.doubles.server import answering
from tests.unit.world import job_json

ID = "j_aaaaaaaaaaaaaaaaaaaaaaaa"
GATEWAY = "<html><h1>Application Gateway</h1></html>"


class App:
    """An app with one job, which runs until `ends_after` looks at it, and the foreign pages before that."""

    def __init__(self, end: str, ends_after: int = 2) -> None:
        self.end, self.ends_after = end, ends_after
        self.looks = 0
        #: what comes instead of the answers from the third look on
        self.pages: list[int] = []

    async def answer(self, request: web.Request) -> web.StreamResponse:
        headers = {"Slipway-Api": "1"}
        if request.path == "/api/health":
            return web.Response(status=self.pages[0] if self.pages else 404, text=GATEWAY)
        if request.path.endswith(("/files", "/errors")):
            return web.json_response({"files": [], "more": 0}, headers=headers)
        if request.path.endswith("/metrics"):
            numbers = {"series": [], "next": "", "more": False, "restarted": False}
            return web.json_response(numbers, headers=headers)
        if self.looks >= 1 and self.pages:
            status = self.pages.pop(0) if len(self.pages) > 1 else self.pages[0]
            if status:
                return web.Response(status=status, text=GATEWAY, content_type="text/html")
            self.pages.clear()
        self.looks += 1
        state = "running" if self.looks < self.ends_after else self.end
        job: dict[str, Any] = {"id": ID, "name": "n", "state": state, "engine": {}, "history": []}
        job |= {"exitCode": 3} if state == "failed" else {}
        return web.json_response(job, headers=headers)


async def code_of(words: list[str], app: App, monkeypatch: pytest.MonkeyPatch) -> int:
    """The exit code of a command."""

    def run() -> int:
        with pytest.raises(SystemExit) as end:
            main()
        return int(end.value.code or 0)

    async with answering(app.answer) as url:
        monkeypatch.setattr(sys, "argv", ["slipway", *words, "--url", url])
        return await asyncio.to_thread(run)


FOLLOWING = [["wait", ID], ["log", ID, "--follow"], ["metrics", ID, "--follow"]]


@pytest.mark.parametrize(
    ("status", "words"), pairs([400, 401, 403, 404, 409, 421, 429, 500, 502, 503, 504], FOLLOWING)
)
async def test_foreign_pages_in_the_middle_do_not_end_it(
    words: list[str], status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = App("succeeded")
    app.pages = [*[status] * 5, 0]

    assert await code_of(words, app, monkeypatch) == 0


@pytest.mark.parametrize(("status", "words"), pairs([400, 401, 403, 404, 409, 500, 502], FOLLOWING))
async def test_where_no_answer_comes_for_minutes_the_end_is_not_known(
    words: list[str],
    status: int,
    waits: Waits,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    app = App("succeeded")
    app.pages = [status]

    assert await code_of(words, app, monkeypatch) == NOT_KNOWN
    assert 280 < waits.now < 310
    assert f"answered {status}" in capsys.readouterr().err
    assert "asking again for up to 5 min" in waits.lines[0]


@pytest.mark.parametrize(
    ("end", "codes"), [("failed", (3, 1, 1)), ("lost", (1, 1, 1)), ("rejected", (1, 1, 1))]
)
async def test_a_job_that_failed_keeps_its_exit_code(
    end: str, codes: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert tuple([await code_of(words, App(end), monkeypatch) for words in FOLLOWING]) == codes


@pytest.mark.parametrize("words", [["wait", "j_x"], ["wait", "no such job"], *FOLLOWING])
async def test_what_cannot_be_asked_is_not_known_either(
    words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Locked(App):
        async def answer(self, request: web.Request) -> web.StreamResponse:
            return web.Response(status=401)

    assert await code_of(words, Locked("failed"), monkeypatch) == NOT_KNOWN


#: Commands whose exit code 1 is an answer.
ASKING = [["explain", "job.json"], ["events", "test", "https://hook.example/x"], ["resume", "--all"]]
GOOD = {"verdict": "runs", "outcome": "delivered", "said": "200", "ms": 1, "paused": False}
BAD = {
    "verdict": "rejected",
    "outcome": "dead",
    "said": "404",
    "ms": 1,
    "paused": True,
    "by": "setting",
    "reason": "",
}


@pytest.mark.parametrize("words", ASKING, ids=" ".join)
@pytest.mark.parametrize(
    ("answer", "code"), [(GOOD, 0), (BAD, 1), (None, NOT_KNOWN)], ids=["good", "bad", "none"]
)
async def test_bad_news_and_no_news_have_two_exit_codes(
    words: list[str],
    answer: dict[str, Any] | None,
    code: int,
    waits: Waits,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Answers(App):
        async def answer(self, request: web.Request) -> web.StreamResponse:
            if answer is None:
                return web.Response(status=502, text=GATEWAY, content_type="text/html")
            return web.json_response(answer, headers={"Slipway-Api": "1"})

    (tmp_path / "job.json").write_text(json.dumps({"spec": job_json()}))
    words = [str(tmp_path / one) if one == "job.json" else one for one in words]

    assert await code_of([*words, "--json"], Answers("failed"), monkeypatch) == code


def test_a_verdict_without_a_deployment_and_a_file_that_cannot_be_explained_have_two_exit_codes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def code(*words: str) -> int:
        monkeypatch.setattr(sys, "argv", ["slipway", "explain", *words])
        with pytest.raises(SystemExit) as end:
            main()
        return int(end.value.code or 0)

    waits = tmp_path / "waits"
    waits.mkdir()
    script = "$AZ_BATCHAI_JOB_MOUNT_ROOT/scripts/waits/train.py"
    (waits / "job.json").write_text(
        json.dumps(job_json(customToolkitSettings={"commandLine": f"python {script}"}))
    )

    assert code(str(waits)) == 1
    assert code(str(tmp_path / "nowhere.json")) == NOT_KNOWN
    assert code(str(waits / "job.json"), "--settings", str(tmp_path / "none.json")) == NOT_KNOWN


async def test_a_wait_that_ends_before_any_answer_does_not_say_that_the_job_goes_on() -> None:
    app = App("succeeded")
    app.looks, app.pages = 1, [502]

    async with answering(app.answer) as url:
        with patience(Patience()), pytest.raises(Failure, match="has not said within") as failure:
            await asyncio.to_thread(lambda: wait(ID, url, "", timeout=0.01))

    assert failure.value.exit_code == NOT_KNOWN
