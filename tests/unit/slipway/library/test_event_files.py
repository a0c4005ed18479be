"""Event files by the client for Python: each call appends what the job has added since."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from aiohttp import web

from slipway import AsyncJob
from tests.doubles.server import answering, as_slipway

ID = "j_aaaaaaaaaaaaaaaaaaaaaaaa"
MOMENT = "2026-01-01T12:00:{:02}+00:00"


async def test_each_call_appends_what_the_job_has_added(tmp_path: Path) -> None:
    content = bytearray(b"first point, ")

    async def answer(request: web.Request) -> web.StreamResponse:
        if request.path.endswith("/files"):
            size = len(content)
            file = {"name": "tfevents.1", "bytes": size, "modified": MOMENT.format(size % 60)}
            return web.json_response({"files": [file]})
        if "/files/" in request.path:
            assert request.query["attempt"] == "1"
            first = request.http_range.start
            held: Any = {"Content-Range": f"bytes {first}-{len(content) - 1}/{len(content)}"}
            return web.Response(status=206, body=bytes(content[first:]), headers=held)
        if request.path.endswith("/outputs"):
            return web.json_response({"outputs": [{"id": "MODEL", "path": "m"}]})
        return web.json_response({"id": ID, "name": "train", "attempt": 1, "state": "running"})

    async with answering(as_slipway(answer)) as url:
        job = AsyncJob(ID, url, "")
        folder = await job.event_files(tmp_path / "curves")
        with (folder / "train-aaaaaaaaaaaaaaaa/MODEL/tfevents.1").open("rb") as reader:
            assert reader.read() == b"first point, "
            content += b"second point"
            await job.event_files(folder)
            assert reader.read() == b"second point"
