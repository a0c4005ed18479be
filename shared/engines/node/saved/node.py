"""The saved directory of a job on one node: filled before the start, and written back.

A write-back lists the directory twice, uploads what is new, and then writes the node's manifest. So it has
what the job had at one moment. A file that is written all the time is read at one moment if it is small, and
up to its size then if it only grows; another one stays as it was before.
"""

import errno
import os
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Callable, Dict, List, Optional, Set, Tuple

from shared.engines.node.saved.folder import FILES_AT_A_TIME, Status, fill, open_below, saved_listing
from shared.engines.node.saved.generations import FILE, Content, Entry, Manifest, Moment, why_refused
from shared.engines.node.saved.pieces import PIECE, upload
from shared.engines.node.saved.reading import Frozen, Grown, Hashed, at_one_moment
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
        #: the path of what is not saved → why; and of what cannot be read
        self.left_out: Dict[str, str] = {}
        self._closed: Set[str] = set()

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
        for path in moving:
            self.left_out.setdefault(ascii(path), "it is written all the time")
        before = self._content.entries
        entries.update((path, before[path]) for path in before if path in moving or self._is_closed(path))
        return entries

    def _is_closed(self, path: str) -> bool:
        return path in self._closed or any(path.startswith(f"{one}/") for one in self._closed)

    def _at_once(self, moment: Moment) -> Tuple[Dict[str, Entry], Set[str]]:
        """What it has, after its upload, and the paths of what changed under that."""
        before = saved_listing(self._root).entries
        self._sleep(SETTLING)
        now, self.left_out, self._closed = saved_listing(self._root)
        reason = why_refused([status.size for status in now.values()])
        if reason:
            raise OSError(f"$SLIPWAY_SAVED is not saved: {reason}")
        moving = sorted(path for path in now if before.get(path) != now[path])
        still = sorted(now.keys() - set(moving))
        saved = {path: self._moving(path, now[path], moment) for path in moving}
        with ThreadPoolExecutor(FILES_AT_A_TIME) as pool:
            saved.update(zip(still, pool.map(lambda path: self._entry(path, now[path], moment), still)))
        entries = {path: entry for path, entry in saved.items() if entry is not None}
        return entries, saved.keys() - entries.keys()

    def _entry(self, path: str, status: Status, moment: Moment) -> Optional[Entry]:
        """An entry as it was listed, after its upload if it is new; None if it has changed since."""
        before = self._fresh.get(path) or self._content.entries.get(path)
        is_same = before is not None and _is_same(before, status)
        # What the other job saved, with which this one began, is the first node's to upload.
        if before and is_same and (before.part or status.kind != FILE or (self._node and not before.is_own)):
            return before
        if status.kind != FILE:
            return Entry(status.kind, text=status.text)
        return self._uploaded(path, status, moment, is_own=not is_same)

    def _moving(self, path: str, status: Status, moment: Moment) -> Optional[Entry]:
        """The entry of what differed between the listings; None if no moment of it can be read."""
        if status.kind != FILE:
            return Entry(status.kind, text=status.text)
        descriptor, before = self._opened(path), self._content.entries.get(path)
        if descriptor is None:
            return None
        with os.fdopen(descriptor, "rb") as file:
            if status.size > PIECE and before is not None and 0 < before.size <= status.size:
                grown = Grown(file, status, before)
                return self._send(path, status, grown, moment, is_own=True)
            at_moment = at_one_moment(descriptor) if status.size <= PIECE else None
        if at_moment is None:
            return None
        status, data = at_moment
        return self._send(path, status, Frozen(data), moment, is_own=True)

    def _uploaded(self, path: str, status: Status, moment: Moment, is_own: bool) -> Optional[Entry]:
        descriptor = self._opened(path)
        if descriptor is None:
            return None
        with os.fdopen(descriptor, "rb") as opened_file:
            file = Hashed(opened_file)
            return self._send(path, status, file, moment, is_own) if file.status == status else None

    def _opened(self, path: str) -> Optional[int]:
        try:
            return open_below(self._root, path)
        except OSError as error:
            if error.errno not in _REPLACED:
                self.left_out[ascii(path)] = f"it cannot be read: {error.strerror}"
                self._closed.add(path)
            return None

    def _send(self, path: str, status: Status, file: Hashed, moment: Moment, is_own: bool) -> Optional[Entry]:
        """The entry of a file after its upload; None if it was not whole."""
        part = f"{moment}-{os.urandom(16).hex()}"
        name, call = self._shelf.path(part), self._shelf.container.call
        if not upload(call, name, file.read, status.size, lambda: file.is_whole(status)):
            return None
        digest = file.digest.hexdigest()
        entry = Entry(FILE, status.size, status.modified, status.mode, digest, part, is_own)
        self._fresh[path] = entry
        return entry


def _is_same(entry: Entry, status: Status) -> bool:
    if entry.kind != FILE or status.kind != FILE:
        return (entry.kind, entry.text) == (status.kind, status.text)
    return entry[1:4] == (status.size, status.modified, status.mode)
