"""The saved directory of a job on one node: filled before the start, and written back.

A write-back lists the directory twice, uploads what is new, and then writes the node's manifest. So it has
what the job had at one moment; a file that moves all the time stays as it was at the one before.
"""

import errno
import hashlib
import os
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import BinaryIO, Callable, Dict, List, Optional, Set, Tuple

from shared.engines.node.saved.folder import FILES_AT_A_TIME, Status, fill, listing, open_below, status_of
from shared.engines.node.saved.generations import FILE, Content, Entry, Manifest, Moment, why_refused
from shared.engines.node.saved.pieces import upload
from shared.engines.node.saved.shelf import Shelf, Source

#: Seconds between the two listings, longer than a file system's clock stands still; how often they are tried
#: until nothing moves, and the seconds between.
SETTLING, ROUNDS_SAVED, PAUSE = 0.1, 5, 1.0
#: The errors of a file that was replaced since it was listed.
_REPLACED = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENXIO)


class Saved:
    """The directory on the node of that number, of the run's `nodes`."""

    def __init__(
        self,
        shelf: Shelf,
        root: str,
        run: Moment,
        node: int,
        nodes: int,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._shelf, self._root, self._run = shelf, root.rstrip("/"), run
        self._node, self._nodes, self._sleep = node, nodes, sleep
        self._content = Content({}, set())
        #: what was uploaded and is in no manifest yet
        self._fresh: Dict[str, Entry] = {}
        #: the path of what is not saved → why
        self.left_out: Dict[str, str] = {}

    def fill(self) -> List[Entry]:
        """Fill the directory with the newest generation before this run; returns its entries.

        What another job saved becomes this one's own first generation. Raises OSError, unless a newer
        generation has taken the place of that meanwhile.
        """
        if self._node == 0:
            self._shelf.note()
        source = self._filled()
        if not self._shelf.is_own(source):
            self.begin()
            self.write_back(0)
        return list(source.entries.values())

    def _filled(self) -> Source:
        while True:
            source = self._shelf.source(self._run)
            try:
                fill(self._root, source.entries, partial(self._shelf.bring, source))
                return source
            except OSError:
                if self._shelf.source(self._run) == source:
                    raise

    def begin(self) -> None:
        """Read what this node has saved already in this run, or began with. Raises OSError."""
        self._run, content = self._shelf.last(self._run, self._node)
        if content is None:
            source = self._shelf.source(self._run)
            entries = source.entries
            if not self._shelf.is_own(source):  # the other job's may be deleted: uploaded for this one
                entries = {path: entry._replace(part="") for path, entry in entries.items()}
            content = Content(entries, set())
        self._content = content

    def write_back(self, at: int) -> None:
        """Save what the directory has now, as that second's generation. Raises OSError."""
        moment = self._run._replace(time=max(at, self._run.time + 1))
        entries, before = self._collected(moment), self._content.entries
        began = {path for path, entry in before.items() if not entry.is_own}
        replaced = {path for path in began if path not in entries or entries[path].is_own}
        content = Content(entries, self._content.replaced | replaced)
        if self._nodes == 1 and content == self._content:
            return
        self._shelf.write(Manifest(moment, self._node, self._nodes), content)
        self._content, self._run = content, moment
        self._fresh.clear()
        if self._node == 0:
            self._shelf.clean(moment)

    def _collected(self, moment: Moment) -> Dict[str, Entry]:
        """Everything that the directory has, after its upload. Raises OSError."""
        entries, moving = self._at_once(moment)
        for _ in range(ROUNDS_SAVED):
            if moving:
                self._sleep(PAUSE)
                entries, moving = self._at_once(moment)
        for path in moving & self._content.entries.keys():
            entries[path] = self._content.entries[path]
        return entries

    def _at_once(self, moment: Moment) -> Tuple[Dict[str, Entry], Set[str]]:
        """What stood still, after its upload, and the paths of what did not."""
        before = listing(self._root).entries
        self._sleep(SETTLING)
        now, self.left_out = listing(self._root)
        reason = why_refused([status.size for status in now.values()])
        if reason:
            raise OSError(f"$SLIPWAY_SAVED is not saved: {reason}")
        moving = {path for path in {*before, *now} if before.get(path) != now.get(path)}
        still = sorted(now.keys() - moving)
        with ThreadPoolExecutor(FILES_AT_A_TIME) as pool:
            saved = dict(zip(still, pool.map(lambda path: self._entry(path, now[path], moment), still)))
        entries = {path: entry for path, entry in saved.items() if entry is not None}
        return entries, moving | (saved.keys() - entries.keys())

    def _entry(self, path: str, status: Status, moment: Moment) -> Optional[Entry]:
        """An entry as it was listed, after its upload if it is new; None if it has changed since."""
        before = self._fresh.get(path) or self._content.entries.get(path)
        is_same = before is not None and _is_same(before, status)
        # What the other job saved, with which this one began, is the first node's to upload.
        if before and is_same and (before.part or status.kind != FILE or (self._node and not before.is_own)):
            return before
        if status.kind != FILE:
            return Entry(status.kind, text=status.text)
        return self._uploaded(path, status, f"{moment}-{os.urandom(16).hex()}", is_own=not is_same)

    def _uploaded(self, path: str, status: Status, part: str, is_own: bool) -> Optional[Entry]:
        try:
            descriptor = open_below(self._root, path)
        except OSError as error:
            if error.errno not in _REPLACED:
                self.left_out[ascii(path)] = f"it cannot be read: {error.strerror}"
            return None
        with os.fdopen(descriptor, "rb") as opened_file:
            file = _Hashed(opened_file)
            is_whole = file.has(status) and upload(
                self._shelf.container.call,
                self._shelf.path(part),
                file.read,
                status.size,
                lambda: file.has(status) and file.count == status.size,
            )
        if not is_whole:
            return None
        digest = file.digest.hexdigest()
        entry = Entry(FILE, status.size, status.modified, status.mode, digest, part, is_own)
        self._fresh[path] = entry
        return entry


class _Hashed:
    """A file that is read once, from its beginning, with the SHA-256 of what was read."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self.digest, self.count = file, hashlib.sha256(), 0

    def read(self, count: int) -> bytes:
        """The next bytes."""
        data = self._file.read(count)
        self.digest.update(data)
        self.count += len(data)
        return data

    def has(self, status: Status) -> bool:
        """Whether the file still has that status."""
        return status_of(os.fstat(self._file.fileno())) == status


def _is_same(entry: Entry, status: Status) -> bool:
    if entry.kind != FILE or status.kind != FILE:
        return (entry.kind, entry.text) == (status.kind, status.text)
    return entry[1:4] == (status.size, status.modified, status.mode)
