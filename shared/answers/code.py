"""The code of a job: where a client sends it, and what is in it."""

from __future__ import annotations

from typing import Self

from pydantic import Field

from shared.answers.base import Answer, Time
from shared.answers.job import JobCode
from shared.snapshots.grammar import Entry
from shared.snapshots.listing import as_text


class SnapshotPlace(Answer):
    """Whether an archive is there already, or where it is to be sent."""

    is_there: bool = Field(alias="known")
    upload: str | None = None
    """An address that takes the archive in one PUT, once, and can do nothing else."""
    expires: Time | None = None
    """Until when it does."""


class CodeEntry(Answer):
    """A member of an archive, as it says of itself; the name of a folder ends with a slash."""

    name: str
    bytes: int
    executable: bool | None = None
    link: str | None = None
    """What a link leads to."""
    escaped: bool | None = None
    """Whether name or link has escapes: a byte that is not UTF-8 is written as `\\xff`, a backslash twice."""

    @classmethod
    def from_member(cls, entry: Entry) -> Self:
        """The member, with a name and a link that are text."""
        name, link = as_text(entry.name), as_text(entry.link)
        return cls(
            name=name,
            bytes=entry.size,
            executable=entry.executable or None,
            link=link or None,
            escaped=(name, link) != (entry.name, entry.link) or None,
        )


class CodeListing(JobCode):
    """The code of a job, and what is in it."""

    entries: tuple[CodeEntry, ...]
    """Its members; with `file`, those of that name."""
    more: bool
    """Whether it has more than is listed: 20,000 members, 32 MiB unpacked, none of more than that packed."""
    text: str | None = None
    """The first 64 KiB of `file`, which is read as UTF-8."""
    url: str
    """An address that reads the archive from storage."""
    expires: Time
