"""Values that a cluster, or a job itself, wrote: each in its required type, or None. Pure."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

#: Exit codes are 32 bits wide on every system that runs jobs.
_CODES = range(-(2**31), 2**32)
_LONGEST_PATH = 1024


def exit_code(value: Any) -> int | None:
    """A whole number that a process can end with; true and false do not count, although Python says so."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value in _CODES else None


def moment(value: Any) -> datetime | None:
    """A time; in UTC if it has no zone."""
    if not isinstance(value, str):
        return None
    try:
        time = datetime.fromisoformat(value)
        return time.astimezone(UTC) if time.tzinfo else time.replace(tzinfo=UTC)
    except (ValueError, OverflowError):  # no time, or in UTC before the first year or after the last
        return None


def path(value: Any) -> str:
    """A relative path in printable characters, without slashes around it; "" for an invalid one."""
    if not isinstance(value, str) or not value.isprintable():
        return ""
    plain = value.strip("/")
    return plain if len(plain) <= _LONGEST_PATH and ".." not in plain.split("/") else ""
