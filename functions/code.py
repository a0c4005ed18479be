"""The part of the HTTP API for the code of jobs: where a client sends it, and what a job has."""

from __future__ import annotations

from typing import TYPE_CHECKING

import azure.functions as func

from functions.caller import caller
from functions.openapi.elements import SNAPSHOT
from functions.openapi.operation import operation
from functions.problem import Reply, answer, body_of
from functions.process import ports
from shared.core.caller import SUBMIT
from shared.core.errors import Misuse

if TYPE_CHECKING:
    from shared.answers.code import CodeListing, SnapshotPlace

blueprint = func.Blueprint()  # type: ignore[no-untyped-call]


@operation(blueprint, "POST", "snapshots", needs=SUBMIT, refused=(413,), body=SNAPSHOT)
async def post_snapshot(req: func.HttpRequest) -> Reply[SnapshotPlace]:
    """Get where to send the code of a job.

    `known`: it is there already. Else `upload` takes it in one PUT (`x-ms-blob-type: BlockBlob`,
    `If-None-Match: *`, and `Content-MD5`); then a job may name it, in `code`. A 403 or 409 of storage means
    that it is there: ask again.
    """
    from shared.answers.code import SnapshotPlace
    from shared.intake.code_door import place_of

    app = ports()
    place = await place_of(app, *_wanted(req), caller())
    if place is None:
        return answer(SnapshotPlace(known=True))
    return answer(SnapshotPlace(known=False, upload=place.address, expires=place.expires))


def _wanted(req: func.HttpRequest) -> tuple[str, int]:
    """The digest and the length in a request. Raises Misuse."""
    from shared.jobspec import is_digest, read

    document, problems = read(body_of(req), ports().policy.limits)
    if document is None:
        raise Misuse(problems[0].message, remedy=_SEND)
    digest, size = document.get("sha256"), document.get("bytes")
    if not isinstance(digest, str) or not is_digest(digest):
        raise Misuse("sha256 is not a SHA-256 digest", remedy=_SEND)
    if not isinstance(size, int) or isinstance(size, bool) or size < 1 or len(document) > 2:
        raise Misuse("the body has `sha256`, and `bytes`, at least 1", remedy=_SEND)
    return digest, size


_SEND = 'send {"sha256": "64 lowercase hexadecimal digits", "bytes": 4096}'


@operation(blueprint, "GET", "jobs/{id}/code", refused=(404, 410, 422))
async def get_code(req: func.HttpRequest) -> Reply[CodeListing]:
    """List the code that a job runs.

    The members of its archive, as it says of itself, and an address that reads it; 404 for a job that brings
    no code, 410 after it was deleted.
    """
    from shared.answers.code import CodeEntry, CodeListing
    from shared.operate.code import code_of

    code, listing, place = await code_of(ports(), req.route_params["id"], caller())
    entries = tuple(
        CodeEntry(name=one.name, bytes=one.size, executable=one.executable or None, link=one.link or None)
        for one in listing.entries
    )
    members = code.model_dump(include={"sha256", "bytes", "files", "at", "origin"})
    return answer(
        CodeListing(**members, entries=entries, more=listing.more, url=place.address, expires=place.expires)
    )
