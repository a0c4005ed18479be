"""A cache of the signed addresses of files, kept while they are valid. They are secrets: never shown.

Batch AI only returns the address of a file in a list of its whole folder. So one list also serves the files
that are likely to be requested next, and a file that was not in it is not searched for again at once.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

from shared.core.errors import no_file
from shared.core.pacing.shared_call import SharedCall

#: Seconds for which an address is reused; the service signs them for an hour.
_FRESH = 1800.0
#: A missing file is searched for again after this multiple of the time that its list took; and the most
#: seconds.
_PAUSE, _LONGEST = 20.0, 300.0


class Bounds(NamedTuple):
    """How much is kept."""

    #: addresses of one folder, about 10 MB: from the requested one on, in the order of downloads
    of_folder: int = 20_000
    #: folders; fewer if they are large
    folders: int = 200
    addresses: int = 60_000
    #: missing files of one folder
    absences: int = 100


BOUNDS = Bounds()


class Listed(NamedTuple):
    """A page of a list: name → address; `next` is the `after` of the next page, or ""."""

    urls: Mapping[str, str]
    next: str = ""
    directories: frozenset[str] = frozenset()


def listed_of(entries: Sequence[Mapping[str, Any]], following: str) -> Listed:
    """The page for the entries of a list."""
    urls = {file["name"]: file["downloadUrl"] for file in entries if file.get("downloadUrl")}
    directories = (file["name"] for file in entries if file.get("fileType") == "directory")
    return Listed(urls, following, frozenset(directories))


#: Returns the next page of a folder after a position; "" is the beginning.
List = Callable[[str], Awaitable[Listed]]


class _Absence(NamedTuple):
    """When a missing file may be searched for again, and whether a directory has its name."""

    until: float
    is_directory: bool


@dataclass
class _Folder:
    urls: dict[str, str] = field(default_factory=dict)
    until: float = 0.0
    #: by name, for names that are not files there
    absences: dict[str, _Absence] = field(default_factory=dict)
    #: the list that is being read
    listing: SharedCall[Listed] | None = None


class Addresses:
    """Addresses by folder, the most recently used one last; `clock` in seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic, bounds: Bounds = BOUNDS) -> None:
        self._clock = clock
        self._bounds = bounds
        self._folders: dict[str, _Folder] = {}

    async def find(self, folder: str, name: str, list_folder: List, path: str = "") -> str:
        """The address of a file; lists its folder if needed.

        Raises NotFound with the `path`, by default the name, and any error of the list.
        """
        entry = self._folders.pop(folder, None) or _Folder()
        self._folders[folder] = entry
        while not (url := self._address(entry, name, path)):
            if (listing := entry.listing) is None:
                entry.listing = listing = SharedCall(partial(self._list, entry, name, list_folder))
                listed = await listing.result()
                if name not in listed.urls:
                    raise no_file(path or name, is_directory=name in listed.directories)
                return listed.urls[name]
            # Of several callers that wait for the same list, one requests it, and all get its error.
            await listing.result()
        return url

    async def _list(self, entry: _Folder, name: str, list_folder: List) -> Listed:
        began = self._clock()
        try:
            listed = await _listed(list_folder, name, self._bounds.of_folder)
        finally:
            entry.listing = None
        now = self._clock()
        if name in listed.urls:
            entry.urls, entry.until = dict(listed.urls), now + _FRESH
            self._trim()
        else:
            if len(entry.absences) >= self._bounds.absences:
                entry.absences.clear()
            until = now + min(_LONGEST, _PAUSE * (now - began))
            entry.absences[name] = _Absence(until, name in listed.directories)
        return listed

    def _address(self, entry: _Folder, name: str, path: str) -> str:
        """The address if it is valid; "" if the folder has to be listed. Raises NotFound."""
        if entry.until > self._clock() and name in entry.urls:
            return entry.urls[name]
        if (absence := entry.absences.get(name)) and absence.until > self._clock():
            raise no_file(path or name, is_directory=absence.is_directory)
        return ""

    def listed(self, folder: str) -> None:
        """Note that a caller listed the folder, and may now request a file that was missing before."""
        if folder in self._folders:
            self._folders[folder].absences.clear()

    def drop(self, folder: str, name: str) -> None:
        """Forget the address of a file, because it was refused."""
        if folder in self._folders:
            self._folders[folder].urls.pop(name, None)

    def _trim(self) -> None:
        most = self._bounds
        while (
            len(self._folders) > most.folders
            or sum(len(one.urls) for one in self._folders.values()) > most.addresses
        ):
            del self._folders[next(iter(self._folders))]


async def _listed(list_folder: List, name: str, most: int) -> Listed:
    """The addresses from a name on, as many as are kept. Reads no more pages than that takes."""
    urls: dict[str, str] = {}
    after, more, directories = "", True, frozenset[str]()
    while more:
        page = await list_folder(after)
        directories |= page.directories & {name}
        urls |= {one: url for one, url in page.urls.items() if one >= name}
        after, more = page.next, bool(page.next) and not (name in urls and len(urls) >= most)
        if len(urls) > 2 * most:  # the list is not sorted, and the name may still come
            urls = {one: urls[one] for one in sorted(urls)[:most]}
    return Listed({one: urls[one] for one in sorted(urls)[:most]}, "", directories)
