"""Sends an archive to the deployment, once: an address takes it only if there is none of that digest yet."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import math
from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import BinaryIO

import aiohttp

from shared.snapshots.pack import MIB, THROUGH_APP
from slipway.client.calls.patience import chosen_patience
from slipway.client.calls.refusal import Unanswered
from slipway.client.calls.unreachable import why
from slipway.client.calls.wire import session
from slipway.client.service import Service
from slipway.client.snapshot.closed import ADVICE, NOT_VALID
from slipway.client.snapshot.ignore_file import NAME as IGNORE_FILE
from slipway.client.snapshot.pack import Archive
from slipway.failure import Failure

_CHUNK = 1 << 18
#: How a network keeps a client out: it refuses, or it drops what is sent, as private endpoints do.
_NO_WAY = (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError)
#: Storage may be slow, and then answers; it does not answer a request that got lost.
_PATIENCE = aiohttp.ClientTimeout(sock_connect=30, sock_read=120)
#: Storage has the archive already, or the address has expired: both are asked again.
_AGAIN = frozenset({403, 409, 412})
#: What storage answers that is closed to this machine, and what stands for one that it does not reach.
_UNREACHED = "no connection"
_CLOSED = ("403", _UNREACHED)
#: How often an address is asked for.
_TRIES = 4


class _Progress:
    """How far an archive has been sent, by the try that came farthest, and when it was there."""

    def __init__(self, advance: Callable[[int], None]) -> None:
        self.advance, self.at = advance, -math.inf
        self._farthest = 0

    def reached(self, size: int) -> None:
        """Note that a try has sent so many bytes."""
        if size > self._farthest:
            self._farthest, self.at = size, chosen_patience().clock()


async def send(
    api: Service,
    archive: Archive,
    advance: Callable[[int], None],
    bounds: aiohttp.ClientTimeout = _PATIENCE,
) -> bool:
    """Send it, unless the deployment has it; returns whether it had to be sent. Raises Failure.

    A small one goes through the app where storage is closed to this machine.
    """
    last, progress = "", _Progress(advance)
    for number in range(_TRIES):
        offer = await api.offer_code(archive.packed.sha256, archive.packed.bytes)
        if offer.is_known:
            return number > 0
        if last.startswith(_CLOSED) and archive.packed.bytes <= THROUGH_APP:
            await api.send_code(archive.packed.sha256, await asyncio.to_thread(_whole, archive.file))
            advance(archive.packed.bytes)
            return True
        put = partial(_put, offer.upload, archive, progress, bounds)
        last = await chosen_patience().until_answered(put, progress_at=lambda: progress.at)
        if not last:
            return True
    raise Failure(f"storage does not take the code: it answered {last}{_ways_out(last)}")


def _ways_out(reason: str) -> str:
    if not reason.startswith(_CLOSED):
        return ""
    if reason.endswith(NOT_VALID):
        return f"; {ADVICE[NOT_VALID]}"
    return (
        f"; {ADVICE['']}; or send at most "
        f"{THROUGH_APP // MIB} MiB, packed, which go through the app: name data in {IGNORE_FILE}, and put it "
        "where jobs mount it (slipway data put)"
    )


async def _put(address: str, archive: Archive, progress: _Progress, bounds: aiohttp.ClientTimeout) -> str:
    """Send the archive to its address; returns "", or the answer after which it is asked for again."""
    md5 = await asyncio.to_thread(_md5, archive.file)
    headers = {
        "Content-Length": str(archive.packed.bytes),
        "Content-MD5": md5,
        "Content-Type": "application/octet-stream",
        "If-None-Match": "*",
        "x-ms-blob-type": "BlockBlob",
    }
    counted = 0

    def count(size: int) -> None:
        nonlocal counted
        counted += size
        progress.advance(size)
        progress.reached(counted)

    try:
        async with (
            session(address, timeout=bounds) as http,
            http.put(
                address, data=_parts(archive.file, count), headers=headers, allow_redirects=False
            ) as answer,
        ):
            if answer.status == 201:
                return ""
            reason = f"{answer.status} {answer.headers.get('x-ms-error-code', '')}".rstrip()
    except (aiohttp.ClientError, TimeoutError) as error:
        progress.advance(-counted)
        if isinstance(error, _NO_WAY) and archive.packed.bytes <= THROUGH_APP:
            return _UNREACHED
        raise Unanswered(f"the code could not be sent to storage: {why(error)}") from None
    progress.advance(-counted)
    if answer.status in _AGAIN:
        return reason
    if answer.status >= 500 or answer.status in (408, 429):
        raise Unanswered(f"storage answered {reason} to the code")
    raise Failure(f"storage does not take the code: it answered {reason}")


async def _parts(file: BinaryIO, count: Callable[[int], None]) -> AsyncIterator[bytes]:
    file.seek(0)
    while part := await asyncio.to_thread(file.read, _CHUNK):
        yield part
        count(len(part))


def _whole(file: BinaryIO) -> bytes:
    file.seek(0)
    return file.read()


def _md5(file: BinaryIO) -> str:
    file.seek(0)
    digest = hashlib.file_digest(file, lambda: hashlib.md5(usedforsecurity=False))  # type: ignore[arg-type]
    return base64.b64encode(digest.digest()).decode()
