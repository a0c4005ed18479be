"""The part of the HTTP API for what jobs wrote: logs, lists of files, and files."""

from __future__ import annotations

import base64
import hashlib
import mimetypes
import re
from dataclasses import asdict
from typing import TYPE_CHECKING
from urllib.parse import quote

import azure.functions as func

from functions.caller import caller
from functions.problem import HEADERS, answer, api_route, problem
from functions.process import ports
from functions.ranges import is_named, is_same, most_of, span_of, validator
from shared.core.errors import Misuse

if TYPE_CHECKING:
    from functions.allowance import Body, Share
    from shared.core.engine import FileChunk

blueprint = func.Blueprint()  # type: ignore[no-untyped-call]
#: Bytes of an archive's name: with its ending, a disk takes 255; a header of more than 8 KiB, few clients.
_LONGEST_NAME = 240
#: A job wrote it: no browser runs it, shows it as a page, or guesses another type.
_HOSTILE = {"Content-Security-Policy": "default-src 'none'; sandbox"}


@blueprint.function_name("get_log")
@blueprint.route("jobs/{id}/log", methods=["GET"])
@api_route("file", "offset")
async def get_log(req: func.HttpRequest) -> func.HttpResponse:
    """A part of a log: ?file=stdout.txt &offset=0. Go on at Slipway-Next-Offset while Slipway-More."""
    from shared.operate.files import output

    query = req.params
    name, chunk, more = await output.log(
        ports(), req.route_params["id"], query.get("file"), query.get("offset", "0"), caller()
    )
    headers = {
        "Slipway-Next-Offset": str(chunk.next),
        "Slipway-More": str(more).lower(),
        "Slipway-File": quote(name),
    }
    return func.HttpResponse(chunk.data, status_code=200, mimetype="text/plain", headers=headers)


@blueprint.function_name("get_errors")
@blueprint.route("jobs/{id}/errors", methods=["GET"])
@api_route()
async def get_errors(req: func.HttpRequest) -> func.HttpResponse:
    """How standard error of each process of a job ended, without the job's secrets."""
    from shared.operate.files.stderr import stderr

    ends = await stderr(ports(), req.route_params["id"], caller())
    return answer({"files": [asdict(one) for one in ends.files], "more": ends.more})


@blueprint.function_name("get_files")
@blueprint.route("jobs/{id}/files", methods=["GET"])
@api_route("directory", "path", "after")
async def get_files(req: func.HttpRequest) -> func.HttpResponse:
    """Files that a job wrote, some of them: ?directory=stdouterr|<output id> &path=. &after=<next>."""
    from shared.operate.files import output

    job_id, query = req.route_params["id"], req.params
    directory, path = query.get("directory", "stdouterr"), query.get("path", ".")
    page = await output.files(ports(), job_id, directory, path, query.get("after", ""), caller())
    listed = [
        {
            "name": f.name,
            "bytes": f.size,
            "modified": f.modified.isoformat() if f.modified else None,
            **({"link": True} if f.link else {}),
            **({"leftOut": True} if f.left_out else {}),
            **({"kind": f.kind} if f.kind else {}),
        }
        for f in page.files
    ]
    return answer({"files": listed, "next": page.next or None})


@blueprint.function_name("get_zip")
@blueprint.route("jobs/{id}/zip", methods=["GET"])
@api_route("directory", "path")
async def get_zip(req: func.HttpRequest) -> func.HttpResponse:
    """A small directory as one ZIP file: ?directory=stdouterr|<output id> &path=."""
    from functions.allowance import ARCHIVES, BODIES
    from shared.operate.files.zipped import zipped

    job_id, query = req.route_params["id"], req.params
    directory, path = query.get("directory", "stdouterr"), query.get("path", ".")
    name = "-".join((job_id, directory, *(part for part in path.split("/") if part not in ("", "."))))
    name = name.encode()[:_LONGEST_NAME].decode(errors="ignore")
    async with ARCHIVES.share() as seat, BODIES.share() as share:
        await seat.take(1)
        archive = await zipped(ports(), job_id, directory, path, caller(), share.take)
        headers = {
            **_HOSTILE,
            "Cache-Control": "private, no-cache",
            "Slipway-Left-Out": str(archive.left_out),
        }
        return _attachment(f"{name}.zip", share.body(archive.data), 200, headers)


@blueprint.function_name("get_addresses")
@blueprint.route("jobs/{id}/addresses", methods=["GET"])
@api_route("directory", "path", "after")
async def get_addresses(req: func.HttpRequest) -> func.HttpResponse:
    """Addresses of files in storage itself: ?directory=stdouterr|<output id> &path=. &after=<next>."""
    from shared.operate.files.addresses import addresses

    job_id, query = req.route_params["id"], req.params
    directory, path = query.get("directory", "stdouterr"), query.get("path", ".")
    page = await addresses(ports(), job_id, directory, path, query.get("after", ""), caller())
    if page is None:
        return answer({"addresses": [], "next": None, "expires": None})
    listed = [
        {"name": one.name, "bytes": one.size, "modified": one.modified.isoformat(), "url": one.url}
        for one in page.addresses
    ]
    return answer({"addresses": listed, "next": page.next or None, "expires": page.expires.isoformat()})


@blueprint.function_name("get_metrics")
@blueprint.route("jobs/{id}/metrics", methods=["GET"])
@api_route("after", "points")
async def get_metrics(req: func.HttpRequest) -> func.HttpResponse:
    """What the job and its nodes say in numbers: ?after=<next> &points=500. Go on at once while `more`."""
    from shared.operate.files.metrics import as_json, metrics

    query = req.params
    result = await metrics(ports(), req.route_params["id"], query.get("after", ""), caller())
    return answer(as_json(result, query.get("points", "")))


@blueprint.function_name("get_outputs")
@blueprint.route("jobs/{id}/outputs", methods=["GET"])
@api_route()
async def get_outputs(req: func.HttpRequest) -> func.HttpResponse:
    """The output directories of a job, each with the address of its list of files."""
    from shared.operate.files import output

    return answer({"outputs": await output.outputs(ports(), req.route_params["id"], caller())})


@blueprint.function_name("get_receipt")
@blueprint.route("jobs/{id}/receipt", methods=["GET"])
@api_route()
async def get_receipt(req: func.HttpRequest) -> func.HttpResponse:
    """The receipt of a job as it is stored, for a job of any door."""
    from shared.operate.files.stored_receipt import receipt_of

    receipt = await receipt_of(ports(), req.route_params["id"], caller())
    return func.HttpResponse(receipt, status_code=200, mimetype="application/json", headers=HEADERS)


@blueprint.function_name("get_file")
@blueprint.route("jobs/{id}/files/{directory}/{*path}", methods=["GET"])
@api_route()
async def get_file(req: func.HttpRequest) -> func.HttpResponse:
    """A file that a job wrote, whole or in part (RFC 9110, section 14): 200, 206, 304, 307, 412, 413, 416.

    The host leaves `%2F` in a path, which a name may have, and which clients make of slashes.
    """
    path = req.route_params.get("path", "")
    try:
        return await _file(req, path)
    except Misuse as error:
        decoded = path.replace("%2F", "/").replace("%2f", "/")
        if error.status != 404 or decoded == path:
            raise
        return await _file(req, decoded)


async def _file(req: func.HttpRequest, path: str) -> func.HttpResponse:
    from functions.allowance import BODIES
    from shared.operate.files import output
    from shared.operate.files.addresses import address_of_large

    job_id, directory = req.route_params["id"], req.route_params["directory"]
    app, who = ports(), caller()
    span = span_of(req.headers.get("Range", ""))
    if span is None and (address := await address_of_large(app, job_id, directory, path, who)):
        kept_from = {"Cache-Control": "no-store", "Referrer-Policy": "no-referrer"}
        return func.HttpResponse(status_code=307, headers={"Location": address, **kept_from})
    condition = req.headers.get("If-Range")
    async with BODIES.share() as share:
        await share.take(most_of(None if condition else span))
        chunk = await output.content(app, job_id, directory, path, span, who)
        tag = validator(job_id, directory, path, chunk)
        if span and condition and condition != tag:
            del chunk  # this request never has two
            span, chunk = None, await output.content(app, job_id, directory, path, None, who)
            tag = validator(job_id, directory, path, chunk)
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
