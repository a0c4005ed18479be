"""Where storage is closed to a client, a small folder goes through the app, and runs."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web

from shared.snapshots.pack import THROUGH_APP
from tests.acceptance.commands.person import slipway
from tests.acceptance.door import Door, unique
from tests.doubles.server import answering

pytestmark = pytest.mark.asyncio(loop_scope="session")


@dataclass
class _Proxy:
    """Passes requests on to the app; the address of storage that it answers leads to one that is closed."""

    app: str
    http: aiohttp.ClientSession
    calls: list[str] = field(default_factory=list)

    async def answer(self, request: web.Request) -> web.Response:
        self.calls.append(f"{request.method} {request.path}")
        if request.path.startswith("/closed/"):
            return web.Response(status=403, headers={"x-ms-error-code": "AuthorizationFailure"})
        body, place = await request.read(), f"{self.app}{request.path_qs}"
        headers = {name: text for name, text in request.headers.items() if name.lower() != "host"}
        async with self.http.request(request.method, place, data=body, headers=headers) as answer:
            text = await answer.read()
            if request.path == "/api/snapshots" and "upload" in (place_of := json.loads(text)):
                text = json.dumps({**place_of, "upload": f"{request.url.origin()}/closed/x"}).encode()
            names = ("Content-Type", "Slipway-Api", "ETag", "Slipway-Next-Offset", "Slipway-More")
            passed = {name: answer.headers[name] for name in names if name in answer.headers}
            return web.Response(body=text, status=answer.status, headers=passed)


@asynccontextmanager
async def closed_storage(door: Door) -> AsyncIterator[tuple[_Proxy, str]]:
    async with aiohttp.ClientSession() as http:
        proxy = _Proxy(door.stack.host_url, http)
        async with answering(proxy.answer, largest=1 << 26) as url:
            yield proxy, url


def folder_of(tmp_path: Path) -> Path:
    folder = tmp_path / unique("closed")
    folder.mkdir()
    (folder / "train.py").write_text("print(open('words.txt').read())\n")
    (folder / "words.txt").write_text(f"the words of {folder.name}")
    return folder


async def test_a_small_folder_runs_although_storage_is_closed_to_its_sender(
    door: Door, tmp_path: Path
) -> None:
    folder = folder_of(tmp_path)
    async with closed_storage(door) as (proxy, url):
        code, out, err = await slipway(door, tmp_path, "run", "--detach", "--url", url, str(folder))

    assert code == 0, err
    job = await door.ended(id=out.strip())
    log = (await door.call("GET", f"jobs/{job['id']}/log"))[1]["text"]
    assert (job["state"], log.strip()) == ("succeeded", f"the words of {folder.name}")
    through_app = [one for one in proxy.calls if one.startswith("PUT /api/snapshots/")]
    assert len(through_app) == 1
    assert proxy.calls.count("PUT /closed/x") == 1


async def test_a_large_folder_is_refused_with_what_to_do(door: Door, tmp_path: Path) -> None:
    folder = folder_of(tmp_path)
    (folder / "data.bin").write_bytes(os.urandom(THROUGH_APP))
    async with closed_storage(door) as (proxy, url):
        code, _, err = await slipway(door, tmp_path, "run", "--detach", "--url", url, str(folder))

    assert code == 1
    assert "storage does not take the code: it answered 403 AuthorizationFailure" in err
    assert "at most 8 MiB, packed" in err
    assert not [one for one in proxy.calls if one.startswith("PUT /api/snapshots/")]
    assert await door.jobs(name=folder.name) == []
