"""Lists folders of a job through the API: several at once, each page by page."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

from slipway.client.calls.answers import FilePage
from slipway.client.calls.patience import patiently
from slipway.client.calls.refusal import Unanswered
from slipway.client.files.arriving import Arriving
from slipway.client.files.output import PARALLEL
from slipway.client.files.patterns import may_begin
from slipway.client.service import Service
from slipway.failure import Failure

#: An entry of a list, and what a complete list shows of a folder.
Entry = dict[str, Any]
Shown = tuple[tuple[Any, ...], ...]


@dataclass(frozen=True)
class Folder:
    """A folder of an output directory, and the lists of its parent folders, outermost first."""

    directory: str
    path: str
    above: tuple[Shown, ...] = ()

    @property
    def name(self) -> str:
        """Its name for people."""
        return f"{self.directory}/{self.path}".rstrip("/")

    def path_of(self, entry: Entry) -> str:
        """The path of one of its entries."""
        return f"{self.path}/{entry['name']}".lstrip("/")

    def may_hold(self, patterns: Sequence[str]) -> bool:
        """Whether a file that matches one of the patterns may be in it or below it."""
        return not (patterns and self.path) or any(
            may_begin(path, pattern) for pattern in patterns for path in (self.name, self.path)
        )


class FolderList(NamedTuple):
    """The list of a folder as it arrives; `task` returns why it is incomplete, or ""."""

    folder: Folder
    pages: Arriving[list[Entry]]
    task: asyncio.Task[str]


class Reader:
    """Lists folders, several at once, each page by page."""

    def __init__(self, api: Service, job_id: str) -> None:
        self._api, self._job_id, self._gate = api, job_id, asyncio.Semaphore(PARALLEL)

    @asynccontextmanager
    async def reading(self, folders: Sequence[Folder]) -> AsyncIterator[list[FolderList]]:
        """List these folders; stops at the end of the block."""
        lists = [self._begin(folder) for folder in folders]
        try:
            yield lists
        finally:
            for one in lists:
                one.task.cancel()
            await asyncio.gather(*(one.task for one in lists), return_exceptions=True)

    def _begin(self, folder: Folder) -> FolderList:
        pages = Arriving[list[Entry]]()
        return FolderList(folder, pages, asyncio.create_task(self._read(folder, pages)))

    async def _read(self, folder: Folder, pages: Arriving[list[Entry]]) -> str:
        async def ask() -> FilePage:
            path = folder.path or "."
            return await self._api.files_page(self._job_id, folder.directory, path, after)

        after, ends = "", False
        try:
            while not ends:
                async with self._gate:
                    page = await patiently(ask)
                pages.add([page.files])
                after, ends = page.next, not page.next
        except Unanswered:
            raise
        except Failure as error:
            return str(error)
        finally:
            pages.close()
        return ""
