"""Writes a blob in place of a known version, so that a repeated request writes it once.

A blob that is written again has another version, and a dropped folder with another version of a file is
another drop: after a lost answer, an unconditional write could run its job twice.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader, BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shared.core.visible import escaped
from shared.jobspec import name_flaw
from slipway.client.snapshot.ignore_file import NAME as IGNORE_FILE
from slipway.failure import Failure

if TYPE_CHECKING:
    from azure.storage.blob.aio import BlobClient

#: How often a version of another writer is replaced.
_TRIES = 5
_CHANGED = "{} changed while it was sent; send it again when it is complete"
#: Statuses of a condition that is not met: the blob exists, or has another version.
_CONFLICTS = (409, 412)


async def replace_blob(
    blob: "BlobClient", data: BytesIO | BufferedReader, size: int, md5: bytes, version: str
) -> None:
    """Write a blob in place of `version` ("": there is none). The last writer wins. Raises Failure."""
    from azure.core import MatchConditions
    from azure.core.exceptions import HttpResponseError, ResourceNotFoundError
    from azure.storage.blob import ContentSettings

    for _ in range(_TRIES):
        condition: dict[str, Any] = {"overwrite": False}
        if version:
            same = {"etag": f'"{version}"', "match_condition": MatchConditions.IfNotModified}
            condition = {"overwrite": True, **same}
        data.seek(0)
        try:
            settings = ContentSettings(content_md5=bytearray(md5))
            await blob.upload_blob(data, length=size, content_settings=settings, **condition)
            return
        except HttpResponseError as error:
            if error.status_code not in _CONFLICTS:
                raise
        try:
            now = await blob.get_blob_properties()
        except ResourceNotFoundError:
            version = ""
            continue
        if (now.size, bytes(now.content_settings.content_md5 or b"")) == (size, md5):
            return  # by this request, whose first answer was lost
        version = version_of(now.etag)
    raise Failure(f"{blob.container_name}/{blob.blob_name} is written by others all the time; send it again")


@contextmanager
def sending(file: Path, before: os.stat_result | None) -> Iterator[None]:
    """Send a file in this block. Raises Failure, which names it, if it changes or cannot have its name.

    `before`: its status before it was first read; None for one that was read whole before it is sent.

    Storage would only answer that the request is wrong, or wait for bytes that do not come.
    """
    from azure.core.exceptions import AzureError

    try:
        yield
    except AzureError as error:
        if _is_changed(file, before):
            raise Failure(_CHANGED.format(file)) from error
        if flaw := name_flaw(file.name):
            raise unsendable(file, flaw) from error
        raise
    if _is_changed(file, before):
        raise Failure(_CHANGED.format(file))


def unsendable(file: Path, flaw: str) -> Failure:
    """The failure of a file for the flaw of its name, with what to do."""
    remedy = f"give it another name, or leave it out by a line of {IGNORE_FILE}"
    return Failure(f"{escaped(str(file))} cannot be sent: its name {flaw}; {remedy}")


def _is_changed(file: Path, before: os.stat_result | None) -> bool:
    if before is None:
        return False
    try:
        now = file.stat()
    except OSError:
        return True
    return (now.st_size, now.st_mtime_ns) != (before.st_size, before.st_mtime_ns)


def version_of(etag: object) -> str:
    """An ETag without its quotes."""
    return str(etag).strip('"')
