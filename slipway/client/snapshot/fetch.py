"""Fetches the archive of a job, and checks that it is the one that the job recorded."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, BinaryIO

import aiohttp

from slipway.client.calls.patience import patiently
from slipway.client.calls.refusal import Unanswered
from slipway.client.calls.unreachable import why
from slipway.client.calls.wire import session
from slipway.client.snapshot.closed import ADVICE
from slipway.failure import Failure

_CHUNK = 1 << 18
_PATIENCE = aiohttp.ClientTimeout(sock_connect=30, sock_read=120)


@asynccontextmanager
async def fetched(code: Mapping[str, Any]) -> AsyncIterator[BinaryIO]:
    """The archive, open at its beginning; `code` is what the API says of it. Raises Failure."""
    with tempfile.TemporaryFile(prefix="slipway-code-") as file:
        await patiently(lambda: _fetch(code["url"], code["sha256"], code["bytes"], file))
        file.seek(0)
        yield file


async def _fetch(address: str, sha256: str, size: int, file: BinaryIO) -> None:
    file.seek(0)
    file.truncate()
    digest = hashlib.sha256()
    try:
        async with (
            # As it lies there: its uploader chose what storage says of its encoding.
            session(address, timeout=_PATIENCE, auto_decompress=False) as http,
            http.get(address, allow_redirects=False) as answer,
        ):
            if answer.status != 200:
                kind = Unanswered if answer.status >= 500 else Failure
                reason = answer.headers.get("x-ms-error-code", "")
                advice = ADVICE.get(reason, ADVICE[""]) if answer.status == 403 else "try again"
                what = f"{answer.status} {reason}".rstrip()
                raise kind(f"storage answered {what} to the request for the code; {advice}")
            async for part in answer.content.iter_chunked(_CHUNK):
                if file.tell() + len(part) > size:
                    break
                digest.update(part)
                file.write(part)
    except (aiohttp.ClientError, TimeoutError) as error:
        raise Unanswered(f"the code could not be read from storage: {why(error)}") from None
    if digest.hexdigest() != sha256:
        raise Failure("what lies in storage is not the code that the job recorded, so it was not used")
