"""The records and files of attempts in a container, written by the program on the nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any
from urllib.parse import quote, unquote

from shared.core.engine import FileChunk, FilePage, OutputFile
from shared.core.errors import Busy, NotFound, no_file
from shared.core.job import Target
from shared.core.visible import escaped, is_askable
from shared.engines.batch.cluster import BatchCluster
from shared.engines.batch.storage.access import Access, blob_errors
from shared.engines.batch.storage.blob_parts import part_of
from shared.engines.batch.storage.left_out import left_out
from shared.engines.batch.storage.saved_blobs import SavedBlobs
from shared.engines.node.claim import REQUEST
from shared.engines.node.store import numbers_of
from shared.engines.proofs import LARGEST, read, record_of
from shared.engines.runs import UNPROVEN, Record, is_folder, written_by
from shared.engines.shared_records import Records

#: How many turns are read in search of one that is proven: jobs may have written any number.
_TURNS = 20
#: Entries of a page of a folder.
_PAGE = 1000
_RECORD = "the record of the attempt"


class BlobRecords:
    """The records of one cluster's attempts, and the files that only their nodes had.

    Any job of the cluster can write all of it, since all jobs have the identity of the pool. So a record
    counts only with its proof, and names are accepted only below the attempt's prefix. `shares` has the files
    on file systems that the app mounts.
    """

    def __init__(self, cluster: BatchCluster, access: Access, shares: Records) -> None:
        self._cluster, self._access, self._shares = cluster, access, shares
        self.proofs = shares.proofs
        self._saved = SavedBlobs(cluster, access, shares.proofs)

    async def find(self, target: Target) -> Record | None:
        """The record of the run that holds the claim, or held it at its end; None if there is none."""
        async with blob_errors(_RECORD):
            last_turn = await self._last_turn(target)
            ended, run = last_turn.get("ended"), last_turn.get("run")
            if last_turn.get("token") != target.token or "taken" in last_turn:
                return None
            if isinstance(ended, dict):
                # The turn counts, although the node may have died before it wrote the record.
                return record_of(last_turn, ended) if is_folder(ended.get("run")) else None
            if not is_folder(run):
                return None
            record = await self._object(target, f"{run}/result.json")
            return record_of(last_turn, {**record, "run": run}) if record else None

    async def ask(self, target: Target, now: float) -> float:
        """Ask the run of an attempt to end; when it was first asked, in Unix time.

        0 if a job has put something in the place of the request, which its run may never see.
        """
        from azure.core.exceptions import ResourceExistsError

        blob = self._access.container.get_blob_client(f"{self._prefix(target)}{REQUEST}")
        text = self.proofs.proof_of(target.token).text(REQUEST, {REQUEST: now})
        async with blob_errors("the request to end"):
            try:
                await blob.upload_blob(text)
                return now
            except ResourceExistsError:
                request = await self._object(target, REQUEST)
        before = request.get(REQUEST)
        return before if isinstance(before, float) and UNPROVEN not in request else 0.0

    async def remaining(self, targets: Sequence[Target]) -> list[Target]:
        """The targets that still have records, or whose jobs have something saved."""
        return [one for one in targets if await self._is_left(one) or await self._saved.is_left(one)]

    async def remove(self, targets: Sequence[Target]) -> None:
        """Remove the records of these targets. Another job's attempt of the same name is left alone.

        What their jobs saved goes first: as long as there are records, both are asked for again.
        """
        for target in targets:
            await self._saved.remove(target)
            if await self._is_left(target):
                async with blob_errors(_RECORD):
                    # The turns go last: they show who owns the rest.
                    names = [
                        one
                        async for one in self._access.container.list_blob_names(
                            name_starts_with=self._prefix(target)
                        )
                    ]
                    for name in sorted(names, key=lambda name: f"{self._prefix(target)}turns/" in name):
                        await self._delete(name)

    def segment(self, target: Target, record: Record) -> str:
        """The folders between the job's path prefix and the output of the recorded run."""
        return self._shares.segment(target, record)

    async def page(self, target: Target, directory: str, path: str, after: str) -> FilePage:
        """Entries of an output directory. Raises NotFound."""
        record = await self._record(target)
        if record.get("saved") == directory:
            return await self._saved.page(target, directory, path, after)
        if not _is_kept(record, directory):
            return await self._shares.page(target, directory, path, after, record)
        top, place = (self._file(target, record, directory, one) for one in (".", path))
        run, prefix = top.removesuffix(f"/{directory}"), f"{place}/"
        async with blob_errors(f"{directory}/{path}"):
            walk = self._access.container.walk_blobs(
                name_starts_with=prefix, include=["metadata"], delimiter="/", results_per_page=_PAGE
            )
            pages = walk.by_page(unquote(after) or None)
            entries = [one async for one in await anext(pages)]
            # Of several nodes, one may have an empty folder where another has files.
            files = tuple(dict.fromkeys(_entry(one, prefix) for one in entries))
            if not after:
                files += await left_out(self._access.container, run, place.removeprefix(f"{run}/"))
            return FilePage(files, quote(str(pages.continuation_token or ""), safe=""))  # type: ignore[attr-defined]

    async def chunk(self, target: Target, directory: str, path: str, offset: int, limit: int) -> FileChunk:
        """Part of a file of an output directory. Raises NotFound."""
        record = await self._record(target)
        if record.get("saved") == directory:
            return await self._saved.chunk(target, directory, path, offset, limit)
        if not _is_kept(record, directory):
            return await self._shares.chunk(target, directory, path, offset, limit, record)
        blob = self._access.container.get_blob_client(self._file(target, record, directory, path))
        with suppress(NotFound):
            return await part_of(blob, f"{directory}/{path}", offset, limit)
        async with blob_errors(f"{directory}/{path}"):
            inside = self._access.container.list_blob_names(name_starts_with=f"{blob.blob_name}/")
            is_directory = await anext(aiter(inside), None) is not None
        raise no_file(f"{directory}/{path}", is_directory=is_directory)

    async def _record(self, target: Target) -> Record:
        record = await self.find(target)
        if record is None:
            raise NotFound("no node has started the job")
        return record

    def _file(self, target: Target, record: Record, directory: str, path: str) -> str:
        whose, run = written_by(target, record)
        parts = [part for part in path.split("/") if part not in ("", ".")]
        if ".." in parts or not is_folder(directory):
            raise NotFound(f"there is no {path!r} in {directory!r}")
        return "/".join((self._cluster.files(whose), run, directory, *parts))

    async def _is_left(self, target: Target) -> bool:
        async with blob_errors(_RECORD):
            names = self._access.container.list_blob_names(name_starts_with=self._prefix(target))
            if await anext(aiter(names), None) is None:
                return False
            last_turn = await self._last_turn(target)
            return bool(last_turn.get("token", target.token) == target.token)

    async def _last_turn(self, target: Target) -> Mapping[str, Any]:
        """The last turn that is proven, of the newest ones; if none is, the last; empty before the first."""
        prefix = f"{self._prefix(target)}turns/"
        names = [
            one.removeprefix(prefix)
            async for one in self._access.container.list_blob_names(name_starts_with=prefix)
        ]
        last: Mapping[str, Any] = {}
        for number in numbers_of(names)[:_TURNS]:
            content = await self._object(target, f"turns/{number}")
            if UNPROVEN not in content:
                return content
            last = last or content
        return last

    async def _object(self, target: Target, name: str) -> Mapping[str, Any]:
        """An object; empty if there is none, marked if it is not proven. Raises Busy for a damaged one."""
        from azure.core.exceptions import ResourceNotFoundError

        blob = self._access.container.get_blob_client(f"{self._prefix(target)}{name}")
        try:
            content = await (await blob.download_blob(offset=0, length=LARGEST + 1)).readall()
        except ResourceNotFoundError:
            return {}
        with suppress(ValueError, RecursionError):
            if document := read(self.proofs.proof_of(target.token), name, content):
                return document
        raise Busy(f"{_RECORD} cannot be read")

    async def _delete(self, name: str) -> None:
        from azure.core.exceptions import ResourceNotFoundError

        try:
            await self._access.container.delete_blob(name)
        except ResourceNotFoundError:
            return

    def _prefix(self, target: Target) -> str:
        return self._cluster.layout.attempt(target).strip("/") + "/"


def _is_kept(record: Record, directory: str) -> bool:
    names = record.get("kept")
    return isinstance(names, list) and directory in names


def _entry(item: Any, prefix: str) -> OutputFile:
    name, metadata = item.name.removeprefix(prefix), item.get("metadata") or {}
    folder = name.endswith("/") or metadata.get("hdi_isfolder") == "true"
    name = name.rstrip("/")
    if not is_askable(name) or name in ("", ".", ".."):
        return OutputFile(escaped(name), None, None, left_out=True, kind="directory" if folder else "file")
    if folder:
        return OutputFile(name, None, None)
    return OutputFile(name, item.size, item.last_modified, executable=metadata.get("executable") == "true")
