"""The part of the HTTP API for the bytes of what jobs wrote: files, and directories as one ZIP file."""

from __future__ import annotations

import base64
import hashlib
import mimetypes
import re
from collections.abc import Iterator
from itertools import combinations, islice
from typing import TYPE_CHECKING
from urllib.parse import quote

import azure.functions as func

from functions.caller import caller
from functions.openapi.elements import ATTACHMENT, ATTEMPT, FOLDER, RANGES, REDIRECT, ZIP
from functions.openapi.operation import operation
from functions.problem import problem
from functions.process import ports
from functions.ranges import is_named, is_same, most_of, span_of, validator
from shared.core.errors import Misuse

if TYPE_CHECKING:
    from functions.allowance import Body, Share
    from shared.core.engine import FileChunk

blueprint = func.Blueprint()  # type: ignore[no-untyped-call]
#: Bytes of an archive's name: with its ending, a disk takes 255; a header of more than 8 KiB, few clients.
_LONGEST_NAME = 240
#: Meanings of a path: all those of one with five escapes, and those of one name with an escape at any depth.
_MOST = 32
_SLASH = re.compile("(%2F)", re.IGNORECASE)
#: A job wrote it: no browser runs it, shows it as a page, or guesses another type.
_HOSTILE = {"Content-Security-Policy": "default-src 'none'; sandbox"}


@operation(
    blueprint,
    "GET",
    "jobs/{id}/zip",
    answers={200: ZIP},
    refused=(404, 409, 410, 413),
    query=(*FOLDER, ATTEMPT),
)
async def get_zip(req: func.HttpRequest) -> func.HttpResponse:
    """Get a small output directory as one ZIP file.

    The directory, or a folder in it, up to 32 MiB; 413 above: read [its files](api.md#files) one by one.
    """
    from functions.allowance import ARCHIVES, BODIES
    from shared.operate.files.zipped import zipped

    job_id, query = req.route_params["id"], req.params
    directory, path = query.get("directory", "stdouterr"), query.get("path", ".")
    name = "-".join((job_id, directory, *(part for part in path.split("/") if part not in ("", "."))))
    name = name.encode()[:_LONGEST_NAME].decode(errors="ignore")
    async with ARCHIVES.share() as seat, BODIES.share() as share:
        await seat.take(1)
        attempt = query.get("attempt", "")
        archive = await zipped(ports(), job_id, directory, path, caller(), share.take, attempt=attempt)
        headers = {
            **_HOSTILE,
            "Cache-Control": "private, no-cache",
            "Slipway-Left-Out": str(archive.left_out),
        }
        return _attachment(f"{name}.zip", share.body(archive.data), 200, headers)


@operation(
    blueprint,
    "GET",
    "jobs/{id}/files/{directory}/{*path}",
    answers={200: ATTACHMENT, 206: ATTACHMENT, 304: None, 307: REDIRECT},
    refused=(404, 409, 410, 412, 413, 416),
    query=(ATTEMPT,),
    headers=RANGES,
)
async def get_file(req: func.HttpRequest) -> func.HttpResponse:
    """Read a file that a job wrote, whole or in part.

    At most 8 MiB in one answer: with `Range` a part (206); without it a larger file is 413, or 307 with an
    address of storage itself. Send the `ETag` of the first part as `If-Match` [with the rest](api.md#files).
    """
    first: Misuse | None = None
    for path in _meanings(req.route_params.get("path", "")):
        try:
            return await _file(req, path)
        except Misuse as error:
            if error.status != 404 and first is None:
                raise
            if error.status not in (400, 404):  # the path of a file that is too large, for one
                raise
            first = first or error
    raise first or AssertionError("a path has a meaning")


def _meanings(path: str) -> Iterator[str]:
    """The paths that a caller may mean: as it is, then with its escapes as slashes, all of them or the most.

    The host leaves `%2F` in an address as it is. A name may have it, and generated clients make it of
    slashes; both arrive alike.
    """
    names = _SLASH.split(path)
    yield path
    yield from islice(_mixed(names, range(1, len(names), 2)), _MOST - 1)


def _mixed(names: list[str], escapes: range) -> Iterator[str]:
    for number in range(len(escapes)):
        for literal in combinations(escapes, number):
            yield "".join(
                "/" if at in escapes and at not in literal else part for at, part in enumerate(names)
            )


async def _file(req: func.HttpRequest, path: str) -> func.HttpResponse:
    from functions.allowance import BODIES
    from shared.operate.files import output
    from shared.operate.files.addresses import address_of_large

    job_id, directory = req.route_params["id"], req.route_params["directory"]
    app, who, attempt = ports(), caller(), req.params.get("attempt", "")
    span = span_of(req.headers.get("Range", ""))
    if span is None and (address := await address_of_large(app, job_id, directory, path, who, attempt)):
        kept_from = {"Cache-Control": "no-store", "Referrer-Policy": "no-referrer"}
        return func.HttpResponse(status_code=307, headers={"Location": address, **kept_from})
    condition = req.headers.get("If-Range")
    async with BODIES.share() as share:
        await share.take(most_of(None if condition else span))
        chunk = await output.content(app, job_id, directory, path, span, who, attempt=attempt)
        tag = validator(job_id, attempt, directory, path, chunk)
        if span and condition and condition != tag:
            del chunk  # this request never has two
            span, chunk = None, await output.content(app, job_id, directory, path, None, who, attempt=attempt)
            tag = validator(job_id, attempt, directory, path, chunk)
        name = path.rpartition("/")[2]
        return _answered(req, name, share, chunk, tag, whole=span is None)


def _answered(
    req: func.HttpRequest, name: str, share: Share, chunk: FileChunk, tag: str, *, whole: bool
) -> func.HttpResponse:
    headers = {**_HOSTILE, "Cache-Control": "private, no-cache", "Accept-Ranges": "bytes"}
    headers |= {"ETag": tag} if tag else {}
    if not is_named(req.headers.get("If-Match", "*"), tag):
        return problem(412, "the file has changed", "read it again from its first byte")
    if is_same(req, tag):
        return func.HttpResponse(status_code=304, headers=headers)
    first = chunk.next - len(chunk.data)
    if not (whole or chunk.data):
        text = f"the file has {chunk.size:,} bytes, none of them in this range"
        refused = problem(416, text, "ask for bytes that it has, or without Range")
        refused.headers["Content-Range"] = f"bytes */{chunk.size}"
        return refused
    if not whole:
        headers["Content-Range"] = f"bytes {first}-{chunk.next - 1}/{chunk.size}"
    return _attachment(name, share.body(chunk.data), 200 if whole else 206, headers)


def _attachment(name: str, data: Body, status: int, headers: dict[str, str]) -> func.HttpResponse:
    from functions.allowance import FileResponse

    plain = re.sub(r"[^\w.-]", "_", name, flags=re.ASCII)
    headers |= {
        "Content-Disposition": f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}",
        "Content-Digest": f"sha-256=:{base64.b64encode(hashlib.sha256(data).digest()).decode()}:",
    }
    kind, encoding = mimetypes.guess_type(name)
    mimetype = kind if kind and not encoding else "application/octet-stream"
    return FileResponse(data, status_code=status, mimetype=mimetype, headers=headers)
