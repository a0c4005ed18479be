"""Files of a job, saved below a directory of one's own. The job chose their names: none leads out of it."""

import asyncio
import fcntl
import hashlib
import os
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Sequence
from contextlib import aclosing, contextmanager, suppress
from io import FileIO
from itertools import islice
from pathlib import Path

from fence import Fence
from slipway.client.answers import FileChunk
from slipway.client.files.names import Neighbours, impossible
from slipway.client.files.remote import Remote
from slipway.failure import Failure

#: Bytes of a file that are read at once.
_READ = 1 << 20
#: Bytes that take longer to hand to a thread than to write; and parts that every system takes in one write.
_SMALL, _AT_ONCE = 1 << 18, 512
#: Folders that are held open: files come in the order of their names.
_FOLDERS = 16
#: The name of the job whose files are in the directory; `slipway drop` uploads no such directory.
MARK = ".slipway-job"
#: How the names begin of files that are not whole, and how much of such a name says which file it is.
_UNFINISHED, _NAMED = ".slipway-part-", 14 + 16
#: Seconds: a time of nanoseconds is rounded on its way.
_SAME_TIME = 0.001


class Busy(Exception):
    """Another download writes the file, or has just written it."""


class Destination:
    """The directory. Files come to lie in it by output directory and path; what has their name is replaced.

    A file is written under another name until it is whole, so an interrupted download can go on with it.
    A mark in the directory names the job: files of another one are never taken for its own. Files of no job
    leave no mark.
    """

    def __init__(self, path: Path, job_id: str = "") -> None:
        self._job, self._folders = job_id, dict[str, Fence]()
        try:
            path.mkdir(parents=True, exist_ok=True)
            self._root = Fence.from_root(path)
            marked = self._marked() if job_id else ""
            #: the job whose files are in the directory already, if that is another one
            self.other = "" if marked == job_id else marked.partition(",")[0]
            self._empty = not any(path.iterdir())
            self._own = not job_id or marked == job_id or self._empty
            if job_id:
                self._mark(job_id if self._own else f"{job_id}, among files of another job")
            self._names = Neighbours(
                ignores_case=self._is_one("a", "A"), ignores_composition=self._is_one("\u00e9", "e\u0301")
            )
        except OSError as error:
            raise Failure(
                f"nothing can be saved in {path}: {error.strerror}; choose another by --to"
            ) from error

    def close(self) -> None:
        """Let go of the directory."""
        for folder in (self._root, *self._folders.values()):
            os.close(folder.fd)

    def has(self, file: Remote) -> bool:
        """Whether the file is there already: of the same size, and of the same time."""
        if self._empty or not self._own:
            return False
        with suppress(OSError), self._folder(file, make=False) as (folder, name):
            status = os.stat(name, dir_fd=folder.fd, follow_symlinks=False)
            same = file.modified is not None and abs(status.st_mtime - file.modified) < _SAME_TIME
            return same and status.st_size == file.size
        return False

    def contains(self, file: Remote, md5: bytes) -> bool:
        """Whether the file is there already: with these contents."""
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

    def finish(self, files: Sequence[Remote], *, is_whole: bool) -> None:
        """All of them are there: remove the unfinished files of their earlier versions.

        Where they are the whole of the job's files, none of another job is left under their names, which the
        mark says from now on.
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
        """The name while it is not whole: another for each job and version, as far as a list shows it."""
        version = f"{self._job}\0{file.name}\0{file.size}\0{file.modified}"
        return f"{_prefix_of(file)}-{hashlib.sha256(version.encode()).hexdigest()[:16]}"

    async def save(self, file: Remote, start: int, content: AsyncIterator[FileChunk]) -> AsyncGenerator[int]:
        """Write the chunks from `start` on, and put the file in its place. The bytes of each chunk.

        Raises Busy where another download does so, Failure for a name that cannot be given here, and for
        chunks that do not make up the whole.
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
                    if not stream.tell():  # nothing to go on with
                        os.unlink(unfinished, dir_fd=folder.fd)
                    raise
                if file.modified is not None:
                    os.utime(fd, (file.modified, file.modified))
                os.replace(unfinished, name, src_dir_fd=folder.fd, dst_dir_fd=folder.fd)

    def _lock(self, fd: int, name: str, folder: Fence, start: int) -> None:
        """Keep other downloads from the file. Raises Busy where one has it, or had it a moment ago."""
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            now = os.stat(name, dir_fd=folder.fd, follow_symlinks=False)
        except (BlockingIOError, FileNotFoundError):  # the latter: it is in its place
            now = None
        if now is None or now.st_ino != os.fstat(fd).st_ino or now.st_size < start:
            self._empty = False
            raise Busy

    @contextmanager
    def _folder(self, file: Remote, *, make: bool) -> Iterator[tuple[Fence, str]]:
        if conflict := self._names.conflict(file.name):
            raise Failure(conflict)
        *above, name = file.name.split("/")
        for one in (*above, name):
            if reason := impossible(one):
                raise Failure(reason)
        with self._open("/".join(above), make=make) as folder:
            yield folder, name

    def _open(self, path: str, *, make: bool) -> Fence:
        """A folder, of which a descriptor is kept: what lies in a folder costs no further walk there."""
        folder = self._folders.pop(path, None)
        if folder is None:
            folder = self._root.make_directory(path) if make else self._root.directory(path, links=False)
        self._folders[path] = folder
        if len(self._folders) > _FOLDERS:
            os.close(self._folders.pop(next(iter(self._folders))).fd)
        return Fence(os.dup(folder.fd))

    def _is_one(self, letter: str, other: str) -> bool:
        """Whether the disk takes names that differ like these for one."""
        probe, alike = (f".slipway-{os.getpid()}-{one}".encode() for one in (letter, other))
        try:
            os.close(os.open(probe, os.O_CREAT | os.O_WRONLY | os.O_NOFOLLOW, 0o600, dir_fd=self._root.fd))
        except OSError:
            if letter.isascii():
                raise
            return False  # nor does it take any such name
        try:
            os.stat(alike, dir_fd=self._root.fd)
        except FileNotFoundError:
            return False
        else:
            return True
        finally:
            os.unlink(probe, dir_fd=self._root.fd)


async def _write(stream: FileIO, start: int, content: AsyncIterator[FileChunk]) -> AsyncGenerator[int]:
    stream.truncate(start)
    stream.seek(start)
    whole = start
    async for piece in content:
        if piece.count < _SMALL:
            _write_all(stream.fileno(), piece.parts)
        else:  # other files go on meanwhile
            await asyncio.to_thread(_write_all, stream.fileno(), piece.parts)
        whole = piece.size
        yield piece.count
    if stream.tell() != whole:
        raise Failure(f"{stream.tell():,} of {whole:,} bytes arrived")


def _write_all(fd: int, parts: Sequence[bytes]) -> None:
    """Write the parts one after the other, many by one call. Raises OSError."""
    ahead = deque(memoryview(part) for part in parts if part)
    while ahead:
        written = os.writev(fd, [*islice(ahead, _AT_ONCE)])
        while ahead and written >= len(ahead[0]):
            written -= len(ahead.popleft())
        if written:
            ahead[0] = ahead[0][written:]


def _prefix_of(file: Remote) -> str:
    """The beginning of the names of its unfinished files, of all its versions."""
    return f"{_UNFINISHED}{hashlib.sha256(file.name.encode()).hexdigest()[:16]}"
