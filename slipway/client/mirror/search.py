"""Finds the event files of a job again and again, with a bounded number of requests at a time."""

from collections import deque
from collections.abc import Iterable, Sequence
from functools import partial
from typing import NamedTuple

from slipway.client.calls.patience import patiently
from slipway.client.calls.refusal import Unanswered
from slipway.client.files.arriving import complete
from slipway.client.files.folders import Entry, Folder
from slipway.client.files.remote import Remote
from slipway.client.files.walk import Walk
from slipway.client.mirror.allowance import Allowance
from slipway.client.service import Service
from slipway.failure import Failure

#: What the name of an event file has in it, for TensorBoard as well.
MARK = "tfevents"
_PATTERN = (f"*{MARK}*",)
#: Folders of one pass, and pages of a folder, that are listed.
_MOST_FOLDERS, _MOST_PAGES = 2_000, 8


class Findings(NamedTuple):
    """The event files of the folders that were listed; whether a pass through all folders has ended."""

    files: Sequence[Remote]
    whole: bool


class Search:
    """The folders of one attempt: those with event files are listed each time, the others in turn."""

    def __init__(self, api: Service, job_id: str, directories: Sequence[str]) -> None:
        self._api, self._job_id, self._directories = api, job_id, directories
        #: folders with event files, the one that was listed last at the end
        self._with_events = dict[str, Folder]()
        self._ahead, self._walk = deque[Folder](), Walk(_PATTERN)
        #: what cannot be read, with the reasons
        self.unread = list[tuple[str, str]]()

    def begin(self) -> None:
        """Begin another pass."""
        self._ahead = deque(Folder(directory, "") for directory in self._directories)
        self._walk = Walk(_PATTERN)

    async def list_some(self, allowance: Allowance) -> Findings:
        """List folders as far as the allowance goes. Raises Unanswered."""
        files = dict[str, Remote]()
        lists = await self._known_folders(allowance, files)
        if not self._ahead:
            self.begin()
        while self._ahead:
            folder = self._ahead[0]
            pages = lists[folder.name] if folder.name in lists else await self._list(folder, allowance)
            if pages is None:
                return Findings([*files.values()], whole=False)
            self._ahead.popleft()
            count = len(self._walk.files)
            self._ahead += await self._walk.take(folder, complete(pages))
            if new := _named(self._walk.files[count:]):
                self._with_events[folder.name] = folder
                files |= new
            if self._walk.count > _MOST_FOLDERS and self._ahead:
                self.unread.append((self._ahead[0].name, "the job has too many folders; it was not listed"))
                self._ahead.clear()
        self.unread += ((name, reason) for name, reason in self._walk.unread if MARK in name)
        return Findings([*files.values()], whole=True)

    async def _known_folders(
        self, allowance: Allowance, files: dict[str, Remote]
    ) -> dict[str, list[list[Entry]]]:
        """List folders with event files, for at most half of the allowance, so that others have a turn."""
        lists, half = dict[str, list[list[Entry]]](), allowance.remaining // 2
        for name, folder in [*self._with_events.items()]:
            pages = await self._list(folder, allowance) if allowance.remaining > half else None
            if pages is None:
                break
            del self._with_events[name]
            self._with_events[name] = folder
            lists[name], walk = pages, Walk(_PATTERN)
            for page in pages:
                walk.note(folder, page)
            files |= _named(walk.files)
        return lists

    async def _list(self, folder: Folder, allowance: Allowance) -> list[list[Entry]] | None:
        """The entries of a folder, page by page; None if the allowance does not suffice."""
        pages, after = list[list[Entry]](), ""
        while allowance.take():
            where = (folder.directory, folder.path or ".", after)
            try:
                page = await patiently(partial(self._api.files_page, self._job_id, *where))
            except Unanswered:
                raise
            except Failure as failure:
                self.unread.append((folder.name, str(failure)))
                return pages
            pages.append(page.files)
            after = page.next
            if not after or len(pages) == _MOST_PAGES:
                return pages
        return None


def _named(files: Iterable[Remote]) -> dict[str, Remote]:
    """The event files among these; the name of a folder makes none of what is in it."""
    return {file.name: file for file in files if MARK in file.path.rpartition("/")[2]}
