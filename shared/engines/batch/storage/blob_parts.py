"""A part of a blob, as a part of a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shared.core.engine import FileChunk
from shared.core.errors import no_file
from shared.engines.batch.storage.access import blob_errors

if TYPE_CHECKING:
    from azure.storage.blob.aio import BlobClient


async def part_of(blob: BlobClient, name: str, offset: int, limit: int) -> FileChunk:
    """The bytes from an offset on, none at or after the end. Raises NotFound, which has the file's name."""
    from azure.core.exceptions import HttpResponseError, ResourceNotFoundError

    async with blob_errors(name):
        try:
            stream = await blob.download_blob(offset=offset, length=limit)
            data = await stream.readall()
            size = int(str(stream.properties.content_range).rpartition("/")[2])  # of the whole blob
        except ResourceNotFoundError:
            raise no_file(name, is_directory=False) from None
        except HttpResponseError as error:
            if error.status_code != 416:
                raise
            data, size = b"", (await blob.get_blob_properties()).size
    end = offset + len(data)
    return FileChunk(data, end, max(size, end if data else 0), "")
