"""Reads files of a finished job directly from storage, if the deployment provides addresses.

An address needs no key, and none is sent. Other files are read through the API.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Self

import aiohttp

from slipway.client.calls.answers import AddressPage, Blob, FileChunk, range_of
from slipway.client.calls.refusal import Changed
from slipway.client.calls.wire import session
from slipway.client.files.remote import Remote
from slipway.client.service import Service
from slipway.failure import Failure

if TYPE_CHECKING:
    from types import TracebackType

#: An address that expires within this time is requested again.
_MARGIN = timedelta(seconds=30)
_PATIENCE = aiohttp.ClientTimeout(total=120, sock_connect=5)
#: Failed reads in a row after which storage counts as unreachable.
_FAILURES = 3
#: Folders whose addresses are kept: files come in order of name, so few folders are read at once.
_FOLDERS = 32
#: Below so many bytes, computing a digest is faster than handing the bytes to a thread.
_SMALL = 1 << 18
#: After so many files of a folder, its next page is requested before it is needed.
_FEW = 16


class _NoAddress(Exception):
    """The file cannot be read directly from storage, or no longer."""


class Direct:
    """A job's files in storage."""

    def __init__(self, api: Service, job_id: str) -> None:
        self._api, self._job_id = api, job_id
        self._session: aiohttp.ClientSession | None = None
        #: in order of use, the latest last
        self._folders: dict[tuple[str, str], _Folder] = {}
        #: output directories without addresses, and files that could not be read this way
        self._without: set[str] = set()
        self._failures = 0

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for folder in self._folders.values():
            folder.close()
        if self._session is not None:
            await self._session.close()

    async def reader(self, file: Remote) -> Reader | None:
        """The reader of a file; None if it must be read through the API."""
        usable = file.size and not self._without & {file.directory, file.name}
        blob = await self.find(file) if usable and self._failures < _FAILURES else None
        return Reader(self, file, blob) if blob else None

    async def find(self, file: Remote, *, anew: bool = False) -> Blob | None:
        """The file's blob, if it matches what the cluster lists; `anew`: its address has expired."""
        path, _, name = file.path.rpartition("/")
        try:
            blob = await self._folder(file.directory, path, anew=anew).find(name)
        except _NoAddress:
            self._without.add(file.directory)
            return None
        except Failure:  # such as from a deployment that does not know this call yet
            self._failures = _FAILURES
            return None
        # An older blob is from before the job wrote the file again.
        current = blob and blob.size == file.size and int(file.modified or 0) <= blob.modified
        return blob if current else None

    def _folder(self, directory: str, path: str, *, anew: bool) -> _Folder:
        folder = self._folders.pop((directory, path), None)
        if anew and folder is not None:
            folder.close()
        if anew or folder is None:
            folder = _Folder(self._api, self._job_id, directory, path)
        self._folders[directory, path] = folder
        if len(self._folders) > _FOLDERS:
            self._folders.pop(next(iter(self._folders))).close()
        return folder

    async def get(self, url: str, first: int, last: int, tag: str) -> FileChunk:
        """A range of a blob. Raises Changed, _NoAddress."""
        if self._session is None:
            self._session = session(url, timeout=_PATIENCE)
        headers = {"Range": f"bytes={first}-{last}", "Accept-Encoding": "identity"}
        headers |= {"If-Match": tag} if tag else {}
        try:
            async with self._session.get(url, headers=headers, allow_redirects=False) as answer:
                if answer.status == 412:
                    raise Changed("the file has changed")
                # Not joined: copying everything would cost as much as writing it.
                parts = [part async for part in answer.content.iter_any()] if answer.status == 206 else []
                count = sum(map(len, parts))
                begins, size = range_of(answer, count)
                whole = answer.headers.get("x-ms-blob-content-md5") if count == size else None
                complete = begins == first and count == min(last + 1, size) - first
                if answer.status != 206 or not complete or not (whole is None or await _fits(parts, whole)):
                    raise Failure(f"storage answered {answer.status}")
        except Changed:
            raise
        except (aiohttp.ClientError, TimeoutError, ValueError, Failure) as error:
            self._failures += 1
            raise _NoAddress from error
        self._failures = 0
        return FileChunk(parts, size, answer.headers.get("ETag", ""))

    def give_up(self, file: Remote) -> None:
        """Read this file through the API from now on."""
        self._without.add(file.name)


class Reader:
    """One file, read from storage."""

    def __init__(self, direct: Direct, file: Remote, blob: Blob) -> None:
        self._direct, self._file, self._blob = direct, file, blob

    async def read(self, first: int, last: int, tag: str) -> FileChunk:
        """A range. Raises Changed, also if it can no longer be read, so that the caller starts again."""
        with suppress(_NoAddress):
            return await self._direct.get(self._blob.url, first, last, tag)
        blob = await self._direct.find(self._file, anew=True)
        if blob is not None:
            self._blob = blob
            with suppress(_NoAddress):
                return await self._direct.get(blob.url, first, last, tag)
        self._direct.give_up(self._file)
        raise Changed(f"{self._file.name}: storage does not answer with it any more")


class _Folder:
    """Addresses of one folder, page by page in order of name; the last two pages are kept.

    The next page is requested while files of the last one are read, unless few files are needed.
    """

    def __init__(self, api: Service, job_id: str, directory: str, path: str) -> None:
        self._api, self._where = api, (job_id, directory, path or ".")
        self._pages: deque[AddressPage] = deque(maxlen=2)
        self._asking = asyncio.Lock()
        self._ahead: asyncio.Task[AddressPage | None] | None = None
        self._finds = 0

    async def find(self, name: str) -> Blob | None:
        """The blob of a file; cheap when names come in order. Raises _NoAddress, Failure."""
        async with self._asking:
            soon = datetime.now(UTC) + _MARGIN
            if self._pages and (name < self._pages[0].first or self._pages[0].expires < soon):
                self._pages.clear()
                self.close()
                self._ahead = None
            if not self._pages:
                await self._read("")
            while self._pages[-1].next and name > self._pages[-1].last:
                await self._read(self._pages[-1].next)
            self._finds += 1
            following = self._pages[-1].next
            if following and self._finds > _FEW and self._ahead is None:
                self._ahead = asyncio.create_task(self._api.addresses(*self._where, following))
            return next((page.blobs[name] for page in self._pages if name in page.blobs), None)

    async def _read(self, after: str) -> None:
        ahead, self._ahead = self._ahead, None
        page = await (ahead or self._api.addresses(*self._where, after))
        if page is None:
            raise _NoAddress
        self._pages.append(page)

    def close(self) -> None:
        """Stop fetching pages."""
        if self._ahead is not None:
            self._ahead.add_done_callback(lambda task: task.cancelled() or task.exception())
            self._ahead.cancel()


async def _fits(parts: Sequence[bytes], md5: str) -> bool:
    """Whether the bytes match the digest in storage. A long computation runs in a thread."""
    if sum(map(len, parts)) < _SMALL:
        return md5 == _md5(parts)
    return md5 == await asyncio.to_thread(_md5, parts)


def _md5(parts: Sequence[bytes]) -> str:
    digest = hashlib.md5(usedforsecurity=False)
    for part in parts:
        digest.update(part)
    return base64.b64encode(digest.digest()).decode()
