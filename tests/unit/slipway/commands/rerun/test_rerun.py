"""Which job `slipway rerun` repeats, by the receipt that was named."""

from __future__ import annotations

import asyncio
import json

import pytest
from aiohttp import web

from slipway.commands.rerun.rerun import job_of, run
from slipway.failure import Failure
from tests.doubles.server import answering, as_slipway

JOB = f"j_{'a' * 16}{'b' * 8}"
TWIN = f"j_{'a' * 8}{'c' * 16}"


def _receipt(job_id: object) -> bytes:
    return json.dumps({"id": job_id}).encode()


def test_a_receipt_from_the_folder_of_its_job_names_that_job() -> None:
    name = f"runs/digits/run/run-{'a' * 16}/receipt.json"
    assert job_of(name, _receipt(JOB), is_stored=True) == JOB
    assert job_of("receipt.json", _receipt(TWIN), is_stored=False) == TWIN


def test_a_receipt_in_the_folder_of_another_job_repeats_neither() -> None:
    name = f"runs/digits/run/run-{'a' * 16}/receipt.json"
    with pytest.raises(Failure, match=f"is the receipt of another job, {TWIN}"):
        job_of(name, _receipt(TWIN), is_stored=True)


@pytest.mark.parametrize("body", [b"[]", b"{}", _receipt(5), _receipt("s_x"), b"\xff"])
def test_what_is_not_a_receipt_is_refused(body: bytes) -> None:
    with pytest.raises(Failure, match=r"a receipt"):
        job_of("receipt.json", body, is_stored=False)


async def test_a_warning_of_the_answer_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    warning = "warning: the code is of the team vision \x1b[2J"
    job = {"id": TWIN, "name": "mine", "state": "queued", "notes": ["cluster: filled in", warning]}

    async def answer(request: web.Request) -> web.Response:
        return web.json_response(job, status=202)

    async with answering(as_slipway(answer)) as url:
        assert await asyncio.to_thread(run, JOB, url, "k", None) == 0

    out = capsys.readouterr().out
    assert "warning: the code is of the team vision \\x1b[2J" in out
    assert "filled in" not in out


@pytest.mark.parametrize("resumes", [True, False])
async def test_a_rerun_that_goes_on_asks_for_that_and_says_so(
    capsys: pytest.CaptureFixture[str], *, resumes: bool
) -> None:
    asked_for: list[dict[str, str]] = []

    async def answer(request: web.Request) -> web.Response:
        asked_for.append(dict(request.query))
        more = {"resumes": JOB} if request.query else {}
        return web.json_response({"id": TWIN, "name": "mine", "state": "queued", **more}, status=202)

    async with answering(as_slipway(answer)) as url:
        assert await asyncio.to_thread(run, JOB, url, "k", None, resumes=resumes) == 0

    assert asked_for == [{"resume": "true"} if resumes else {}]
    assert ("goes on from what that saved" in capsys.readouterr().out) is resumes
