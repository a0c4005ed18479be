"""Files of a finished job, read from storage itself where the deployment gives addresses for that.

An address needs no key, and none is sent there. What cannot be read that way is read through the API.
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

from slipway.client.answers import AddressPage, Blob, FileChunk, range_of
from slipway.client.deployment import proxy_for
from slipway.client.files.remote import Remote
from slipway.client.refusal import Changed
from slipway.client.service import Service
from slipway.failure import Failure

if TYPE_CHECKING:
    from types import TracebackType

#: An address that is valid for less than this is asked for again.
_MARGIN = timedelta(seconds=30)
_PATIENCE = aiohttp.ClientTimeout(total=120, sock_connect=5)
#: Reads in a row that fail, after which storage is taken to be out of reach from here.
_FAILURES = 3
#: Folders whose addresses are kept: files come in the order of their names, so few are read at once.
_FOLDERS = 32
#: Bytes of which the digest takes less than to hand them to a thread.
_SMALL = 1 << 18
#: Files of a folder after which its next page is asked for before it is needed.
_FEW = 16


class _NoAddress(Exception):
    """The file cannot be read from storage itself, or not any more."""


class Direct:
    """What a job wrote, as far as storage has it and answers."""

    def __init__(self, api: Service, job_id: str) -> None:
        self._api, self._job_id = api, job_id
        self._session: aiohttp.ClientSession | None = None
        #: the one that was used last at the end
        self._folders: dict[tuple[str, str], _Folder] = {}
        #: output directories without addresses, and files that were begun that way in vain
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
        """What reads a file; None where it is to be read through the API."""
        usable = file.size and not self._without & {file.directory, file.name}
        blob = await self.find(file) if usable and self._failures < _FAILURES else None
        return Reader(self, file, blob) if blob else None

    async def find(self, file: Remote, *, anew: bool = False) -> Blob | None:
        """What storage has of a file, if that is what the cluster lists; `anew`: its address has expired."""
        path, _, name = file.path.rpartition("/")
        try:
            blob = await self._folder(file.directory, path, anew=anew).find(name)
        except _NoAddress:
            self._without.add(file.directory)
            return None
        except Failure:  # such as a deployment that is older than this call
            self._failures = _FAILURES
            return None
        # An older blob is one that was not written when the job wrote the file again.
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
            self._session = aiohttp.ClientSession(timeout=_PATIENCE, proxy=proxy_for(url))
        headers = {"Range": f"bytes={first}-{last}", "Accept-Encoding": "identity"}
        headers |= {"If-Match": tag} if tag else {}
        try:
            async with self._session.get(url, headers=headers, allow_redirects=False) as answer:
                if answer.status == 412:
                    raise Changed("the file has changed")
                # Not joined: a copy of everything costs as much as to write it.
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
        """A range. Raises Changed: also where it cannot be read any more, so that it is begun anew."""
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
    """Addresses of one folder, page by page in the order of names; the last two pages are kept.

    The next page is asked for while files of the last one are read, unless few files are wanted.
    """

    def __init__(self, api: Service, job_id: str, directory: str, path: str) -> None:
        self._api, self._where = api, (job_id, directory, path or ".")
        self._pages: deque[AddressPage] = deque(maxlen=2)
        self._asking = asyncio.Lock()
        self._ahead: asyncio.Task[AddressPage | None] | None = None
        self._finds = 0

    async def find(self, name: str) -> Blob | None:
        """The blob of a file; cheap for names in their order. Raises _NoAddress, Failure."""
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
    """Whether the bytes are those of the digest that storage keeps; where it takes long, others go on."""
    if sum(map(len, parts)) < _SMALL:
        return md5 == _md5(parts)
    return md5 == await asyncio.to_thread(_md5, parts)


def _md5(parts: Sequence[bytes]) -> str:
    digest = hashlib.md5(usedforsecurity=False)
    for part in parts:
        digest.update(part)
    return base64.b64encode(digest.digest()).decode()
