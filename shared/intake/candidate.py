"""candidate: a request and what its door knows of it, and the place of its record. Pure."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from shared.core.caller import KEY_HOLDER, Caller
from shared.core.identity import job_id
from shared.core.job import Drop
from shared.core.relations.contents import Member
from shared.intake.message import Request

#: Doors whose callers get an error when they exceed a limit, or name code that is not there.
ANSWERED = ("http", "rerun")


@dataclass(frozen=True)
class Candidate:
    """A request and its door. `source` is the caller or the door; `key` makes duplicates one."""

    door: str
    source: str
    key: str
    request: Request
    #: whose rights count; a storage role or a function key has all of them
    who: Caller = KEY_HOLDER
    #: of the job, where its envelope has none
    name: str = ""
    experiment: str = ""
    drop: Drop | None = None
    script: str | None = None
    #: youngest Last-Modified of the dropped files, by the storage's clock
    modified: datetime | None = None
    #: where to start looking for the generation (a hint from a cache)
    generation: int = 1
    #: the job that is run again
    rerun_of: str = ""
    #: the same, if this one goes on from what that one saved
    resumes: str = ""
    #: of a job of a job sweep, which has the team of its sweep
    member: Member | None = None
    team: str = ""

    @property
    def folder(self) -> str | None:
        """The folder whose files it mounts; None if it is not a drop."""
        return self.drop.folder if self.drop is not None else None

    @property
    def has_read_scripts(self) -> bool:
        """Whether its scripts were read already: those of a folder, of a sweep and of a job that ran."""
        return bool(self.member or self.rerun_of or (self.drop is not None and self.drop.files))

    @property
    def place(self) -> Place:
        """Where its record stands, as far as its door knows."""
        return Place(key_of(self.source, self.key), self.generation)


def key_of(source: str, key: str) -> str:
    """The key that makes two candidates the same job, as records keep it."""
    return hashlib.sha256(f"{source}|{key}".encode()).hexdigest()


class Place(NamedTuple):
    """The key and the generation of a record."""

    key: str
    generation: int

    @property
    def id(self) -> str:
        """The id of the record that stands there."""
        return job_id(self.key, self.generation)
