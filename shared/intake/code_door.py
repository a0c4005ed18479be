"""code_door: where a caller sends the code of a job that they are about to submit."""

from __future__ import annotations

from datetime import timedelta
from typing import NamedTuple

from shared.core.caller import Caller
from shared.core.code.record import Code, SignedPlace
from shared.core.errors import Misuse
from shared.core.ports import Ports
from shared.intake.desk.code import LEAVE_OUT, scope_of, too_large
from shared.jobspec import Limits, is_digest, read

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
    """Where the caller sends an archive; None if it is there. Raises Misuse (413), Unavailable.

    The same digest has a blob in each scope, so that no caller learns whether others have such an archive.
    """
    if snapshot.size > ports.policy.code_mib << 20:
        raise Misuse(too_large(snapshot.size, ports.policy.code_mib), status=413, remedy=LEAVE_OUT)
    blob = Code(scope=scope_of(who), sha256=snapshot.sha256, bytes=snapshot.size).blob
    if await ports.snapshots.size(blob) is not None:
        return None
    until = ports.clock() + _UPLOAD
    return SignedPlace(await ports.snapshots.upload_address(blob, until), until)
