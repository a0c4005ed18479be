"""A server that stands for storage and its failures, and a job whose files it has."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from aiohttp import web

from slipway.client.calls.answers import AddressPage, Blob
from slipway.client.files.arriving import complete
from slipway.client.files.download import save
from slipway.client.files.saving import Outcome
from slipway.client.files.walk import walk
from tests.unit.slipway.client.wrote import MOMENT, Wrote

Trouble = Callable[[web.Request], web.Response | None]
FILES = {f"{letter}.bin": (letter * 10).encode() for letter in "abcdef"}
WRITTEN = datetime.fromisoformat(MOMENT).timestamp()


@dataclass
class Storage:
    """Blobs by name, the requests for them, and what goes wrong with the next ones."""

    blobs: dict[str, bytes]
    requests: list[web.Request] = field(default_factory=list)
    troubles: list[Trouble] = field(default_factory=list)
    url: str = ""
    tag: str = '"1"'
    #: seconds that an answer takes, and how many requests were under way at once
    slowness: float = 0.0
    now: int = 0
    most: int = 0

    async def serve(self, request: web.Request) -> web.Response:
        """Answer, or do what goes wrong."""
        self.requests.append(request)
        self.now += 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(self.slowness)
        self.now -= 1
        if self.troubles and (wrong := self.troubles.pop(0)(request)) is not None:
            return wrong
        if request.headers.get("If-Match", self.tag) != self.tag:
            return web.Response(status=412)
        whole = self.blobs[request.match_info["name"]]
        match = re.fullmatch(r"bytes=(\d+)-(\d+)", request.headers["Range"])
        assert match is not None
        part = whole[int(match[1]) : int(match[2]) + 1]
        md5 = base64.b64encode(hashlib.md5(whole, usedforsecurity=False).digest()).decode()
        headers = {
            "Content-Range": f"bytes {match[1]}-{int(match[1]) + len(part) - 1}/{len(whole)}",
            "ETag": self.tag,
            "x-ms-blob-content-md5": md5,
        }
        return web.Response(status=206, body=part, headers=headers)

    def page(self, *names: str, following: str = "", expires: float = 600, path: str = "") -> AddressPage:
        """Addresses of these blobs."""
        blobs = {
            name: Blob(len(self.blobs[path + name]), int(WRITTEN), f"{self.url}/{path}{name}")
            for name in names
        }
        until = datetime.now(UTC) + timedelta(seconds=expires)
        return AddressPage(blobs, following, until, names[0], names[-1])


async def fetched(api: Wrote, to: Path) -> Outcome:
    outcome = await save(api, "j_1", complete((await walk(api, "j_1", ["OUT"])).files), to, lambda _: None)
    assert {path.name: path.read_bytes() for path in (to / "OUT").iterdir()} == api.root
    return outcome
