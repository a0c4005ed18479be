"""A log at the wire, read in parts and from its end."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from playwright.async_api import Page, Route

from tests.browser.one_job.live import live, part
from tests.browser.reader import listed

#: Bytes of one answer of the log.
CHUNK = 1 << 18
#: What a file of this many bytes has at these places.
Read = Callable[[int, int], bytes]


class LogFile:
    """A job at the wire, and the one file that it writes; `reads` are the bytes that were answered of it."""

    def __init__(self, read: Read, size: int, **members: Any) -> None:
        self.read, self.size = read, size
        self.job = {**listed(1), "history": [], **members}
        self.reads: list[tuple[int, int]] = []

    async def install(self, page: Page) -> None:
        await page.route("**/api/jobs/job-000001/live?*", self._live)
        await page.route("**/api/jobs/job-000001/files/stdouterr/stdout.txt", self._part)

    async def _live(self, route: Route) -> None:
        job = {name: value for name, value in self.job.items() if value is not None}
        offset = int(route.request.url.partition("after=")[2].partition("&")[0] or 0)
        size = self.size
        start = max(offset, size - CHUNK)
        log = [part("stdout.txt", start, self._bytes(start, size), size)] if size > offset else []
        await route.fulfill(json=live(job, log={}, next=str(size)) | {"log": log})

    async def _part(self, route: Route) -> None:
        first, last = re.fullmatch(r"bytes=(\d*)-(\d*)", route.request.headers["range"]).groups()  # type: ignore[union-attr]
        start = int(first) if first else max(0, self.size - int(last))
        end = min(self.size, int(last) + 1) if first else self.size
        ranges = {"Content-Range": f"bytes {start}-{end - 1}/{self.size}", "ETag": f'"{self.size}"'}
        headers = {**ranges, "Content-Disposition": "attachment"}
        if route.request.headers.get("if-match", headers["ETag"]) != headers["ETag"]:
            await route.fulfill(
                status=412, json={"detail": "the file has changed", "remedy": "read it again"}
            )
            return
        body = self._bytes(start, end)
        await route.fulfill(status=206, body=body, content_type="text/plain", headers=headers)

    def _bytes(self, start: int, end: int) -> bytes:
        self.reads.append((start, end))
        return self.read(start, end)


async def answer_log(page: Page, text: str) -> None:
    """A job at the wire that has written this text."""
    data = text.encode()
    await LogFile(lambda start, end: data[start:end], len(data)).install(page)
