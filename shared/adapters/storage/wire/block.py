"""A write of blobs that leaves nothing to see: a block without the blob that would hold it."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import quote

if TYPE_CHECKING:
    from shared.adapters.storage.wire.rest import Rest

#: A blob that never is, and the name of its block, in base64: each block takes the place of the last one.
_BLOB, _BLOCK = "slipway-health", "MDAw"


async def stage_block(rest: Rest, container: str) -> bool:
    """Whether the container is there and took a block, which storage drops within a week.

    No list shows it, no event tells of it, and no deleted version of it is kept. Raises Unavailable.
    """
    path, query = f"/{quote(container)}/{_BLOB}", {"comp": "block", "blockid": _BLOCK}
    answer = await rest.call("PUT", path, query, body=b".", expected=(HTTPStatus.NOT_FOUND,))
    return answer.status != HTTPStatus.NOT_FOUND
