"""What the API answers about files, taken for what it says only if it can be."""

import re
from datetime import datetime
from typing import Any

import aiohttp

from slipway.failure import Failure

_RANGE = re.compile(r"bytes (\d{1,18})-(\d{1,18})/(\d{1,18})", re.ASCII)


class Body(dict[str, Any]):
    """An answer in JSON. What it lacks is a Failure where it is looked for."""

    def __missing__(self, name: str) -> Any:
        raise Failure(f"the service's answer has no {name!r}; is it of another version?")


def range_of(answer: aiohttp.ClientResponse, count: int) -> tuple[int, int]:
    """The first byte of an answer of so many bytes, and the size of the whole file. Raises Failure."""
    if answer.status != 206:
        return 0, count
    match = _RANGE.fullmatch(answer.headers.get("Content-Range", ""))
    first, last, size = map(int, match.groups()) if match else (0, -1, 0)
    if not first <= last < size or count > last - first + 1:
        raise Failure("the service sent a part of a file, and does not say which")
    return first, size


def listed(files: object, folder: str) -> list[dict[str, Any]]:
    """The entries of a folder. Raises Failure for what is no list of them."""
    if not isinstance(files, list) or not all(map(_is_entry, files)):
        raise Failure(f"the service's answer is not a list of {folder}; is it of another version?")
    return files


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
