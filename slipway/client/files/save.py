"""Saves files of a job below a local directory. The job chose their names, so none may lead out of it."""

import asyncio
import fcntl
import hashlib
import os
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing, suppress
from io import FileIO
from pathlib import Path

from confined import Confined
from slipway.client.calls.answers import FileChunk
from slipway.client.files.holes import write_all
from slipway.client.files.places import Places, savable
from slipway.client.files.remote import Remote
from slipway.failure import Failure

#: Bytes of a file that are read in one call.
_READ = 1 << 20
#: Below so many bytes, writing is faster than a thread.
_SMALL = 1 << 18
#: The name of the job whose files are in the directory; `slipway drop` uploads no such directory.
MARK = ".slipway-job"
#: The prefix of an unfinished file's name, and how much of such a name identifies the file.
_UNFINISHED, _NAMED = ".slipway-part-", 14 + 16
#: Seconds: times in nanoseconds are rounded in transit.
_SAME_TIME = 0.001


class Busy(Exception):
    """Another download writes the file, or has just written it."""


class Destination(Places):
    """The directory. Files go to their output directory and path below it, and replace what has their name.

    A file has another name until it is complete, so an interrupted download can continue.
    A mark in the directory names the job, so files of another job are never taken for its own. Without a job
    there is no mark.
    """

    def __init__(self, path: Path, job_id: str = "") -> None:
        super().__init__(path)
        self._job = job_id
        with savable(path):
            marked = self._marked() if job_id else ""
            #: another job whose files are already in the directory, or ""
            self.other = "" if marked == job_id else marked.partition(",")[0]
            self._empty = not any(path.iterdir())
            self._own = not job_id or marked == job_id or self._empty
            if job_id:
                self._mark(job_id if self._own else f"{job_id}, among files of another job")

    def has(self, file: Remote) -> bool:
        """Whether the file is already there, with the same size and time."""
        if self._empty or not self._own:
            return False
        with suppress(OSError), self._folder(file, make=False) as (folder, name):
            status = os.stat(name, dir_fd=folder.fd, follow_symlinks=False)
            same = file.modified is not None and abs(status.st_mtime - file.modified) < _SAME_TIME
            return same and status.st_size == file.size
        return False

    def contains(self, file: Remote, md5: bytes) -> bool:
        """Whether the file is already there, with these contents."""
        with (
            suppress(OSError, Failure),
            self._folder(file, make=False) as (folder, name),
            folder.file(name, links=False) as stream,
        ):
            if os.fstat(stream.fileno()).st_size != file.size:
                return False
            digest = hashlib.md5(usedforsecurity=False)
            while data := stream.read(_READ):
                digest.update(data)
            return digest.digest() == md5
        return False

    def remove(self, file: Remote) -> None:
        """Remove a file that was saved. Raises OSError."""
        with self._folder(file, make=False) as (folder, name):
            os.unlink(name, dir_fd=folder.fd)

    def begun(self, file: Remote) -> int:
        """Bytes of the file that an interrupted download has saved; the last one is read again."""
        if self._empty:
            return 0
        with suppress(OSError), self._folder(file, make=False) as (folder, _):
            size = os.stat(self._unfinished(file), dir_fd=folder.fd, follow_symlinks=False).st_size
            return max(0, min(size, file.size - 1))
        return 0

    def make_folder(self, name: str) -> None:
        """Make an empty folder. Raises Failure for a name that is impossible here, and OSError."""
        with self._folder(Remote(name, "x", 0, None), make=True):
            return

    def finish(self, files: Sequence[Remote], *, is_whole: bool) -> None:
        """All files are saved: remove unfinished files of earlier versions.

        If they are all of the job's files, the mark then names this job alone: no file of another job is left
        under their names.
        """
        if is_whole:
            self._mark(self._job)
        names, prefixes = {file.name for file in files}, {_prefix_of(file) for file in files}
        for folder in {file.name.rpartition("/")[0] for file in files}:
            with suppress(OSError), self._root.directory(folder, links=False) as directory:
                for entry in directory.entries():
                    own = f"{folder}/{entry.name}" in names
                    if not own and entry.name.startswith(_UNFINISHED) and entry.name[:_NAMED] in prefixes:
                        os.unlink(entry.name, dir_fd=directory.fd)

    def _marked(self) -> str:
        with suppress(OSError), self._root.file(MARK, links=False) as file:
            return file.read(200).decode("utf-8", "replace").strip()
        return ""

    def _mark(self, text: str) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
        with os.fdopen(os.open(MARK, flags, 0o666, dir_fd=self._root.fd), "w", encoding="utf-8") as file:
            file.write(f"{text}\n")

    def _unfinished(self, file: Remote) -> str:
        """The name until it is complete: one for each job and each version that a list can tell apart."""
        version = f"{self._job}\0{file.name}\0{file.size}\0{file.modified}"
        return f"{_prefix_of(file)}-{hashlib.sha256(version.encode()).hexdigest()[:16]}"

    async def save(self, file: Remote, start: int, content: AsyncIterator[FileChunk]) -> AsyncGenerator[int]:
        """Write the chunks from `start` on, and move the file to its place. Yields the bytes of each chunk.

        Raises Busy if another download is writing it, and Failure for a name that is impossible here or an
        incomplete file.
        """
        with self._folder(file, make=True) as (folder, name):
            flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
            unfinished = self._unfinished(file)
            fd = os.open(unfinished, flags, 0o666, dir_fd=folder.fd)
            with os.fdopen(fd, "wb", buffering=0) as stream:
                self._lock(fd, unfinished, folder, start)
                try:
                    async with aclosing(_write(stream, start, content)) as written:
                        async for size in written:
                            yield size
                except BaseException:
                    if not stream.tell():  # nothing to continue
                        os.unlink(unfinished, dir_fd=folder.fd)
                    raise
                if file.executable or (file.executable is None and _may_be_program(folder, unfinished)):
                    mode = os.fstat(fd).st_mode
                    os.fchmod(fd, mode | (mode & 0o444) >> 2)  # for those who may read it
                if file.modified is not None:
                    os.utime(fd, (file.modified, file.modified))
                os.replace(unfinished, name, src_dir_fd=folder.fd, dst_dir_fd=folder.fd)

    def _lock(self, fd: int, name: str, folder: Confined, start: int) -> None:
        """Lock the file against other downloads. Raises Busy if one has it, or had it a moment ago."""
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            now = os.stat(name, dir_fd=folder.fd, follow_symlinks=False)
        except (BlockingIOError, FileNotFoundError):  # the latter: another download finished it
            now = None
        if now is None or now.st_ino != os.fstat(fd).st_ino or now.st_size < start:
            self._empty = False
            raise Busy


async def _write(stream: FileIO, start: int, content: AsyncIterator[FileChunk]) -> AsyncGenerator[int]:
    stream.truncate(start)
    stream.seek(start)
    whole = start
    async for piece in content:
        if piece.count < _SMALL:
            write_all(stream.fileno(), piece.parts)
        else:  # other files continue meanwhile
            await asyncio.to_thread(write_all, stream.fileno(), piece.parts)
        whole = piece.size
        yield piece.count
    if stream.tell() != whole:
        raise Failure(f"{stream.tell():,} of {whole:,} bytes arrived")
    stream.truncate()  # it may end with a hole


def _may_be_program(folder: Confined, name: str) -> bool:
    """Whether a file begins as a script, or as a program of Linux: a guess where its cluster says nothing."""
    with folder.file(name, links=False) as stream:
        return stream.read(4).startswith((b"#!", b"\x7fELF"))


def _prefix_of(file: Remote) -> str:
    """The common prefix of its unfinished files, of every version."""
    return f"{_UNFINISHED}{hashlib.sha256(file.name.encode()).hexdigest()[:16]}"
