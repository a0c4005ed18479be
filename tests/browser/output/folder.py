"""A folder of files at the wire, and what they may contain."""

from __future__ import annotations

import struct
import zlib
from urllib.parse import unquote

from playwright.async_api import Page, Route

from tests.browser.one_job.live import answer_live
from tests.browser.reader import listed


def png(width: int, height: int, bits: int = 8) -> bytes:
    """A grey image with so many bits for each point."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, bits, 0, 0, 0, 0)
    packer, row = zlib.compressobj(), b"\0" + b"\x80" * (width * bits // 8)
    rows = b"".join(packer.compress(row) for _ in range(height)) + packer.flush()
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


async def answer_files(page: Page, files: dict[str, bytes]) -> None:
    """A finished job whose directory of standard output has these files."""

    async def listing(route: Route) -> None:
        entries = [{"name": name, "bytes": len(data), "modified": None} for name, data in files.items()]
        await route.fulfill(json={"files": entries})

    async def part(route: Route) -> None:
        data = files[unquote(route.request.url.rpartition("/")[2])]
        headers = {"Content-Disposition": "attachment"}
        if "range" not in route.request.headers:
            await route.fulfill(body=data, content_type="application/octet-stream", headers=headers)
            return
        first, last = route.request.headers["range"].removeprefix("bytes=").split("-")
        body = data[int(first) : int(last) + 1]
        if not body:
            refusal = {"detail": "none of them in this range", "status": 416}
            await route.fulfill(status=416, json=refusal, headers={"Content-Range": f"bytes */{len(data)}"})
            return
        headers["Content-Range"] = f"bytes {first}-{int(first) + len(body) - 1}/{len(data)}"
        await route.fulfill(status=206, body=body, content_type="application/octet-stream", headers=headers)

    job = {**listed(1), "history": []}
    await answer_live(page, job)
    await page.route("**/api/jobs/job-000001/outputs", lambda route: route.fulfill(json={"outputs": []}))
    await page.route("**/api/jobs/job-000001/files?*", listing)
    await page.route("**/api/jobs/job-000001/files/stdouterr/*", part)
