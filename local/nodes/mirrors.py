"""Containers of blobs as directories of the nodes, in place of blobfuse on Azure."""

import asyncio
import hashlib
import logging
from collections import Counter, defaultdict
from pathlib import Path
from typing import NamedTuple

from azure.storage.blob.aio import ContainerClient

from confined.removal import remove
from local.left_out import blobs_left_out
from local.mirror import Mirror, MirrorError
from local.nodes.fault import Fault
from local.nodes.settings import NodeSettings
from local.nodes.volume import MountError, Volume

#: Seconds between two looks for changed files in a container that a running job has mounted.
_PUSH_EVERY = 1.0
_log = logging.getLogger(__name__)


class _Key(NamedTuple):
    account: str
    name: str
    #: "" for the copy that all of them write
    reader: str


class Mirrors:
    """Each container is mirrored once, and written back while it is held.

    Each of those that only read it has a mirror of its own, which is never written back, and goes with it.
    """

    def __init__(self, settings: NodeSettings) -> None:
        self._settings = settings
        self._mirrors: dict[_Key, Mirror] = {}
        self._holders: Counter[_Key] = Counter()
        #: A mirror that goes is gone before the next one of its directory comes.
        self._changes: defaultdict[_Key, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._pushers: dict[_Key, asyncio.Task[None]] = {}
        self._unseen: dict[_Key, str] = {}

    async def hold(self, volume: Volume) -> Path:
        """Bring the container's directory up to date, and keep it so until release. Raises MountError."""
        key = _key(volume)
        if key.reader:
            return await self._hold_copy(key, volume)
        mirror = self._mirror(key, volume)
        try:
            if self._holders[key]:
                # What another job has just deleted must not come back.
                await mirror.push()
            await self._pull(mirror, key)
        except MirrorError as error:
            raise _fault(error) from error
        self._holders[key] += 1
        if key not in self._pushers:
            self._pushers[key] = asyncio.create_task(_keep_pushing(mirror), name=f"push {volume.name}")
        return mirror.files

    async def _hold_copy(self, key: _Key, volume: Volume) -> Path:
        """One that is only read is held from here on, so that the end of another job does not close it."""
        self._holders[key] += 1
        try:
            async with self._changes[key]:
                mirror = self._mirror(key, volume)
            await self._pull(mirror, key)
        except MirrorError as error:
            await self._release_copy(key)
            raise _fault(error) from error
        except BaseException:
            await self._release_copy(key)
            raise
        return mirror.files

    def _mirror(self, key: _Key, volume: Volume) -> Mirror:
        if key not in self._mirrors:
            self._mirrors[key] = Mirror(self._directory(key), self._client(volume))
        return self._mirrors[key]

    async def _pull(self, mirror: Mirror, key: _Key) -> None:
        left_out = await mirror.pull()
        self._unseen[key] = blobs_left_out(left_out)
        if left_out:
            _log.warning("container %s: %s", key.name, self._unseen[key])

    def unseen(self, volume: Volume) -> str:
        """What the directory of a container lacks, in a sentence; "" if it is whole."""
        return self._unseen.get(_key(volume), "")

    async def release(self, volume: Volume, tries: int) -> None:
        """Write the rest back. Raises MountError if the container still refuses it after `tries` tries."""
        key = _key(volume)
        if not self._holders[key]:
            return
        if key.reader:
            await self._release_copy(key)
            return
        self._holders[key] -= 1
        if not self._holders[key]:
            self._pushers.pop(key).cancel()
        for number in range(tries):
            try:
                await self._mirrors[key].push()
                return
            except MirrorError as error:
                if number == tries - 1:
                    raise _fault(error) from error
                await asyncio.sleep(1)

    async def _release_copy(self, key: _Key) -> None:
        """One that is only read goes with its last holder."""
        self._holders[key] -= 1
        async with self._changes[key]:
            if not self._holders[key] and key in self._mirrors:
                await self._mirrors.pop(key).close()
                await asyncio.to_thread(remove, self._directory(key))

    async def close(self) -> None:
        """Stop writing back."""
        for pusher in self._pushers.values():
            pusher.cancel()
        for mirror in self._mirrors.values():
            await mirror.close()

    def _directory(self, key: _Key) -> Path:
        # No container's name has a dot.
        name = f"{key.name}.{key.reader}.ro" if key.reader else key.name
        return self._settings.blobs / key.account / name

    def _client(self, volume: Volume) -> ContainerClient:
        account = self._settings.account
        own = volume.account == account.name
        endpoint = account.blob_endpoint if own else f"https://{volume.account}.blob.core.windows.net"
        return ContainerClient(
            endpoint,
            volume.name,
            credential={"account_name": volume.account, "account_key": volume.key},
            retry_total=1,
            initial_backoff=1,
            connection_timeout=5,
            read_timeout=30,
        )


def _key(volume: Volume) -> _Key:
    reader = hashlib.sha256(volume.holder.encode()).hexdigest()[:16] if volume.read_only else ""
    return _Key(volume.account, volume.name, reader)


async def _keep_pushing(mirror: Mirror) -> None:
    while True:
        await asyncio.sleep(_PUSH_EVERY)
        try:
            await mirror.push()
        except MirrorError as error:
            _log.warning("%s; trying again", error)


def _fault(error: MirrorError) -> MountError:
    return MountError(Fault(code="BFSMountError", message=str(error)))
