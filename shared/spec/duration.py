"""ISO 8601 durations, as the wire writes a wall-clock limit."""

from __future__ import annotations

import re
from datetime import timedelta

_NUMBER = r"(\d{1,6})"
_ISO = re.compile(
    rf"P(?=[\dT])(?:{_NUMBER}W)?(?:{_NUMBER}D)?"
    rf"(?:T(?=\d)(?:{_NUMBER}H)?(?:{_NUMBER}M)?(?:(\d{{1,8}}(?:\.\d{{1,6}})?)S)?)?",
    re.ASCII,
)
#: What .NET prints, and what the published defaults of Batch AI contain by mistake: 7.00:00:00.
_DOT_NET = re.compile(r"(?:(\d{1,5})\.)?(\d{1,2}):(\d{2}):(\d{2})", re.ASCII)


def parse_duration(text: str) -> timedelta | None:
    """The length of an ISO 8601 duration; None for anything else. Years and months have no fixed length."""
    found = _ISO.fullmatch(text)
    if not found:
        return None
    weeks, days, hours, minutes, seconds = (float(part or 0) for part in found.groups())
    return timedelta(weeks=weeks, days=days, hours=hours, minutes=minutes, seconds=seconds)


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


def from_dot_net(text: str) -> str | None:
    """The ISO 8601 form of a .NET time span, to suggest; None for anything else."""
    found = _DOT_NET.fullmatch(text)
    if not found:
        return None
    days, hours, minutes, seconds = (int(part or 0) for part in found.groups())
    return iso_duration(timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds))
