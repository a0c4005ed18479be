"""Blob containers on the nodes, by copying, in place of blobfuse on Azure."""

import asyncio
import logging
from collections.abc import AsyncIterator, Collection, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path

from azure.core.exceptions import ResourceExistsError
from azure.storage.blob.aio import ContainerClient

from local.left_out import blobs_left_out
from local.mirror import Mirror, MirrorError

_log = logging.getLogger(__name__)
_EVERY = 1.0  # seconds


def directory(shared: Path, container: str) -> Path:
    """Where the nodes see a container."""
    return shared / "blobs" / container / "files"


async def make_container(connection_string: str, name: str) -> str:
    """The address of a container, which is made if it is missing."""
    async with ContainerClient.from_connection_string(connection_string, name) as client:
        with suppress(ResourceExistsError):
            await client.create_container()
        return str(client.url)


@asynccontextmanager
async def mirrored(
    shared: Path, connection_string: str, names: Iterable[str], read: Collection[str] = ()
) -> AsyncIterator[None]:
    """Keep containers and their directories the same for the length of the block, within a second or two.

    Of those in `read` only the directory follows, as of a mount that is read-only. Raises MirrorError when
    one of them cannot be read.
    """
    async with AsyncExitStack() as ends:
        for name in (*names, *read):
            client = ContainerClient.from_connection_string(connection_string, name)
            mirror = Mirror(directory(shared, name).parent, client)
            ends.push_async_callback(mirror.close)
            lacks = _logged(name, "", await mirror.pull())
            task = asyncio.create_task(
                _keep_same(mirror, name, lacks, pushes=name not in read), name=f"container {name}"
            )
            ends.push_async_callback(_cancelled, task)
        yield


def _logged(name: str, before: str, left_out: Sequence[str]) -> str:
    """What the container's directory lacks, which is logged when it has changed."""
    lacks = blobs_left_out(left_out)
    if lacks and lacks != before:
        _log.warning("container %s: %s", name, lacks)
    return lacks


async def _keep_same(mirror: Mirror, name: str, lacks: str, *, pushes: bool) -> None:
    while True:
        await asyncio.sleep(_EVERY)
        try:
            if pushes:
                await mirror.push()
            lacks = _logged(name, lacks, await mirror.pull())
        except MirrorError as error:
            _log.warning("%s; trying again", error)


async def _cancelled(task: asyncio.Task[None]) -> None:
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
