"""A write of blobs that leaves nothing to see: a block without the blob that would hold it."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import quote

from shared.adapters.storage.wire.connection import Account, storage_errors

if TYPE_CHECKING:
    from shared.adapters.storage.wire.rest import Rest

#: A blob that never is, and the name of its block, in base64: each block takes the place of the last one.
_BLOB, _BLOCK = "slipway-health", "MDAw"


async def try_blob(account: Account, container: str) -> None:
    """A block that is never committed; makes the container if it is missing. Raises Unavailable."""
    if not await stage_block(account.lists, container):
        async with storage_errors():
            await make_container(account, container)


async def make_container(account: Account, name: str) -> None:
    """Create a container, unless it is there."""
    from azure.core.exceptions import ResourceExistsError

    try:
        await account.blobs.create_container(name)
    except ResourceExistsError:
        return


async def stage_block(rest: Rest, container: str) -> bool:
    """Whether the container is there and took a block, which storage drops within a week.

    No list shows it, no event tells of it, and no deleted version of it is kept. Raises Unavailable.
    """
    path, query = f"/{quote(container)}/{_BLOB}", {"comp": "block", "blockid": _BLOCK}
    answer = await rest.call("PUT", path, query, body=b".", expected=(HTTPStatus.NOT_FOUND,))
    return answer.status != HTTPStatus.NOT_FOUND
