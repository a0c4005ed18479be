"""What is wrong with a rejected job is in the first answer of every command that names it."""

from __future__ import annotations

from typing import Any

import pytest
from aiohttp import web
from typer.testing import CliRunner

from slipway import AsyncClient, JobFailed
from slipway.client.jobs.words import ended_as, why
from slipway.commands.jobs.listing import View, lines
from slipway.commands.run.follow import report_rejection
from slipway.main import app
from tests.doubles.server import answering, as_slipway

ID = "j_aaaaaaaaaaaaaaaaaaaaaaaa"
WHY = "digits/job.json:1:17: SW012 properties.nodeCuont: unknown property"
REJECTED: dict[str, Any] = {
    "id": ID, "name": "digits", "door": "drop", "state": "rejected", "message": "the document has 1 problem",
    "attempt": 1, "createdAt": "2026-01-01T12:00:00Z", "receipt": "runs/x/receipt.json", "generation": 1,
    "lastError": WHY, "history": [],
}  # fmt: skip
SILENT = {**REJECTED, "state": "failed", "lastError": None, "message": "Job failed", "exitCode": 7}


async def answer(request: web.Request) -> web.Response:
    listed = request.path == "/api/jobs"
    return web.json_response({"jobs": [REJECTED], "next": None} if listed else REJECTED)


async def test_a_list_and_a_wait_say_it() -> None:
    assert WHY in lines([REJECTED], View())[1]
    assert ended_as(REJECTED) == f"{ID}  digits: rejected: {WHY}"
    assert ended_as({**REJECTED, "state": "succeeded"}) == f"{ID}  digits: succeeded"


async def test_a_failure_that_printed_nothing_has_its_exit_code_in_the_list() -> None:
    assert "Job failed, exit code 7" in lines([SILENT], View())[1]
    assert why({**SILENT, "message": "ended with code 7"}) == "ended with code 7"
    assert why({**SILENT, "lastError": "ValueError: no"}) == "ValueError: no"


async def test_commands_and_the_client_for_python_say_it(capsys: pytest.CaptureFixture[str]) -> None:
    import asyncio

    async with answering(as_slipway(answer)) as url:

        def run(program: Any, *words: str) -> Any:
            return CliRunner().invoke(program, [*words, ID, "--url", url])

        waited = await asyncio.to_thread(run, app, "wait")
        shown = await asyncio.to_thread(run, app, "show")
        logged = await asyncio.to_thread(run, app, "log")
        assert (waited.exit_code, WHY in waited.output, WHY in shown.output) == (1, True, True)
        assert WHY in str(logged.exception)
        assert report_rejection(REJECTED) == 1
        with pytest.raises(JobFailed) as failed:
            await (await AsyncClient(url).job(ID)).result()

    assert WHY in capsys.readouterr().err
    assert str(failed.value).endswith(WHY)
