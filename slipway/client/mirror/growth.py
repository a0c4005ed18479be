"""Appends to files where they lie what a job has added to its own, without ever replacing one.

TensorBoard keeps an event file open: what takes its place is never seen, what is appended is.
"""

from dataclasses import replace

from slipway.client.calls.patience import patiently
from slipway.client.calls.refusal import Changed, Unanswered
from slipway.client.files.output import CHUNK
from slipway.client.files.places import Places, Tail
from slipway.client.files.remote import Remote
from slipway.client.files.room import Room
from slipway.client.mirror.allowance import Allowance
from slipway.client.service import Service
from slipway.failure import Failure

#: Last bytes that are read again: a file that has others there is another one.
_OVERLAP = 64
#: Versions of a file, each with another beginning, and files of an attempt.
_MOST_VERSIONS, _MOST_FILES = 20, 1_000


class Growth:
    """The event files of one attempt on this disk."""

    def __init__(self, api: Service, job_id: str, places: Places, room: Room) -> None:
        self._api, self._job_id, self._places, self._room = api, job_id, places, room
        self._versions = dict[str, int]()
        #: bytes of each file for which there is room
        self._expected = dict[str, int]()
        #: each file as a list showed it when all of it was here, or could not be
        self._done = dict[str, Remote]()

    def is_behind(self, file: Remote) -> bool:
        """Whether the job may have added to the file."""
        return self._done.get(file.name) != file

    async def catch_up(self, file: Remote, allowance: Allowance) -> bool:
        """Append what is new, up to the size in the list; whether all of it is here.

        A file that has become shorter, or another one, begins anew beside the old one. Raises Unanswered;
        and Failure and OSError for a file that cannot be kept here, once for each of its changes.
        """
        try:
            while not await self._append(file, allowance):
                if allowance.spent:
                    return False
        except Unanswered:
            raise
        except (Failure, OSError):
            self._done[file.name] = file
            raise
        self._done[file.name] = file
        return True

    async def _append(self, file: Remote, allowance: Allowance) -> bool:
        """Append one part; whether it was the last one."""
        place = self._place(file)
        tail = self._places.tail(place, _OVERLAP) or Tail(0, b"")
        if not (tail.size or file.size):
            return True
        self._expect(file, tail)
        if not allowance.take():
            return False
        first = tail.size - len(tail.data)
        last = min(max(file.size, tail.size), first + CHUNK) - 1
        try:
            chunk = await patiently(
                lambda: self._api.content(self._job_id, file.directory, file.path, first, last)
            )
        except Changed:
            if not tail.size:  # it is empty now
                return True
            self._begin_anew(file)
            return False
        data = chunk.data
        if not data.startswith(tail.data):
            self._begin_anew(file)
            return False
        self._places.put(place, tail.size, data[len(tail.data) :])
        return first + len(data) >= min(file.size, chunk.size) or len(data) == len(tail.data)

    def _expect(self, file: Remote, tail: Tail) -> None:
        """Count the bytes that are to come, before any of them is read. Raises Failure."""
        if file.name not in self._expected and len(self._expected) == _MOST_FILES:
            raise Failure(f"the job has more than {_MOST_FILES:,} event files; the others were not read")
        before = self._expected.get(file.name, tail.size)
        self._room.take(max(0, file.size - before))
        self._expected[file.name] = max(before, file.size)

    def _begin_anew(self, file: Remote) -> None:
        if self._versions[file.name] == _MOST_VERSIONS:
            raise Failure(f"it has begun anew {_MOST_VERSIONS - 1} times; what follows is not read")
        self._versions[file.name] += 1
        self._expected[file.name] = 0

    def _place(self, file: Remote) -> Remote:
        """The file on this disk to which is appended: of several versions the last."""
        if file.name not in self._versions:
            version = 1
            while version < _MOST_VERSIONS and self._places.tail(_version(file, version + 1), 0) is not None:
                version += 1
            self._versions[file.name] = version
        return _version(file, self._versions[file.name])


def _version(file: Remote, number: int) -> Remote:
    """The place of a version; TensorBoard reads the files of a folder in the order of their names."""
    return file if number == 1 else replace(file, path=f"{file.path}.slipway-{number}")
