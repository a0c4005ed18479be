"""code_door: where a caller sends the code of a job that they are about to submit."""

from __future__ import annotations

from datetime import timedelta

from shared.core.caller import Caller
from shared.core.code.record import Code, SignedPlace
from shared.core.errors import Misuse
from shared.core.ports import Ports
from shared.intake.desk.code import LEAVE_OUT, scope_of, too_large

#: For how long an upload may take, on a slow line and with a laptop that sleeps in between.
_UPLOAD = timedelta(hours=2)


async def place_of(ports: Ports, sha256: str, size: int, who: Caller) -> SignedPlace | None:
    """Where the caller sends an archive; None if it is there. Raises Misuse (413), Unavailable.

    The same digest has a blob in each scope, so that no caller learns whether others have such an archive.
    """
    if size > ports.policy.code_mib << 20:
        raise Misuse(too_large(size, ports.policy.code_mib), status=413, remedy=LEAVE_OUT)
    blob = Code(scope=scope_of(who), sha256=sha256, bytes=size).blob
    if await ports.snapshots.size(blob) is not None:
        return None
    until = ports.clock() + _UPLOAD
    return SignedPlace(await ports.snapshots.upload_address(blob, until), until)
