"""Uploads the files that a run's nodes wrote on their own disks to a blob container.

Logs are uploaded as they grow, the rest at the end. `make` makes the directories, `follow` adds to the logs
until it is ended, `finish` uploads everything that is missing, `remove DIRECTORIES` deletes the files from
the node. Every upload can be repeated. The destination, perhaps with a signature, is the standard input.
"""

import errno
import json
import os
import stat
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, Dict, Iterator, List, Optional, Set, Tuple

from shared.engines.node.blobs import OUTAGE, Answer, Container
from shared.engines.node.files import remove
from shared.engines.node.kept.bring import bring
from shared.engines.node.kept.entries import LeftOut, Walk
from shared.engines.node.kept.left_out import LEFT_OUT, left_out_kinds, report, why_no_blob
from shared.engines.node.private import private_input
from shared.engines.node.saved.pieces import upload
from shared.engines.node.saved.program import FILL, FINISH_SAVED, WRITE_BACK, save

DIRECTORIES, RUN = "SLIPWAY_KEPT", "SLIPWAY_RUN"  # output directories of this kind: id → path; the run's name
#: The directory whose files only grow at their end.
LOGS = "stdouterr"
#: Seconds between two looks in the first hour, and later: an append blob takes 50,000 blocks.
OFTEN, SELDOM, HOUR = 5.0, 30.0, 3600.0
#: Bytes of one block of a log.
ADDITION = 4 << 20
#: How often an append is tried when the blob has another length than expected.
ROUNDS = 3

#: The blob of a program, and that of an empty folder, as mounted containers have both.
PROGRAM = {"x-ms-meta-executable": "true"}
EMPTY_FOLDER = {"x-ms-blob-type": "BlockBlob", "x-ms-meta-hdi_isfolder": "true"}


class Keeper:
    """Uploads the directories of one run to blobs with one prefix in a container."""

    def __init__(self, container: Container, prefix: str, directories: Dict[str, str]) -> None:
        self._container, self._prefix, self._directories = container, prefix, directories
        self._lengths: Dict[str, int] = {}
        self._is_away = False
        self._programs: Set[str] = set()
        #: the name of a file or folder, with that of its directory → why it is not kept
        self.left_out: Dict[str, LeftOut] = {}

    def add_logs(self) -> None:
        """Append the new lines of the logs. Raises OSError after all were tried."""
        self._upload([LOGS])

    def finish(self) -> None:
        """Upload the logs and every file of the other directories. Raises OSError after all were tried."""
        try:
            self._upload(sorted(self._directories))
        finally:
            if self.left_out:
                self._list_left_out()

    def _list_left_out(self) -> None:
        """Write the kinds of the first entries that are not kept, for the app's lists of files."""
        name = f"{self._prefix}/{LEFT_OUT}/{os.uname()[1]}.json"
        self._call("PUT", name, headers={"x-ms-blob-type": "BlockBlob"}, body=left_out_kinds(self.left_out))

    def _upload(self, identities: List[str]) -> None:
        errors: List[OSError] = []
        for identity in identities:
            for path, name in self._files(identity, errors):
                try:
                    if not path:
                        self._call("PUT", name, headers=EMPTY_FOLDER)
                        continue
                    with _opened(path) as file:
                        if file is not None:
                            self._note_mode(file, name)
                            (self._add if identity == LOGS else self._put)(file, name)
                except OSError as error:
                    errors.append(error)
        if errors:
            raise errors[0]

    def _files(self, identity: str, errors: List[OSError]) -> Iterator[Tuple[str, str]]:
        """The path and the blob of each file, and "" and the blob of each empty folder."""
        if identity not in self._directories:
            return
        prefix, left_out = f"{self._prefix}/{identity}", {}  # type: Tuple[str, Dict[str, LeftOut]]

        def why_not(name: str, is_folder: bool) -> str:
            return why_no_blob(f"{prefix}/{name}/x" if is_folder else f"{prefix}/{name}")

        roots = [os.path.realpath(path) for path in self._directories.values()]
        for path, inside in Walk(roots, why_not, left_out, errors).entries(self._directories[identity]):
            if path or identity != LOGS:
                yield path, f"{prefix}/{inside}"
        self.left_out.update((f"{identity}/{name}", one) for name, one in left_out.items())

    def _note_mode(self, file: BinaryIO, name: str) -> None:
        if os.fstat(file.fileno()).st_mode & stat.S_IXUSR:
            self._programs.add(name)

    def _add(self, file: BinaryIO, name: str) -> None:
        status = os.fstat(file.fileno())
        inode, rounds = f"{status.st_dev}-{status.st_ino}", 0
        if name not in self._lengths:
            self._lengths[name] = self._length(name, inode)
        while self._lengths[name] != status.st_size:
            if not 0 <= self._lengths[name] < status.st_size:  # none yet, or the file has been rewritten
                headers = {"x-ms-blob-type": "AppendBlob", "x-ms-meta-inode": inode}
                self._call("PUT", name, headers=headers)
                self._lengths[name] = 0
                continue
            at = self._lengths[name]
            file.seek(at)
            data = file.read(min(ADDITION, status.st_size - at))
            headers = {"x-ms-blob-condition-appendpos": str(at)}
            answer = self._call("PUT", name, {"comp": "appendblock"}, headers, data, accept=(412,))
            if answer.status == 412:  # our own append, whose answer was lost
                rounds += 1
                if rounds > ROUNDS:
                    raise OSError(f"{name} has another length each time")
                self._lengths[name] = self._length(name, inode)
            elif not data:
                return
            else:
                self._lengths[name] = at + len(data)

    def _length(self, name: str, inode: str) -> int:
        """The size of the blob in bytes; -1 if there is none of this very file."""
        answer = self._call("HEAD", name, accept=(404,))
        if answer.status == 404 or answer.headers.get("x-ms-meta-inode") != inode:
            return -1
        return int(answer.headers.get("content-length") or 0)

    def _call(
        self,
        method: str,
        name: str,
        query: Optional[Dict[str, str]] = None,
        headers: Optional[Dict[str, str]] = None,
        body: bytes = b"",
        accept: Any = (),
    ) -> Answer:
        """Send a request. While the storage is away, one file waits for it; the others are tried once."""
        patience = 0.0 if self._is_away else OUTAGE
        if name in self._programs and (query or {}).get("comp") in (None, "blocklist"):
            headers = {**(headers or {}), **PROGRAM}
        try:
            answer = self._container.call(method, name, query, headers, body, patience, accept)
        except OSError:
            self._is_away = True
            raise
        self._is_away = False
        return answer

    def _put(self, file: BinaryIO, name: str) -> None:
        upload(self._call, name, file.read, os.fstat(file.fileno()).st_size, lambda: True)


class _opened:  # noqa: N801 - used as a function
    """Open a regular file; None for anything else: a link, a pipe, a deleted file. Raises OSError."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._file: Optional[BinaryIO] = None

    def __enter__(self) -> Optional[BinaryIO]:
        try:
            descriptor = os.open(self._path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError as error:
            if error.errno in (errno.ENOENT, errno.ELOOP, errno.ENXIO):
                return None
            raise
        if stat.S_ISREG(os.fstat(descriptor).st_mode):
            self._file = os.fdopen(descriptor, "rb")
        else:
            os.close(descriptor)
        return self._file

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()


def follow(keeper: Keeper) -> None:
    """Append to the logs until the process is ended. A failure is tried again at the next look."""
    began = time.time()
    while True:
        with suppress(OSError):
            keeper.add_logs()
        time.sleep(OFTEN if time.time() < began + HOUR else SELDOM)


def keep(words: List[str]) -> int:
    """`make`, `bring`, `follow`, `finish`, or `remove DIRECTORIES`; or a word of the saved directory."""
    if words[0] == "bring":
        return bring(json.loads(private_input()), os.environ["SLIPWAY_TEMP"])
    if words[0] in (FILL, WRITE_BACK, FINISH_SAVED):
        return save(words[0], json.loads(private_input()))
    directories = json.loads(words[1] if words[0] == "remove" else os.environ[DIRECTORIES])
    if words[0] in ("make", "remove"):
        for path in directories.values():
            if words[0] == "make":
                Path(path).mkdir(parents=True, exist_ok=True)
            else:
                with suppress(OSError):
                    remove(path)
        return 0
    where = json.loads(private_input())
    keeper = Keeper(Container(where), f"{where['prefix']}/{os.environ[RUN]}", directories)
    if words[0] == "follow":
        follow(keeper)
    try:
        keeper.finish()
    except OSError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    finally:
        sys.stderr.write(report(keeper.left_out))
    return 0


if __name__ == "__main__":
    sys.exit(keep(sys.argv[1:]))
