"""The API's answers about jobs and files, checked before they are used."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from slipway.client.calls.refusal import Unanswered
from slipway.failure import NO_ANSWER, Failure

if TYPE_CHECKING:
    import aiohttp

_RANGE = re.compile(r"bytes (\d{1,18})-(\d{1,18})/(\d{1,18})", re.ASCII)


@dataclass(frozen=True)
class Blob:
    """A file in storage. Its address is a secret until it expires, because it needs no key."""

    size: int
    #: Unix time
    modified: float
    url: str = field(repr=False)


@dataclass(frozen=True)
class AddressPage:
    """One page of a folder's blobs, by name; `next` is where the next page begins, or ""."""

    blobs: Mapping[str, Blob]
    next: str
    expires: datetime
    first: str
    last: str


@dataclass(frozen=True)
class FileChunk:
    """Bytes of a file, in the parts in which they arrived; the file's size; its validator, or ""."""

    content: bytes | Sequence[bytes]
    size: int
    tag: str

    @property
    def parts(self) -> Sequence[bytes]:
        """The bytes, without joining them."""
        return (self.content,) if isinstance(self.content, bytes) else self.content

    @property
    def data(self) -> bytes:
        """All parts, joined."""
        return b"".join(self.parts)

    @property
    def count(self) -> int:
        """The number of bytes in all parts."""
        return sum(map(len, self.parts))


@dataclass(frozen=True)
class FilePage:
    """One page of a folder's entries; `next` is where the next page begins, or ""."""

    files: list[dict[str, Any]]
    next: str


@dataclass(frozen=True)
class LogChunk:
    """A chunk of a log; read on at `next` while `more`."""

    data: bytes
    next: int
    more: bool
    #: The name of the file that was read, "" if there is none.
    file: str = ""


@dataclass(frozen=True)
class Listed:
    """One page of jobs, newest first; `next` is where the next page begins.

    `searched_to`: the search has looked back only to that moment, and goes on at `next`.
    """

    jobs: list[dict[str, Any]]
    next: str | None
    searched_to: str | None = None


class Body(dict[str, Any]):
    """An answer in JSON. Reading a missing member raises a Failure."""

    def __missing__(self, name: str) -> Any:
        raise Failure(f"the service's answer lacks {name!r}; is it of another version?", NO_ANSWER)


def range_of(answer: aiohttp.ClientResponse, count: int) -> tuple[int, int]:
    """The first byte of an answer of `count` bytes, and the size of the whole file. Raises Failure."""
    if answer.status == 200:
        return 0, count
    match = _RANGE.fullmatch(answer.headers.get("Content-Range", ""))
    first, last, size = map(int, match.groups()) if match else (0, -1, 0)
    if not first <= last < size or count > last - first + 1:
        raise Failure("the service sent a part of a file, and does not say which", NO_ANSWER)
    if count < last - first + 1:
        raise Unanswered("an answer with a part of a file ended too early")
    return first, size


async def log_chunk(answer: aiohttp.ClientResponse) -> LogChunk:
    """The chunk in an answer. Raises ValueError for an answer that is not one."""
    headers = answer.headers
    if "Slipway-Next-Offset" not in headers:
        raise ValueError("the answer is not a part of a log")
    name = unquote(headers.get("Slipway-File", ""))
    more = headers.get("Slipway-More") == "true"
    return LogChunk(await answer.read(), int(headers["Slipway-Next-Offset"]), more, name)


def listed(files: object, folder: str) -> list[dict[str, Any]]:
    """The entries of a folder. Raises Failure for anything else."""
    if not isinstance(files, list) or not all(map(_is_entry, files)):
        raise Failure(f"the service's answer is not a list of {folder}; is it of another version?", NO_ANSWER)
    return files


def following(answer: Mapping[str, Any], after: str) -> str:
    """The cursor of the list's next page, "" after the last one. Raises Failure for an endless list."""
    cursor = answer.get("next") or ""
    if not isinstance(cursor, str) or (cursor and cursor == after):
        raise Failure("the service's list of files never ends", NO_ANSWER)
    return cursor


def _is_entry(file: object) -> bool:
    if not isinstance(file, dict) or not isinstance(file.get("name"), str):
        return False
    size, modified = file.get("bytes"), file.get("modified")
    if size is not None and (type(size) is not int or size < 0):
        return False
    return modified is None or (isinstance(modified, str) and _is_moment(modified))


def _is_moment(text: str) -> bool:
    try:
        datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError):
        return False
    return True


def address_page(answer: Mapping[str, Any], after: str, *, secure: bool) -> AddressPage | None:
    """The page; None if there are no addresses. Raises Failure for an invalid one.

    `secure`: refuse an address without encryption.
    """
    expires, listed = answer["expires"], answer["addresses"]
    if expires is None:
        return None
    schemes = "https://" if secure else ("https://", "http://")
    try:
        blobs = {str(one["name"]): _blob(one) for one in listed if one["url"].startswith(schemes)}
        names = [str(one["name"]) for one in listed] or [""]
        until = datetime.fromisoformat(expires)
        page = AddressPage(blobs, answer["next"] or "", until, min(names), max(names))
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
        raise Failure(
            "the service's answer is not a list of addresses; is it of another version?", NO_ANSWER
        ) from None
    if page.expires.tzinfo is None or (page.next and page.next == after):
        raise Failure("the service's list of addresses never ends", NO_ANSWER)
    return page


def _blob(entry: Mapping[str, Any]) -> Blob:
    return Blob(int(entry["bytes"]), datetime.fromisoformat(entry["modified"]).timestamp(), entry["url"])


def settings_in(answer: Mapping[str, Any]) -> dict[str, str]:
    """The settings in an answer. Raises Failure if it has none."""
    settings = answer.get("settings")
    if not isinstance(settings, dict) or not all(isinstance(one, str) for one in settings.values()):
        raise Failure("its answer lacks the settings", NO_ANSWER)
    return settings
