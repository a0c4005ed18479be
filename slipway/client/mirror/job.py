"""Keeps the event files of a job on this disk, of each of its attempts in a folder of its own."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from shared.core.identity import short_id
from slipway.client.calls.patience import patiently
from slipway.client.calls.refusal import Unanswered
from slipway.client.files.download import among_others, folder_of
from slipway.client.files.names import impossible
from slipway.client.files.remote import Remote
from slipway.client.files.room import Room
from slipway.client.files.save import Destination
from slipway.client.jobs.words import ENDED
from slipway.client.mirror.allowance import Allowance
from slipway.client.mirror.growth import Growth
from slipway.client.mirror.search import Search
from slipway.client.service import Service
from slipway.failure import Failure
from slipway.terminal.characters import printable

#: Passes through all folders after the end of an attempt: a cluster may list what was written last too late.
_LAST_PASSES = 2
#: Reasons that are shown of an attempt.
_SHOWN = 10
Say = Callable[[str], None]


class AttemptMirror:
    """The event files of one attempt."""

    def __init__(self, api: Service, job_id: str, folder: Path, room: Room, say: Say) -> None:
        self._api, self._job_id, self._folder, self._room, self._say = api, job_id, folder, room, say
        self._search: Search | None = None
        self._destination: Destination | None = None
        self._growth: Growth | None = None
        #: files to which the job may have added
        self._behind = dict[str, Remote]()
        self._last_passes, self._shown = 0, set[tuple[str, str]]()
        self._listed_all = False

    @property
    def is_current(self) -> bool:
        """Whether every folder was listed once, and everything that was listed is here."""
        return self._listed_all and not self._behind

    @property
    def has_any(self) -> bool:
        """Whether there is an event file."""
        return self._growth is not None

    def close(self) -> None:
        """Release the directory."""
        if self._destination is not None:
            self._destination.close()

    async def update(self, allowance: Allowance, *, ended: bool, is_earlier: bool) -> bool:
        """Append what is new, as far as the allowance goes; whether the attempt has ended and all is here.

        Raises Failure.
        """
        if self._search is None:
            if not allowance.take():
                return False
            # What a job saved is that of its last attempt.
            outputs = self._api.results if is_earlier else self._api.outputs
            directories = await patiently(lambda: outputs(self._job_id))
            self._search = Search(self._api, self._job_id, directories)
        if ended and not self._last_passes:  # what was listed before does not count
            self._last_passes, self._listed_all = 1, False
            self._search.begin()
        # Half of the requests are for lists, so that what they show is read as well.
        findings = await self._search.list_some(Allowance(allowance.remaining // 2, allowance))
        self._behind |= {file.name: file for file in findings.files}
        for file in [*self._behind.values()]:
            if await self._catch_up(file, allowance):
                del self._behind[file.name]
        self._listed_all = self._listed_all or findings.whole
        for name, reason in self._search.unread:
            self._note(name, reason)
        self._search.unread.clear()
        if not (ended and findings.whole and not self._behind):
            return False
        self._last_passes += 1
        return self._last_passes > _LAST_PASSES

    async def _catch_up(self, file: Remote, allowance: Allowance) -> bool:
        if self._growth is None:
            self._destination = Destination(self._folder, self._job_id)
            if self._destination.other:
                self._say(among_others(self._folder, self._destination.other))
            self._growth = Growth(self._api, self._job_id, self._destination, self._room)
        if not self._growth.is_behind(file):
            return True
        try:
            return await self._growth.catch_up(file, allowance)
        except Unanswered:
            raise
        except Failure as failure:
            self._note(file.name, str(failure))
        except OSError as error:
            self._note(file.name, error.strerror or "it cannot be written")
        return True

    def _note(self, name: str, reason: str) -> None:
        """Say, once, why something is not here."""
        if (name, reason) not in self._shown and len(self._shown) < _SHOWN:
            self._shown.add((name, reason))
            self._say(f"{self._folder.name}: {printable(name)}: {reason}")


class JobMirror:
    """The event files of a job."""

    def __init__(self, api: Service, job: Mapping[str, Any], to: Path, room: Room, say: Say) -> None:
        self.id = str(job["id"])
        name = f"{job.get('name', '')}-{short_id(self.id)}"
        self._to = to / (self.id if impossible(name) or "/" in name else name)
        self._api, self._room, self._say = api, room, say
        self._attempts, self._whole = dict[int, AttemptMirror](), set[int]()
        #: whether the job has ended, and all of its event files are here
        self.is_done = False

    @property
    def is_current(self) -> bool:
        """Whether everything that was listed so far is here, of each attempt."""
        return all(one.is_current for one in self._attempts.values())

    def close(self) -> None:
        """Release the directories."""
        for attempt in self._attempts.values():
            attempt.close()

    async def update(self, job: Mapping[str, Any], allowance: Allowance) -> None:
        """Append what is new of each attempt, as far as the allowance goes, given the job's record."""
        attempts, ended = int(job.get("attempt", 1)), job["state"] in ENDED
        begun = attempts if ended or job["state"] == "running" else attempts - 1
        for number in range(1, begun + 1):
            if number in self._whole:
                continue
            if number not in self._attempts:
                self._attempts[number] = self._attempt(number)
            mirror, is_earlier = self._attempts[number], number < attempts
            try:
                if await mirror.update(allowance, ended=ended or is_earlier, is_earlier=is_earlier):
                    self._end(number)
            except Unanswered as lost:
                self._say(f"{self.id}: {lost.reason}")
                return
            except Failure as failure:
                self._say(f"{self.id}: {failure}")
                if ended:
                    self._end(number)
        if ended and self._whole.issuperset(range(1, attempts + 1)):
            self.is_done = True
            if not any(one.has_any for one in self._attempts.values()):
                self._say(f"{self.id} ({printable(str(job.get('name', '')))}) wrote no event file")

    def _attempt(self, number: int) -> AttemptMirror:
        folder = self._to.with_name(folder_of(self._to.name, number if number > 1 else 0))
        return AttemptMirror(self._api.at_attempt(number), self.id, folder, self._room, self._say)

    def _end(self, number: int) -> None:
        self._whole.add(number)
        self._attempts[number].close()
