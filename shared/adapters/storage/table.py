"""What the ledger needs of a table: point reads, ranges of one partition, and transactions in one partition.

There are two implementations: the service's (`resttable`), and one in memory for tests.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any, Literal, NamedTuple, Protocol

from pydantic_core import to_json

Row = dict[str, Any]
#: The name under which a row of a range holds its version; no column is called this.
ETAG = "odata.etag"


class Refused(Exception):
    """The table refused a transaction: 404 missing, 409 exists already, 412 another version."""

    def __init__(self, status: int) -> None:
        super().__init__(f"the table answered {status}")
        self.status = status


@dataclass(frozen=True)
class Operation:
    """One row of a transaction. `etag` guards `replace`, `merge` and `delete`; "*" is any version.

    `merge` and `upsert` keep columns that the row does not name, such as those of a newer version.
    """

    verb: Literal["create", "replace", "merge", "upsert", "delete"]
    row: Row
    etag: str = "*"

    @cached_property
    def body(self) -> bytes:
        """The row as it is sent. Made once, since its length decides which writes share a transaction.

        Line separators are escaped: the storage emulator cuts a line of a transaction at them, and then
        refuses every transaction.
        """
        body = to_json(self.row)
        if b"\xe2" not in body:  # as both begin
            return body
        return body.replace(b"\xe2\x80\xa8", rb"\u2028").replace(b"\xe2\x80\xa9", rb"\u2029")


@dataclass(frozen=True)
class Range:
    """Rows of one partition with `first` <= RowKey < `last`.

    `due`: only those due at or before it, or after `beyond`; those with a RowKey < `due_from` in any case.
    `equal`: only those with a column of this value. `etags`: each row has its version under `ETAG`.
    """

    partition: str
    first: str
    last: str
    due: str = ""
    beyond: str = ""
    due_from: str = ""
    equal: tuple[str, str] = ("", "")
    select: tuple[str, ...] = ()
    #: 0 for all
    limit: int = 0
    etags: bool = False


class DueRange(NamedTuple):
    """`Due` columns up to the first, or beyond the second, are due; compared as text."""

    due: str
    never: str


@dataclass(frozen=True)
class VersionedRow:
    """A row with its version, and the storage's own time of its last write."""

    row: Row
    etag: str
    written: datetime


class Table(Protocol):
    """A table of the service. Every verb raises Unavailable when the outcome is unknown."""

    async def make(self) -> bool:
        """Create it. Returns whether it is new."""

    async def get(self, partition: str, row: str) -> VersionedRow | None:
        """One row; None when it, or the table, is missing."""

    async def rows(self, key_range: Range) -> list[Row]:
        """The rows of a range, in order."""

    async def transact(self, operations: Sequence[Operation]) -> list[str]:
        """All or nothing, in one partition; returns the ETags. Raises Refused; Misuse for too large a row."""


_CHUNK = 16_000  # characters: at most two UTF-16 units each


def split(name: str, text: str) -> dict[str, str]:
    """A long text as columns, each within the service's limit.

    An empty column marks the end, since a merge keeps the later columns of an earlier, longer text.
    """
    chunks = [text[at : at + _CHUNK] for at in range(0, max(1, len(text)), _CHUNK)]
    return {f"{name}{n}": chunk for n, chunk in enumerate([*chunks, ""])}


def text_at(entity: Mapping[str, Any], name: str, default: str | None = None) -> str:
    """A column that holds a text. Raises TypeError for any other value, and KeyError if it is not there."""
    value = entity[name] if default is None else entity.get(name, default)
    if not isinstance(value, str):
        raise TypeError(f"{name} is not a text")
    return value


def flag_at(entity: Mapping[str, Any], name: str, *, default: bool | None = None) -> bool:
    """The same for one that holds true or false."""
    value = entity[name] if default is None else entity.get(name, default)
    if not isinstance(value, bool):
        raise TypeError(f"{name} is neither true nor false")
    return value


def joined(name: str, entity: Mapping[str, Any]) -> str:
    """The text that some columns hold. Raises KeyError if there is none."""
    parts = [entity[f"{name}0"]]
    while part := entity.get(f"{name}{len(parts)}"):
        parts.append(part)
    return "".join(parts)
