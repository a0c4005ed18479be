"""code: what the archive of a job's code has, for those who may see the job."""

from __future__ import annotations

import asyncio
import hashlib
from datetime import timedelta
from tempfile import TemporaryFile
from typing import BinaryIO, NamedTuple

from shared.core.caller import KEY_HOLDER, Caller
from shared.core.code.record import Code, SignedPlace
from shared.core.code.snapshots import Snapshots
from shared.core.errors import Misuse
from shared.core.ports import Ports
from shared.lifecycle.lookup import job
from shared.snapshots.grammar import Unreadable
from shared.snapshots.listing import SHOWN, Listing, as_text, content, listing

#: For how long an address reads an archive that a person asked for.
_READABLE = timedelta(minutes=15)


class ListedCode(NamedTuple):
    """The code of a job, what its archive has, and where it is read."""

    code: Code
    listing: Listing
    place: SignedPlace
    #: of the file that was asked for
    text: str | None = None


async def code_of(ports: Ports, job_id: str, who: Caller = KEY_HOLDER, file: str = "") -> ListedCode:
    """The code of a job, or one file of it, by its name as text.

    Raises Misuse: 404, 410 after its code was deleted, 422 if it is not an archive.
    """
    stored = await job(ports, job_id, who)
    code = stored.job.code
    if code is None:
        raise Misuse(
            f"{job_id} brings no code of its own",
            status=404,
            remedy="its receipt says whether it mounts what it runs, and has the document that it ran",
        )
    read = await _read(ports.snapshots, job_id, code, file)
    until = ports.clock() + _READABLE
    address = await ports.snapshots.read_address(code.blob, until)
    if read.files is not None:
        code = code.model_copy(update={"files": read.files})
    return ListedCode(code, read.listing, SignedPlace(address, until), read.text)


class _Read(NamedTuple):
    listing: Listing
    #: of the whole archive
    files: int | None = None
    text: str | None = None


async def _read(snapshots: Snapshots, job_id: str, code: Code, name: str) -> _Read:
    stored = await snapshots.find(code.blob)
    if stored is None or not stored.is_readable or stored.size != code.bytes:
        raise _no_code(
            f"the code of {job_id} was deleted" + (", and something else has its name" if stored else "")
        )
    if code.bytes > SHOWN:
        return _Read(Listing((), more=True))
    # Not in memory: a few of them at once would fill it.
    with TemporaryFile() as file:
        digest = hashlib.sha256()
        async for part in snapshots.read(code.blob):
            digest.update(part)
            file.write(part)
        if digest.hexdigest() != code.sha256:
            raise _no_code(f"the code of {job_id} was deleted, and something else has its name")
        file.seek(0)
        try:
            return await asyncio.to_thread(_shown, file, name)
        except Unreadable as error:
            raise Misuse(
                f"the code cannot be listed: {error}", status=422, remedy="read it by the job's address"
            ) from error


def _no_code(text: str) -> Misuse:
    return Misuse(text, status=410, remedy="send the folder again, with `slipway run`")


def _shown(archive: BinaryIO, name: str) -> _Read:
    """The members of an archive, or one file with its text. Raises Unreadable, and Misuse if it has none."""
    every = listing(archive)
    if not name:
        return _Read(every, every.files)
    one = next((entry for entry in every.entries if as_text(entry.name) == name and not entry.link), None)
    if one is None:
        raise Misuse("the code does not have this file", status=404, remedy="name one that it lists")
    archive.seek(0)
    data = content(archive, one.name)
    text = None if data is None else data.decode("utf-8", "replace")
    return _Read(Listing((one,), more=False), every.files, text)
