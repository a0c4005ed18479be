"""first_files: a folder of an output directory as one list, for what looks for few files in it."""

from __future__ import annotations

from typing import Protocol

from shared.core.engine import FilePage, OutputFile
from shared.core.job import Target

#: Files after which no further page is asked for: some 10 MB.
_MOST = 50_000


class Pages(Protocol):
    """An engine that lists page by page."""

    async def page(self, target: Target, directory: str, path: str, after: str) -> FilePage:
        """Some files, and where the list goes on."""


async def first_files(pages: Pages, target: Target, directory: str, path: str) -> tuple[OutputFile, ...]:
    """All files of the folder; of one with more than fits here, the first. Raises what the pages raise."""
    page = await pages.page(target, directory, path, "")
    files = list(page.files)
    while page.next and len(files) < _MOST:
        page = await pages.page(target, directory, path, page.next)
        files += page.files
    return tuple(files)
