"""Files over HTTP, whole or in part (RFC 9110, section 14), as Azure Storage answers ranges."""

import asyncio
import os
import re
from email.utils import formatdate
from typing import BinaryIO

from aiohttp import web

from confined.entries import modified

_RANGE = re.compile(r"bytes=(\d{1,18})-(\d{0,18})")
_CHUNK = 1 << 20


async def answer_file(
    request: web.Request, file: BinaryIO, range_header: str | None, *, partial: int = 206, **more: str
) -> web.StreamResponse:
    """An open file, or the part that a range names; 416 where there is none, as at the end.

    `partial` is the status of a part, `more` are further headers.
    """
    stat = os.fstat(file.fileno())
    headers = {
        "Accept-Ranges": "bytes",
        "Content-Type": "application/octet-stream",
        "Last-Modified": formatdate(modified(stat), usegmt=True),
        "ETag": f'"0x8D{stat.st_mtime_ns:013X}"',
        **more,
    }
    first, last, status = 0, stat.st_size - 1, 200
    if range_header is not None and (match := _RANGE.fullmatch(range_header.strip())):
        first = int(match[1])
        last = min(last, int(match[2])) if match[2] else last
        if first > last:
            headers |= {"Content-Range": f"bytes */{stat.st_size}", "x-ms-error-code": "InvalidRange"}
            return web.Response(status=416, headers=headers)
        status = partial
        headers["Content-Range"] = f"bytes {first}-{last}/{stat.st_size}"
    answer = web.StreamResponse(status=status, headers=headers)
    answer.content_length = last - first + 1
    await answer.prepare(request)
    if request.method != "HEAD":
        await _copy(file, first, last, answer)
    await answer.write_eof()
    return answer


def storage_range(request: web.Request) -> str | None:
    """The range that a client of Azure Storage asks for."""
    return request.headers.get("x-ms-range") or request.headers.get("Range")


async def _copy(file: BinaryIO, first: int, last: int, answer: web.StreamResponse) -> None:
    file.seek(first)
    remaining = last - first + 1
    while remaining and (chunk := await asyncio.to_thread(file.read, min(remaining, _CHUNK))):
        await answer.write(chunk)
        remaining -= len(chunk)
