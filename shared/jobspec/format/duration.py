"""ISO 8601 durations, as the wire writes a wall-clock limit."""

from __future__ import annotations

import re
from datetime import timedelta
from functools import lru_cache

#: What the service applied to a job without constraints.
DEFAULT_WALL_CLOCK = timedelta(days=7)
_NUMBER = r"(\d{1,8})"
#: Including .NET's form: seven decimals, and up to eight digits of days.
_ISO = re.compile(
    rf"P(?=[\dT])(?:{_NUMBER}W)?(?:{_NUMBER}D)?"
    rf"(?:T(?=\d)(?:{_NUMBER}H)?(?:{_NUMBER}M)?(?:(\d{{1,8}}(?:\.\d{{1,7}})?)S)?)?",
    re.ASCII,
)
#: More characters than such a duration can have.
_LONGEST = 64
#: All that ISO 8601 calls a duration, in its usual form.
_PART = r"(\d+(?:[.,]\d+)?)"
_ANY = re.compile(
    rf"P(?=[\dT])(?:{_PART}Y)?(?:{_PART}M)?(?:{_PART}W)?(?:{_PART}D)?"
    rf"(?:T(?=\d)(?:{_PART}H)?(?:{_PART}M)?(?:{_PART}S)?)?",
    re.ASCII,
)
_UNITS = ("weeks", "days", "hours", "minutes", "seconds")
#: What .NET prints, and what the published defaults of Batch AI contain by mistake: 7.00:00:00; and
#: with a dash, as the limits of batch systems are written.
_DOT_NET = re.compile(r"(?:(\d{1,5})[.-])?(\d{1,2}):(\d{2}):(\d{2})", re.ASCII)
#: What people write, and what Python prints: 24h, 90 min, 2 days; 7 days, 0:00:00.
_WORDS = re.compile(
    r"(?:(\d{1,4}) ?w(?:eeks?)?)?,? ?(?:(\d{1,5}) ?d(?:ays?)?)?,? ?(?:(\d{1,6}) ?h(?:(?:ou)?rs?)?)?,? ?"
    r"(?:(\d{1,7}) ?m(?:in(?:ute)?s?)?)?,? ?(?:(\d{1,8}) ?s(?:ec(?:ond)?s?)?)?",
    re.ASCII | re.IGNORECASE,
)
_PYTHON = re.compile(r"(\d{1,5}) days?, (\d{1,2}):(\d{2}):(\d{2})", re.ASCII)


def parse_duration(text: str) -> timedelta | None:
    """The length of an ISO 8601 duration; None for anything else. Years and months have no fixed length."""
    return _length(text) if len(text) <= _LONGEST else None


@lru_cache(maxsize=256)
def _length(text: str) -> timedelta | None:
    match = _ISO.fullmatch(text)
    if not match:
        return None
    weeks, days, hours, minutes, seconds = (float(part or 0) for part in match.groups())
    return timedelta(weeks=weeks, days=days, hours=hours, minutes=minutes, seconds=seconds)


def duration_flaw(text: str) -> str:
    """Why a text is not a length that `parse_duration` takes, to continue a sentence; "" if it is one."""
    if parse_duration(text) is not None:
        return ""
    match = _ANY.fullmatch(text)
    if match is None:
        return "is not an ISO 8601 duration"
    if match[1] or match[2]:
        return f"is in {'years' if match[1] else 'months'}, which have no fixed length"
    parts = zip(_UNITS, match.groups()[2:], strict=True)
    unit = next((unit for unit, part in parts if part and not part.isdecimal()), "")
    if unit in ("", "seconds"):
        return "has a decimal comma" if "," in text else "has more digits than a limit can have"
    return f"has a fraction of {unit}; here, only seconds can have one"


def meant_duration(text: str) -> str | None:
    """The ISO 8601 form of the length that was certainly meant by a text; None if it is none.

    Also for one in lowercase, between blanks, with fractions, and in the form of people and other systems.
    """
    plain = text.strip()[:64]
    if parse_duration(plain.upper()) is not None:
        return plain.upper()
    return _without_fractions(plain.upper()) or _from_clock(plain) or _from_words(plain)


def _without_fractions(text: str) -> str | None:
    """The same length with whole numbers, (PT1.5H: PT1H30M); None for anything else."""
    match = _ANY.fullmatch(text)
    if match is None or match[1] or match[2] or max(map(len, filter(None, match.groups())), default=99) > 8:
        return None
    numbers = (float((part or "0").replace(",", ".")) for part in match.groups()[2:])
    length = timedelta(**dict(zip(_UNITS, numbers, strict=True)))
    return None if length.microseconds else iso_duration(length)


def wall_clock(text: str | None, longest: timedelta | None = None) -> timedelta:
    """The limit of a job: its own, else the service's, or less if the cluster allows less."""
    return parse_duration(text or "") or min(DEFAULT_WALL_CLOCK, longest or DEFAULT_WALL_CLOCK)


def iso_duration(length: timedelta) -> str:
    """The length in ISO 8601, in days, hours, minutes and seconds."""
    seconds = length.seconds
    clock = "".join(
        f"{count}{unit}"
        for count, unit in ((seconds // 3600, "H"), (seconds // 60 % 60, "M"), (seconds % 60, "S"))
        if count
    )
    days = f"{length.days}D" if length.days else ""
    return f"P{days}T{clock}" if clock else f"P{days or 'T0S'}"


def _from_clock(text: str) -> str | None:
    """The ISO 8601 form of a time span of .NET, of Python or of a batch system; None for anything else."""
    match = _DOT_NET.fullmatch(text) or _PYTHON.fullmatch(text)
    if not match:
        return None
    days, hours, minutes, seconds = (int(part or 0) for part in match.groups())
    return iso_duration(timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds))


def _from_words(text: str) -> str | None:
    """The ISO 8601 form of a number with a unit or of several (24h, 7 days), None for others."""
    match = _WORDS.fullmatch(text)
    if not match or not any(match.groups()):
        return None
    weeks, days, hours, minutes, seconds = (int(part or 0) for part in match.groups())
    return iso_duration(timedelta(weeks=weeks, days=days, hours=hours, minutes=minutes, seconds=seconds))
