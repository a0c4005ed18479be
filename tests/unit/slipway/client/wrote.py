"""A service whose job wrote files, for what lists and downloads them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from slipway.client.calls.answers import AddressPage, FileChunk, FilePage
from slipway.client.calls.refusal import Changed
from slipway.client.service import Service

MOMENT = "2026-11-20T10:00:00.123456+00:00"
#: A folder of an imagined job: names to bytes, to folders, or to a folder that stands above.
Folder = Mapping[str, Any]


class Wrote(Service):
    """A service whose job wrote these files."""

    def __init__(self, files: Folder) -> None:
        self.root = files
        self.lists, self.reads = 0, list[tuple[str, int]]()
        #: one answer each, instead of the right one
        self.troubles: list[Exception | bytes] = []
        self.tag = '"1"'
        #: more of an entry, by its name
        self.members: dict[str, dict[str, Any]] = {}
        #: addresses in storage: by folder and `after`
        self.pages: dict[tuple[str, str], AddressPage] = {}

    async def files(self, job_id: str, directory: str, path: str = ".") -> list[dict[str, Any]]:
        self.lists += 1
        folder = self.root
        for name in path.split("/"):
            folder = folder if name == "." else folder[name]
        return [
            {"name": name, "bytes": len(held), "modified": MOMENT, **self.members.get(name, {})}
            if isinstance(held, bytes)
            else {"name": name, "bytes": None, "modified": None, **self.members.get(name, {})}
            | ({"link": True} if held is None else {})
            for name, held in folder.items()
        ]

    async def files_page(self, job_id: str, directory: str, path: str, after: str = "") -> FilePage:
        return FilePage(await self.files(job_id, directory, path), "")

    async def addresses(self, job_id: str, directory: str, path: str, after: str = "") -> AddressPage | None:
        return self.pages.get((path, after)) if self.pages else None

    async def content(
        self, job_id: str, directory: str, path: str, first: int = 0, last: int | None = None, tag: str = ""
    ) -> FileChunk:
        self.reads.append((path, first))
        if self.troubles:
            trouble = self.troubles.pop(0)
            if isinstance(trouble, Exception):
                raise trouble
            return FileChunk(trouble, 10, self.tag)
        if tag and tag != self.tag:
            raise Changed("the file has changed")
        held: Any = self.root
        for name in path.split("/"):
            held = held[name]
        end = len(held) if last is None or last < first else min(last + 1, len(held))
        return FileChunk(held[first:end], len(held), self.tag)
