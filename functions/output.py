"""The part of the HTTP API for what jobs have: their code, and their logs, numbers, and lists of files."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

import azure.functions as func

from functions.caller import caller
from functions.openapi.elements import AFTER, ARCHIVE, ATTEMPT, FILE, FOLDER, LOG, LOG_PART, NUMBERS, SNAPSHOT
from functions.openapi.operation import operation
from functions.problem import HEADERS, Reply, answer, body_of
from functions.process import ports
from shared.core.caller import SUBMIT

if TYPE_CHECKING:
    from shared.answers.code import CodeListing, SnapshotPlace
    from shared.answers.output import (
        ErrorEnds,
        FileAddresses,
        Metrics,
        OutputDirectories,
        OutputEntries,
        Receipt,
    )

blueprint = func.Blueprint()  # type: ignore[no-untyped-call]


@operation(
    blueprint,
    "GET",
    "jobs/{id}/log",
    answers={200: LOG},
    refused=(404, 409, 410),
    query=LOG_PART,
)
async def get_log(req: func.HttpRequest) -> func.HttpResponse:
    """Read a part of a job's log.

    Continue at `Slipway-Next-Offset` while `Slipway-More` is `true`. An offset belongs to one run: when the
    job's `attempt` or the last `queued` entry of its `history` changes, start again at 0. What an earlier
    attempt wrote stays, and is read with `attempt`.
    """
    from shared.operate.files import output

    query = req.params
    name, chunk, more = await output.log(
        ports(), req.route_params["id"], query.get("file"), query.get("offset", "0"), caller(),
        query.get("attempt", ""),
    )  # fmt: skip
    headers = {
        "Slipway-Next-Offset": str(chunk.next),
        "Slipway-More": str(more).lower(),
        "Slipway-File": quote(name),
    }
    return func.HttpResponse(chunk.data, status_code=200, mimetype="text/plain", headers=headers)


@operation(blueprint, "GET", "jobs/{id}/errors", refused=(404, 409, 410), query=(ATTEMPT,))
async def get_errors(req: func.HttpRequest) -> Reply[ErrorEnds]:
    """Read the last lines of standard error of a job's processes, without its secrets.

    `files`: at most 20 lines of each of the first eight that wrote some; `more`: how many others did. If none
    did, those of standard output. The storage keys of the deployment are masked, too. A log itself is as the
    job wrote it.
    """
    from shared.answers.output import ErrorEnds, LastLines
    from shared.operate.files.stderr import stderr

    ends = await stderr(ports(), req.route_params["id"], caller(), req.params.get("attempt", ""))
    files = tuple(LastLines(file=one.file, lines=tuple(one.lines)) for one in ends.files)
    return answer(ErrorEnds(files=files, more=ends.more))


@operation(blueprint, "GET", "jobs/{id}/files", refused=(404, 409, 410), query=(*FOLDER, AFTER, ATTEMPT))
async def get_files(req: func.HttpRequest) -> Reply[OutputEntries]:
    """List the files in a folder of an output directory.

    In the order of their names; of a large folder a part, the rest by the `next` of the answer; 404 lists
    the directories that exist. `bytes` is null for a directory, for a `link` that is not followed, and for
    what is listed and `leftOut`: a name that cannot be requested (escaped here), what is not a file, or one
    entry for what a directory has beyond 1,000,000 names.
    """
    from shared.answers.output import OutputEntries, OutputEntry
    from shared.operate.files import output

    job_id, query = req.route_params["id"], req.params
    directory, path = query.get("directory", "stdouterr"), query.get("path", ".")
    after, attempt = query.get("after", ""), query.get("attempt", "")
    page = await output.files(ports(), job_id, directory, path, after, caller(), attempt)
    listed = tuple(
        OutputEntry(
            name=one.name,
            bytes=one.size,
            modified=one.modified,
            link=one.link or None,
            left_out=one.left_out or None,
            kind=one.kind or None,
            executable=one.executable,
        )
        for one in page.files
    )
    return answer(OutputEntries(files=listed, next=page.next or None))


@operation(blueprint, "GET", "jobs/{id}/addresses", refused=(404, 409, 410), query=(*FOLDER, AFTER, ATTEMPT))
async def get_addresses(req: func.HttpRequest) -> Reply[FileAddresses]:
    """Get addresses by which a finished job's files are read from storage itself.

    Those directly in a folder, at most 1,000; each address reads one blob without a key until `expires`,
    which is null where files come [through the API only](api.md#files-from-storage-itself).
    """
    from shared.answers.output import FileAddress, FileAddresses
    from shared.operate.files.addresses import addresses

    job_id, query = req.route_params["id"], req.params
    directory, path = query.get("directory", "stdouterr"), query.get("path", ".")
    after, attempt = query.get("after", ""), query.get("attempt", "")
    page = await addresses(ports(), job_id, directory, path, after, caller(), attempt)
    if page is None:
        return answer(FileAddresses(addresses=(), next=None, expires=None))
    listed = tuple(
        FileAddress(name=one.name, bytes=one.size, modified=one.modified, url=one.url)
        for one in page.addresses
    )
    return answer(FileAddresses(addresses=listed, next=page.next or None, expires=page.expires))


@operation(
    blueprint,
    "GET",
    "jobs/{id}/metrics",
    refused=(404, 409, 410),
    query=NUMBERS,
)
async def get_metrics(req: func.HttpRequest) -> Reply[Metrics]:
    """Read the numbers that a job and its nodes report.

    As series: what its processes wrote in [lines of JSON](api.md#metrics), and how busy the nodes were.
    """
    from shared.operate.files.metrics import as_json, metrics

    query = req.params
    after, attempt = query.get("after", ""), query.get("attempt", "")
    result = await metrics(ports(), req.route_params["id"], after, caller(), attempt)
    return answer(as_json(result, query.get("points", "")))


@operation(blueprint, "GET", "jobs/{id}/outputs", refused=(404, 409, 410), query=(ATTEMPT,))
async def get_outputs(req: func.HttpRequest) -> Reply[OutputDirectories]:
    """List a job's output directories.

    `id`, `path` (where it lies on the nodes; the prefix of the job file
    alone, until the cluster says which folders follow), and the address of the list of their files. What
    the job [saved](../how-to/go-on-from-a-checkpoint.md) is among them once there is something: `saved`.
    """
    from shared.operate.files import output

    job_id, attempt = req.route_params["id"], req.params.get("attempt", "")
    return answer({"outputs": await output.outputs(ports(), job_id, caller(), attempt)})


@operation(blueprint, "GET", "jobs/{id}/receipt", refused=(404, 410))
async def get_receipt(req: func.HttpRequest) -> Reply[Receipt]:
    """Get a job's receipt.

    The [same document](receipts.md) as in the container of receipts; 404 before there is one.
    """
    from shared.operate.files.stored_receipt import receipt_of

    receipt = await receipt_of(ports(), req.route_params["id"], caller())
    return Reply(receipt, status_code=200, mimetype="application/json", headers=HEADERS)


@operation(blueprint, "POST", "snapshots", needs=SUBMIT, refused=(413,), body=SNAPSHOT)
async def post_snapshot(req: func.HttpRequest) -> Reply[SnapshotPlace]:
    """Get where to send the code of a job.

    `known`: it is there already. Else `upload` takes it in one PUT (`x-ms-blob-type: BlockBlob`,
    `If-None-Match: *`, and `Content-MD5`); then a job may name it, in `code`. A 403 or 409 of storage means
    that it is there: ask again. `PUT /api/snapshots/{sha256}` takes one where storage cannot be reached.
    """
    from shared.answers.code import SnapshotPlace
    from shared.intake.code_door import place_of, snapshot_in

    app = ports()
    place = await place_of(app, snapshot_in(body_of(req), app.policy.limits), caller())
    if place is None:
        return answer(SnapshotPlace(is_there=True))
    return answer(SnapshotPlace(is_there=False, upload=place.address, expires=place.expires))


@operation(
    blueprint,
    "PUT",
    "snapshots/{sha256}",
    needs=SUBMIT,
    answered=(201, 200),
    refused=(413, 422),
    body=ARCHIVE,
)
async def put_snapshot(req: func.HttpRequest) -> Reply[SnapshotPlace]:
    """Send the code of a job through the app.

    For clients that cannot reach storage: at most 8 MiB. 201 when it is stored, 200 when it was there
    already; 422 if the bytes do not have this digest.
    """
    from functions.allowance import UPLOADS
    from shared.answers.code import SnapshotPlace
    from shared.intake.code_door import check_size, store

    data = body_of(req, remedy="send the archive, as it was packed")
    check_size(data)  # before it waits
    async with UPLOADS.share() as seat:
        await seat.take(1)
        is_new = await store(ports(), req.route_params["sha256"], data, caller())
    return answer(SnapshotPlace(is_there=True), 201 if is_new else 200)


@operation(blueprint, "GET", "jobs/{id}/code", refused=(404, 410, 422), query=(FILE,))
async def get_code(req: func.HttpRequest) -> Reply[CodeListing]:
    """List the code that a job runs.

    The members of its archive, as it says of itself, and an address that reads it; none are listed (`more`)
    of an archive above 32 MiB. With `file`, this one, and its text. 404 for a job that brings no code, or no
    such file, 410 after it was deleted.
    """
    from functions.allowance import LISTINGS
    from shared.answers.code import CodeEntry, CodeListing
    from shared.core.view import shown_code
    from shared.operate.code import code_of

    async with LISTINGS.share() as seat:
        await seat.take(1)
        file = req.params.get("file", "")
        code, listing, place, text = await code_of(ports(), req.route_params["id"], caller(), file)
    entries = tuple(map(CodeEntry.from_member, listing.entries))
    about = {**(shown_code(code) or {}), "entries": entries, "more": listing.more, "text": text}
    return answer(CodeListing(**about, url=place.address, expires=place.expires))
