"""A blob container as a directory: pulled when it is mounted; changes are pushed back."""

import asyncio
import errno
import json
import logging
import os
import tempfile
from collections.abc import Coroutine, Iterator
from contextlib import suppress
from pathlib import Path, PurePosixPath
from stat import S_ISDIR, S_ISREG

from azure.core.exceptions import AzureError, ResourceExistsError, ResourceNotFoundError
from azure.storage.blob import BlobProperties
from azure.storage.blob.aio import ContainerClient

from confined import Confined
from confined.way import Refused
from local.names import is_name

_log = logging.getLogger(__name__)
_PARALLEL = 8
#: Characters of a blob's name.
_LONGEST = 1024
_FOLDER_MARK = "hdi_isfolder"
#: A job has replaced the file by something else, which is kept.
_IN_THE_WAY = (Refused, NotADirectoryError)


class MirrorError(Exception):
    """The container cannot be read; the message names it and the reason, without an address."""


class Mirror:
    """One container and its directory. All jobs that mount it share it: each file is fetched once.

    The manifest remembers of each file what container and directory had when last they were the same: by it
    we know which side has changed. A file that changed on both sides keeps what the job wrote.
    """

    def __init__(self, root: Path, client: ContainerClient) -> None:
        self.files = root / "files"
        self._manifest_file = root / "manifest.json"
        self._client = client
        self._lock = asyncio.Lock()
        #: name → (ETag, size, mtime in ns)
        self._manifest: dict[str, tuple[str, int, int]] = {}
        #: Files that were seen here and may be missed: only these are deleted from the container.
        self._present: set[str] = set()
        self._loaded = False
        #: Files that stay here, because the blobs of their names are in the archive tier.
        self._unsent: set[str] = set()

    async def pull(self) -> list[str]:
        """Fetch new blobs of the container; returns the names of those that are left out. Raises MirrorError.

        They have names that are not paths, or are in the archive tier, in which nothing can read them: as
        with blobfuse, these stop no other.
        """
        async with self._lock:
            self._load()
            try:
                remote = await self._list()
                left_out = [name for name, blob in remote.items() if not _is_path(name) or _is_archived(blob)]
                for name in left_out:
                    del remote[name]
                await self._fetch_all(remote)
                self._drop_deleted(remote)
                self._present = set(await asyncio.to_thread(lambda: dict(self._scan([]))))
                self._store()
            except (AzureError, OSError) as error:
                raise MirrorError(self._explain(error)) from error
            return left_out

    async def push(self) -> int:
        """Upload the new files of the directory; returns how many. Raises MirrorError."""
        async with self._lock:
            try:
                return await self._push()
            except (AzureError, OSError) as error:
                raise MirrorError(self._explain(error)) from error

    async def close(self) -> None:
        """Close the connection to storage."""
        await self._client.close()

    async def _push(self) -> int:
        unread: list[OSError] = []
        files = await asyncio.to_thread(lambda: dict(self._scan(unread)))
        changed = [name for name, stat in files.items() if self._manifest.get(name, ("", 0, 0))[1:] != stat]
        deleted = [name for name in self._present - files.keys() if name in self._manifest]
        self._present = set(files)
        try:
            await _in_parallel([self._send(name, files[name]) for name in changed])
            await _in_parallel([self._delete(name) for name in deleted])
        except (AzureError, OSError):
            self._present |= set(deleted)
            raise
        finally:
            if changed or deleted:
                self._store()
        if unread:
            raise unread[0]
        return len(changed) + len(deleted)

    async def _list(self) -> dict[str, BlobProperties]:
        files = {}
        async for blob in self._client.list_blobs(include=["metadata"]):
            if (blob.metadata or {}).get(_FOLDER_MARK) == "true":
                if _is_path(blob.name):
                    self._make(blob.name)
            else:
                files[blob.name] = blob
        # A name that is also the folder of another cannot be in a directory.
        folders = {str(parent) for name in files for parent in PurePosixPath(name).parents}
        return {name: blob for name, blob in files.items() if name not in folders}

    async def _fetch_all(self, remote: dict[str, BlobProperties]) -> None:
        self.files.mkdir(parents=True, exist_ok=True)
        stale = []
        for name, blob in remote.items():
            try:
                own = self._stat(name)
            except PermissionError:
                continue
            entry = self._manifest.get(name)
            modified = int(blob.last_modified.timestamp()) * 10**9
            if own is not None and entry is None and own == (blob.size, modified):
                # Fetched by an earlier emulator that died before it wrote the manifest.
                self._manifest[name] = (_bare(blob.etag), *own)
            elif own is None or (entry is not None and entry[1:] == own and entry[0] != _bare(blob.etag)):
                stale.append(self._fetch(blob, modified))
        await _in_parallel(stale)

    async def _fetch(self, blob: BlobProperties, modified: int) -> None:
        try:
            stream = await self._client.download_blob(blob.name, max_concurrency=2)
        except ResourceNotFoundError:  # deleted since it was listed
            return
        except ResourceExistsError:  # a state in which it cannot be read, since it was listed
            return
        handle, temporary = tempfile.mkstemp(dir=self.files.parent)
        with os.fdopen(handle, "wb") as out:
            await stream.readinto(out)
        if (size := self._put_in_place(Path(temporary), blob.name, modified)) is not None:
            self._manifest[blob.name] = (_bare(stream.properties.etag), size, modified)

    def _drop_deleted(self, remote: dict[str, BlobProperties]) -> None:
        for name in self._manifest.keys() - remote.keys():
            with suppress(PermissionError):
                if self._stat(name) == self._manifest[name][1:]:
                    self._unlink(name)
                del self._manifest[name]

    async def _send(self, name: str, stat: tuple[int, int]) -> None:
        try:
            with Confined.from_root(self.files) as root, root.file(name, links=False) as content:
                blob = self._client.get_blob_client(name)
                answer = await blob.upload_blob(content, length=stat[0], overwrite=True)
        except (*_IN_THE_WAY, FileNotFoundError, IsADirectoryError, ValueError):
            return  # gone, another thing or shorter than a moment ago: the next round sees what it is
        except ResourceExistsError as error:
            if getattr(error, "error_code", None) != "BlobArchived":
                raise
            if name not in self._unsent:  # each round tries again
                self._unsent.add(name)
                container = self._client.container_name
                _log.warning(
                    "container %s: %s is in the archive tier, and cannot be replaced", container, name
                )
            return
        self._manifest[name] = (_bare(answer["etag"]), *stat)

    async def _delete(self, name: str) -> None:
        with suppress(ResourceNotFoundError):
            await self._client.delete_blob(name)
        self._manifest.pop(name, None)

    def _scan(self, unread: list[OSError]) -> Iterator[tuple[str, tuple[int, int]]]:
        """The files by name. What is in a folder that cannot be read counts as unchanged."""
        waiting, top = [self.files], self.files.stat().st_ino
        while waiting:
            folder = waiting.pop()
            try:
                entries = _entries(folder)
            except OSError as error:
                if folder == self.files:
                    raise
                if not isinstance(error, FileNotFoundError):
                    unread.append(error)
                    below = f"{folder.relative_to(self.files).as_posix()}/"
                    yield from ((n, one[1:]) for n, one in self._manifest.items() if n.startswith(below))
                continue
            for path, status in entries:
                name = path.relative_to(self.files).as_posix()
                if not _is_path(name):
                    continue  # with such a blob no list of the container could be read any more
                if S_ISDIR(status.st_mode):
                    waiting.append(path)
                elif S_ISREG(status.st_mode):
                    yield name, (status.st_size, status.st_mtime_ns)
        if self.files.stat().st_ino != top:  # moved away meanwhile: its files are not deleted
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))

    def _make(self, name: str) -> None:
        self.files.mkdir(parents=True, exist_ok=True)
        with suppress(*_IN_THE_WAY), Confined.from_root(self.files) as root, root.make_directory(name):
            pass

    def _put_in_place(self, temporary: Path, name: str, modified: int) -> int | None:
        """Give a fetched file its time and its name at once, so that no reader sees a part of it; its size.

        None where a job has put a link in its way, or a file in the place of its directory.
        """
        temporary.chmod(0o755)
        os.utime(temporary, ns=(modified, modified))
        size = temporary.stat().st_size
        folder, _, own = name.rpartition("/")
        try:
            with Confined.from_root(self.files) as root, root.make_directory(folder) as directory:
                os.replace(temporary, own, dst_dir_fd=directory.fd)
        except _IN_THE_WAY:
            temporary.unlink()
            return None
        return size

    def _stat(self, name: str) -> tuple[int, int] | None:
        with suppress(FileNotFoundError, *_IN_THE_WAY), Confined.from_root(self.files) as root:
            parent, own = root.parent(name, links=False)
            with parent:
                status = os.stat(own, dir_fd=parent.fd, follow_symlinks=False)
            return status.st_size, status.st_mtime_ns
        return None

    def _unlink(self, name: str) -> None:
        with Confined.from_root(self.files) as root:
            parent, own = root.parent(name, links=False)
            with parent:
                os.unlink(own, dir_fd=parent.fd)

    def _load(self) -> None:
        if not self._loaded and self._manifest_file.exists():
            saved = json.loads(self._manifest_file.read_text())
            self._manifest = {name: (etag, size, modified) for name, (etag, size, modified) in saved.items()}
        self._loaded = True

    def _store(self) -> None:
        temporary = self._manifest_file.with_suffix(".new")
        temporary.write_text(json.dumps(self._manifest))
        temporary.replace(self._manifest_file)

    def _explain(self, error: Exception) -> str:
        code = getattr(error, "error_code", None) or getattr(error, "strerror", None) or "it does not answer"
        container = f"{self._client.container_name} of {self._client.account_name}"
        return f"The container {container} cannot be used: {code}"


async def _in_parallel(work: list[Coroutine[None, None, None]]) -> None:
    slots = asyncio.Semaphore(_PARALLEL)

    async def one(item: Coroutine[None, None, None]) -> None:
        async with slots:
            await item

    results = await asyncio.gather(*(one(item) for item in work), return_exceptions=True)
    if errors := [one for one in results if isinstance(one, BaseException)]:
        raise errors[0]


def _entries(folder: Path) -> list[tuple[Path, os.stat_result]]:
    """What is in a directory. Raises OSError."""
    result = []
    with os.scandir(folder) as entries:
        for entry in entries:
            with suppress(FileNotFoundError):
                result.append((Path(entry.path), entry.stat(follow_symlinks=False)))
    return result


def _bare(etag: str) -> str:
    """The ETag as lists show it: elsewhere the SDK leaves its quotation marks on."""
    return etag.strip('"')


def _is_archived(blob: BlobProperties) -> bool:
    return bool(blob.blob_tier == "Archive")


def _is_path(name: str) -> bool:
    return len(name) <= _LONGEST and all(map(is_name, name.split("/")))
