"""code_door: where a caller sends the code of a job that they are about to submit."""

from __future__ import annotations

import hashlib
import logging
from datetime import timedelta
from typing import NamedTuple

from shared.core.caller import Caller
from shared.core.code.digest import digest_of
from shared.core.code.record import Code, SignedPlace
from shared.core.code.snapshots import Snapshot as Stored
from shared.core.errors import Misuse, Unavailable
from shared.core.pacing.off_loop import off_loop
from shared.core.ports import Ports
from shared.intake.desk.code import LEAVE_OUT, scope_of, too_large
from shared.jobspec import Limits, is_digest, read
from shared.snapshots.pack import THROUGH_APP

log = logging.getLogger(__name__)

#: For how long an upload may take, on a slow line and with a laptop that sleeps in between.
_UPLOAD = timedelta(hours=2)


class Snapshot(NamedTuple):
    """An archive that a client has: its digest, and its bytes."""

    sha256: str
    size: int


def snapshot_in(body: bytes, limits: Limits) -> Snapshot:
    """What a request for its place says of an archive. Raises Misuse."""
    remedy = 'send {"sha256": "64 lowercase hexadecimal digits", "bytes": 4096}'
    document, problems = read(body, limits)
    if document is None:
        raise Misuse(problems[0].message, remedy=remedy)
    digest, size = document.get("sha256"), document.get("bytes")
    if not isinstance(digest, str) or not is_digest(digest):
        raise Misuse("sha256 is not a SHA-256 digest", remedy=remedy)
    if not isinstance(size, int) or isinstance(size, bool) or size < 1 or len(document) > 2:
        raise Misuse("the body has `sha256`, and `bytes`, at least 1", remedy=remedy)
    return Snapshot(digest, size)


async def place_of(ports: Ports, snapshot: Snapshot, who: Caller) -> SignedPlace | None:
    """Where the caller sends an archive; None if it is there. Raises Misuse (413), Unavailable."""
    blob = await _free_name(ports, snapshot, who)
    if blob is None:
        return None
    until = ports.clock() + _UPLOAD
    return SignedPlace(await ports.snapshots.upload_address(blob, until), until)


def check_size(data: bytes) -> None:
    """Raise Misuse (413) for an archive that is too large to come through the app."""
    if len(data) > THROUGH_APP:
        text = f"the archive has {len(data):,} bytes, and {THROUGH_APP:,} may come through the app"
        remedy = "send it to the address that POST /api/snapshots answers, or leave large files out"
        raise Misuse(text, status=413, remedy=remedy)


async def store(ports: Ports, sha256: str, data: bytes, who: Caller) -> bool:
    """Store an archive that came through the app; whether it was not there before.

    Raises Misuse: 413 for a large one, 422 for other bytes; and Unavailable.
    """
    check_size(data)
    if not is_digest(sha256):
        raise Misuse("the name is not a SHA-256 digest", remedy="name 64 lowercase hexadecimal digits")
    if await off_loop(len(data), _digest_of, data) != sha256:
        text = "the bytes that came do not have this digest"
        raise Misuse(text, status=422, remedy="send the archive as it was packed, without Content-Encoding")
    snapshot = Snapshot(sha256, len(data))
    blob = await _free_name(ports, snapshot, who)
    if blob is None or await ports.snapshots.put(blob, data):
        return blob is not None
    if await _free_name(ports, snapshot, who) is not None:
        raise Unavailable("something else was sent in place of the archive")
    return False


def _digest_of(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


async def _free_name(ports: Ports, snapshot: Snapshot, who: Caller) -> str | None:
    """The name of a blob that is to be written; None if the archive is there. Raises Misuse, Unavailable.

    What has the name of the archive and is not it is deleted, so that it is not in its way for ever.
    The same digest has a blob in each scope, so that no caller learns whether others have such an archive.
    """
    if snapshot.size > ports.policy.code_mib << 20:
        raise Misuse(too_large(snapshot.size, ports.policy.code_mib), status=413, remedy=LEAVE_OUT)
    blob = Code(scope=scope_of(who), sha256=snapshot.sha256, bytes=snapshot.size).blob
    if stored := await ports.snapshots.find(blob):
        if stored.size == snapshot.size and stored.is_readable:
            return None
        await _make_room(ports, stored, snapshot)
    return blob


async def _make_room(ports: Ports, stored: Stored, snapshot: Snapshot) -> None:
    """Delete what is not the archive that its name says. Raises Misuse if it is: the caller's word is wrong.

    One above the limit is not read, since no door takes it. One that was changed meanwhile stays, and the
    upload is refused by storage, after which a client asks again.
    """
    is_read = stored.is_readable and stored.size <= ports.policy.code_mib << 20
    if is_read and await digest_of(ports.snapshots, stored.blob) == snapshot.sha256:
        text = f"the archive of this digest has {stored.size} bytes, not {snapshot.size}"
        raise Misuse(text, remedy="count the bytes of the archive, as it is sent")
    log.error("the archive %s has other bytes than its name says", stored.blob)
    await ports.snapshots.delete(stored.blob, stored.etag)
