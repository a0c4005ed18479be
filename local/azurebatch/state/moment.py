"""Moments, durations and versions as the service writes them. Pure."""

import re
from datetime import UTC, datetime, timedelta

from local.azurebatch.state.errors import invalid

#: The longest duration that the service knows: no limit.
NO_LIMIT = "P10675199DT2H48M5.4775807S"
_DURATION = re.compile(r"P(?:(\d+)D)?(?:T(?=\d)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?")
_YEAR_ONE = datetime(1, 1, 1, tzinfo=UTC)


def stamp(moment: datetime) -> str:
    """A moment in UTC on the wire: fractions without zeros at their end."""
    text = moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds")
    return text.rstrip("0").rstrip(".") + "Z"


def etag(moment: datetime) -> str:
    """The version of what was changed then: its ticks of 100 ns in hexadecimal digits, without quotes."""
    return f"0x{(moment - _YEAR_ONE) // timedelta(microseconds=1) * 10:X}"


def duration(text: str, name: str) -> timedelta | None:
    """A duration of ISO 8601; None for one without limit. Raises BatchError."""
    match = _DURATION.fullmatch(text) if isinstance(text, str) else None
    if match is None or text in ("P", "PT"):
        raise invalid(name, str(text), "The value is no duration of ISO 8601, as PT10M is")
    if text == NO_LIMIT:
        return None
    days, hours, minutes, seconds = (float(part or 0) for part in match.groups())
    try:
        return timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)
    except OverflowError:
        return None


def read_stamp(text: str) -> datetime:
    """A moment that a client wrote. Raises ValueError."""
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
