"""Results, logs and outputs from the nodes, on a file system that this app sees, too."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import NamedTuple, Protocol
from urllib.parse import quote, unquote_to_bytes

from confined import Confined
from confined.entries import Entry
from confined.names import Names
from shared.core.engine import FileChunk, FilePage, OutputFile
from shared.core.errors import Busy, NotFound, Transient, no_file
from shared.core.job import Target
from shared.core.visible import escaped, is_askable
from shared.engines import untrusted
from shared.engines.attempt import Attempt
from shared.engines.launch.layout import Layout
from shared.engines.proofs import Proofs
from shared.engines.reads import Reads
from shared.engines.runs import UNPROVEN, Record, written_by

#: Errors of a path that is missing, or has a part of the wrong kind.
_ABSENT = (FileNotFoundError, NotADirectoryError, IsADirectoryError)


class Shares(Protocol):
    """A cluster whose nodes share a directory."""

    @property
    def layout(self) -> Layout:
        """The layout of its attempts' directories."""

    @property
    def reads(self) -> Mapping[str, str]:
        """Directory of the nodes → where this app sees it."""


class _Local(NamedTuple):
    """A path of the nodes as seen here: its entry of `reads`, and the rest."""

    prefix: str
    rest: str


class _Place(NamedTuple):
    """A directory that a job wrote to: what is above, the folders that are this run's or job's, the rest."""

    above: str
    own: str
    inside: str


class Records:
    """The records of one cluster's attempts. Every job of the cluster can write there: all run as one user.

    So a record counts only with its proof, and a path in one is opened only where the configuration allows
    it: records below `shared`, output in folders that bear the name of the run.
    """

    def __init__(self, cluster: Shares, proofs: Proofs | None = None, names: Names | None = None) -> None:
        """`names`: those of large directories, from one page of a list to the next."""
        self._layout, self._reads = cluster.layout, cluster.reads
        self.proofs = proofs or Proofs()
        # Separate: reading a job's output may take long, and no record of an end waits for it.
        self._of_records, self._of_files = Reads(Transient), Reads(Busy)
        self._names = names or Names()

    async def find(self, target: Target) -> Record | None:
        """The record of the run that has the claim; None if none can be seen."""
        return await self._of_records.run(self._read, target)

    async def visible(self) -> bool:
        """Whether this app could see the record of a run."""
        return await self._of_records.run(self._sees)

    async def remaining(self, targets: Sequence[Target]) -> list[Target] | None:
        """The targets whose records still exist; None if this app does not see them."""
        return await self._of_records.run(self._remaining, targets)

    def segment(self, target: Target, record: Record) -> str:
        """The folders between a path prefix of the job and the output of the recorded run."""
        whose, run = written_by(target, record)
        return untrusted.path(f"{self._layout.segment(whose)}/{run}") if run else ""

    async def page(
        self, target: Target, directory: str, path: str, after: str, record: Record | None = None
    ) -> FilePage:
        """Entries of an output directory; `record`: that of the run, if known. Raises NotFound."""
        return await self._of_files.run(self._list, target, directory, path, after, record)

    async def chunk(
        self,
        target: Target,
        directory: str,
        path: str,
        offset: int,
        limit: int,
        record: Record | None = None,
    ) -> FileChunk:
        """Part of a file of an output directory. Raises NotFound."""
        return await self._of_files.run(self._chunk, target, directory, path, offset, limit, record)

    def _sees(self) -> bool:
        try:
            # If the share is not mounted, its mount point is still a directory.
            with self._opened(self._layout.shared) as shared, shared.directory("attempts", links=False):
                return True
        except (_Unseen, OSError):
            return False

    def _remaining(self, targets: Sequence[Target]) -> list[Target] | None:
        return [one for one in targets if self._is_left(one)] if self._sees() else None

    def _is_left(self, target: Target) -> bool:
        try:
            with self._attempt(target) as attempt:
                owner = None
                with suppress(OSError, ValueError, RecursionError):
                    owner = attempt.claimed_by()
                return owner in (None, target.token)
        except FileNotFoundError:
            return False
        except (_Unseen, OSError):
            return True

    @contextmanager
    def _attempt(self, target: Target) -> Iterator[Attempt]:
        own = self._layout.attempt(target).removeprefix(self._layout.shared.rstrip("/")).lstrip("/")
        with self._opened(self._layout.shared) as shared, shared.directory(own, links=False) as files:
            yield Attempt(files, self.proofs.proof_of(target.token))

    def _read(self, target: Target) -> Record | None:
        try:
            with self._attempt(target) as attempt:
                return attempt.record(target.token)
        except (_Unseen, *_ABSENT):
            return None
        except PermissionError as error:
            if not self.proofs.proof_of(target.token).is_needed:
                raise Busy(f"the record of the attempt cannot be read: {error.strerror}") from error
            return {UNPROVEN: True}  # a job locked the directory
        except (OSError, ValueError, RecursionError) as error:
            text = getattr(error, "strerror", None) or "it is damaged"
            # One job's record shows nothing about the cluster: its breaker must not count it.
            raise Busy(f"the record of the attempt cannot be read: {text}") from error

    def _list(self, target: Target, directory: str, path: str, after: str, record: Record | None) -> FilePage:
        with self._output(target, directory, path, record) as (root, inside):
            try:
                listing = root.listing(inside, self._names, os.fsdecode(unquote_to_bytes(after)))
            except _ABSENT:
                return FilePage(())
        files = tuple(map(_file, listing.entries))
        more = (OutputFile(self._names.rest, None, None, left_out=True),) if listing.more else ()
        return FilePage((*files, *more), quote(os.fsencode(listing.next), safe=""))

    def _chunk(
        self, target: Target, directory: str, path: str, offset: int, limit: int, record: Record | None
    ) -> FileChunk:
        with self._output(target, directory, path, record) as (root, inside), root.file(inside) as stream:
            status = os.fstat(stream.fileno())
            stream.seek(offset)
            data = stream.read(limit)
        end = offset + len(data)
        # The job may go on writing while this reads.
        return FileChunk(data, end, max(status.st_size, end if data else 0), f"{status.st_mtime_ns:x}")

    @contextmanager
    def _output(
        self, target: Target, directory: str, path: str, record: Record | None
    ) -> Iterator[tuple[Confined, str]]:
        """The folder of a run below one of the job's path prefixes, and a path in it. Raises NotFound.

        The record's path of a directory counts if the names of its folders belong to this very run, or to
        what its job saves; none of them may be a link.
        """
        record = record or self._read(target)
        if record is None:
            if self._local_path(self._layout.shared) is None:
                text = (
                    f"the files of {self._layout.cluster} cannot be seen from here; an operator adds `reads`"
                )
                raise NotFound(text)
            raise NotFound("no node has started the job")
        directories = record.get("directories")
        written = str(directories.get(directory)) if isinstance(directories, dict) else ""
        prefix, own, inside = self._place(target, directory, written, record)
        try:
            with (
                self._opened(prefix) as above,
                above.directory(own, links=False, display=own.lstrip("/")) as root,
            ):
                yield root, f"{inside}/{path}"
        except _Unseen:
            raise NotFound(f"there is no output directory {directory!r} that can be seen from here") from None
        except _ABSENT as error:
            raise no_file(f"{directory}/{path}", is_directory=type(error) is IsADirectoryError) from None
        except PermissionError as error:
            raise NotFound(f"{path} cannot be opened: {error.strerror}") from None
        except OSError as error:
            raise Transient(f"{path} cannot be read: {error.strerror}") from error

    def _place(self, target: Target, directory: str, written: str, record: Record) -> _Place:
        """The parts of the path that a record has for a directory. Raises NotFound."""
        if written == self._layout.saved(target.job_id):
            shared = self._layout.shared.rstrip("/")
            return _Place(shared, written.removeprefix(shared), ".")
        whose, run = written_by(target, record)
        own = f"/{self._layout.segment(whose)}/{run}"
        prefix, _, inside = written.partition(f"{own}/")
        if inside.partition("/")[0] != ("stdouterr" if directory == "stdouterr" else "outputs"):
            raise NotFound(f"there is no output directory {directory!r}")
        return _Place(prefix, own, inside)

    @contextmanager
    def _opened(self, path: str) -> Iterator[Confined]:
        """A directory of the nodes. Links in the path stay below what is configured in `reads`."""
        local = self._local_path(path)
        if local is None:
            raise _Unseen
        prefix, rest = local
        with (
            Confined.from_root(self._reads[prefix], display=prefix) as root,
            root.directory(rest) as directory,
        ):
            yield directory

    def _local_path(self, path: str) -> _Local | None:
        """The longest prefix in `reads` that a path of the nodes has, and the rest of the path."""
        real = PurePosixPath(path)
        for prefix in sorted(self._reads, key=len, reverse=True):
            if real.is_relative_to(prefix) and ".." not in real.parts:
                return _Local(prefix, str(real.relative_to(prefix)))
        return None


class _Unseen(Exception):
    """A path of the nodes that this app does not see."""


def _file(entry: Entry) -> OutputFile:
    modified = datetime.fromtimestamp(entry.modified, UTC)
    if entry.kind in ("pipe", "socket", "device") or not is_askable(entry.name):
        return OutputFile(escaped(entry.name), None, modified, left_out=True, kind=entry.kind)
    if entry.kind == "link":
        kind = "" if entry.leads == "out" else entry.leads
        return OutputFile(entry.name, None, modified, link=True, kind=kind)
    if entry.kind == "directory":
        return OutputFile(entry.name, None, modified)
    return OutputFile(entry.name, entry.size, modified, executable=entry.executable)
