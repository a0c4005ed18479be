"""`slipway submit`: what it says of a job that was taken."""

import pytest
from aiohttp import web

from cli.service import service
from cli.submit import submit
from tests.unit.cli.test_service import answering

WARNING = {
    "severity": "warning",
    "code": "SW075",
    "pointer": "/x",
    "message": "too many",
    "remedy": "write 2",
}


async def test_the_warnings_of_a_job_that_runs_are_shown_in_its_file(
    capsys: pytest.CaptureFixture[str],
) -> None:
    async def answer(request: web.Request) -> web.Response:
        problems = [{**WARNING, "file": "message", "line": 1, "column": 2}]
        return web.json_response({"id": "j_1", "name": "x", "state": "queued", "problems": problems})

    async with answering(answer) as url, service(url) as api:
        assert await submit(api, b"{}", "mine.json") == 0

    said = capsys.readouterr()
    assert said.out == "j_1  x: queued\n"
    assert said.err.splitlines()[0] == "mine.json:1:2: warning SW075 x: too many"
