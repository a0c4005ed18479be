"""What the jobs of a cluster saved in its container, by the generations that its nodes write."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from urllib.parse import quote, unquote

from shared.core.engine import FileChunk, FilePage, OutputFile
from shared.core.errors import no_file
from shared.core.job import Target
from shared.core.visible import escaped, is_askable
from shared.engines.batch.cluster import BatchCluster
from shared.engines.batch.storage.access import Access, blob_errors
from shared.engines.batch.storage.blob_parts import part_of
from shared.engines.node.saved.generations import (
    FILE,
    FOLDER,
    LARGEST_MANIFEST,
    LINK,
    MANIFESTS,
    PARTS,
    Content,
    Entry,
    Manifest,
    content_of,
    manifests_of,
    merged,
    whole,
)
from shared.engines.node.saved.shelf import MOST_READ
from shared.engines.proofs import Proofs, saved_by

#: Entries of a page of a folder.
_PAGE = 1000
_BEGIN = datetime(1970, 1, 1, tzinfo=UTC)


class SavedBlobs:
    """The saved directories of one cluster's jobs."""

    def __init__(self, cluster: BatchCluster, access: Access, proofs: Proofs) -> None:
        self._cluster, self._access, self._proofs = cluster, access, proofs

    async def page(self, target: Target, directory: str, path: str, after: str) -> FilePage:
        """Entries of a folder of the newest generation, by name."""
        above = "".join(f"{part}/" for part in path.split("/") if part not in ("", "."))
        children: dict[str, Entry] = {}
        for at, entry in (await self._entries(target, directory)).items():
            name, _, below = at.removeprefix(above).partition("/")
            if at.startswith(above):
                children[name] = Entry(FOLDER) if below else children.get(name, entry)
        names = sorted(name for name in children if not after or name > unquote(after))
        files = tuple(_file(name, children[name]) for name in names[:_PAGE])
        return FilePage(files, quote(names[_PAGE - 1], safe="") if len(names) > _PAGE else "")

    async def chunk(self, target: Target, directory: str, path: str, offset: int, limit: int) -> FileChunk:
        """Part of a file of the newest generation. Raises NotFound."""
        at = "/".join(part for part in path.split("/") if part not in ("", "."))
        entries = await self._entries(target, directory)
        entry = entries.get(at)
        if entry is None or entry.kind != FILE:
            is_directory = any(one.startswith(f"{at}/") for one in entries) or entry == Entry(FOLDER)
            raise no_file(f"{directory}/{path}", is_directory=is_directory)
        blob = self._access.container.get_blob_client(f"{self._prefix(target)}{PARTS}/{entry.part}")
        return await part_of(blob, f"{directory}/{path}", offset, limit)

    async def remove(self, target: Target) -> None:
        """Remove what the job of an attempt saved: manifests first, since without one a part is nothing."""
        async with blob_errors("what the job saved"):
            prefix, container = self._prefix(target), self._access.container
            names = [one async for one in container.list_blob_names(name_starts_with=prefix)]
            for name in sorted(names, key=lambda name: not name.startswith(f"{prefix}{MANIFESTS}/")):
                await self._delete(name)

    async def is_left(self, target: Target) -> bool:
        """Whether something is left of what the job saved."""
        async with blob_errors("what the job saved"):
            names = self._access.container.list_blob_names(name_starts_with=self._prefix(target))
            return await anext(aiter(names), None) is not None

    async def _entries(self, target: Target, directory: str) -> Mapping[str, Entry]:
        """The newest generation that is proven, by path; empty before the first."""
        prefix = f"{self._prefix(target)}{MANIFESTS}/"
        async with blob_errors(directory):
            names = [
                one.removeprefix(prefix)
                async for one in self._access.container.list_blob_names(name_starts_with=prefix)
            ]
            for members in whole(manifests_of(names))[:MOST_READ]:
                contents = [await self._content(target, one) for one in members]
                proven = [one for one in contents if one is not None]
                if len(proven) == len(members):
                    return merged(proven)
        return {}

    async def _content(self, target: Target, manifest: Manifest) -> Content | None:
        """What a manifest says; None without its proof, or if it has been replaced by a newer one."""
        from azure.core.exceptions import ResourceNotFoundError

        blob = self._access.container.get_blob_client(f"{self._prefix(target)}{MANIFESTS}/{manifest}")
        with suppress(ResourceNotFoundError, ValueError):
            text = await (await blob.download_blob(offset=0, length=LARGEST_MANIFEST + 1)).readall()
            proof = self._proofs.proof_of(saved_by(target.job_id)).child(MANIFESTS)
            return content_of(proof.value(str(manifest), text))
        return None

    async def _delete(self, name: str) -> None:
        from azure.core.exceptions import ResourceNotFoundError

        with suppress(ResourceNotFoundError):
            await self._access.container.delete_blob(name)

    def _prefix(self, target: Target) -> str:
        return self._cluster.layout.saved(target.job_id).strip("/") + "/"


def _file(name: str, entry: Entry) -> OutputFile:
    if not is_askable(name):
        kind = {FOLDER: "directory", LINK: "link"}.get(entry.kind, "file")
        return OutputFile(escaped(name), None, None, left_out=True, kind=kind)
    if entry.kind != FILE:
        return OutputFile(name, None, None, link=entry.kind == LINK)
    modified = None
    with suppress(OverflowError):
        modified = _BEGIN + timedelta(microseconds=entry.modified // 1000)
    return OutputFile(name, entry.size, modified, executable=bool(entry.mode & 0o100))
