"""The digest of what storage has under the name of an archive, which a client may have sent."""

from __future__ import annotations

import hashlib

from shared.core.code.snapshots import Snapshots


async def digest_of(snapshots: Snapshots, blob: str) -> str:
    """The SHA-256 of its bytes, in hexadecimal digits; of none if it is not there. Raises Unavailable."""
    digest = hashlib.sha256()
    async for part in snapshots.read(blob):
        digest.update(part)
    return digest.hexdigest()
