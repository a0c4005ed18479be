"""first_files: a folder of an output directory as one list, for callers that need few files."""

from __future__ import annotations

from typing import Protocol

from shared.core.engine import FilePage, OutputFile
from shared.core.job import Target

#: Files after which no further page is requested: some 10 MB.
_MOST = 50_000


class Pages(Protocol):
    """An engine that lists page by page."""

    async def page(self, target: Target, directory: str, path: str, after: str) -> FilePage:
        """Some files, and the start of the next page."""


async def first_files(pages: Pages, target: Target, directory: str, path: str) -> tuple[OutputFile, ...]:
    """All files of the folder, or the first ones of a large one. Raises the errors of the pages."""
    page = await pages.page(target, directory, path, "")
    files = list(page.files)
    while page.next and len(files) < _MOST:
        page = await pages.page(target, directory, path, page.next)
        files += page.files
    return tuple(files)
