"""What a job wrote, downloaded by the client for Python: bad names cost themselves alone, and are said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from slipway import AsyncJob, Failure
from slipway.client.files.save import MARK
from tests.doubles.server import answering, as_slipway

ID = "j_aaaaaaaaaaaaaaaaaaaaaaaa"
MOMENT = "2026-01-01T12:00:00+00:00"


def wrote(*entries: dict[str, Any]) -> Any:
    """A service with a job that wrote these; each file is one byte."""

    async def answer(request: web.Request) -> web.StreamResponse:
        if request.path.endswith("/files"):
            return web.json_response({"files": entries})
        if "/files/" in request.path:
            return web.Response(body=b"x")
        if request.path.endswith("/outputs"):
            return web.json_response({"outputs": [{"id": "MODEL"}]})
        return web.json_response({"id": ID, "state": "succeeded"})

    return answer


def file(name: str) -> dict[str, Any]:
    return {"name": name, "bytes": 1, "modified": MOMENT}


def files_in(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


async def test_names_that_lead_elsewhere_are_refused_and_the_others_saved(tmp_path: Path) -> None:
    names = [*(f"{number:02}\\evil" for number in range(9)), "..", "\x1b[2J", "\u65e5\u672c.txt"]

    async with answering(as_slipway(wrote(*map(file, names)))) as url:
        with pytest.raises(Failure) as failure:
            await AsyncJob(ID, url, "").download(to=tmp_path / "some" / "to")

    lines = str(failure.value).split("; ")
    assert "MODEL/..: its name would lead to another folder" in lines
    assert (len(lines), lines[-1]) == (11, "… and 1 more")
    assert "\x1b" not in str(failure.value)
    assert files_in(tmp_path) == {f"some/to/{MARK}", "some/to/MODEL/\u65e5\u672c.txt"}


async def test_a_link_that_leads_out_is_warned_of(tmp_path: Path) -> None:
    link = {"name": "passwd", "bytes": None, "modified": None, "link": True}
    async with answering(as_slipway(wrote(file("model"), link))) as url:
        with pytest.warns(UserWarning, match="^MODEL/passwd: it is a link that leads out of the job's fol"):
            await AsyncJob(ID, url, "").download(to=tmp_path)

    assert files_in(tmp_path) == {MARK, "MODEL/model"}


async def test_another_jobs_files_in_the_directory_are_warned_of(tmp_path: Path) -> None:
    (tmp_path / MARK).write_text("j_zzzzzzzzzzzzzzzzzzzzzzzz\n")
    async with answering(as_slipway(wrote(file("model")))) as url:
        with pytest.warns(UserWarning, match="has files of j_zzzzzzzzzzzzzzzzzzzzzzzz as well"):
            await AsyncJob(ID, url, "").download(to=tmp_path)
