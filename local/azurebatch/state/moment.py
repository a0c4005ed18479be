"""Moments, durations and versions as the service writes them. Pure."""

import re
from datetime import UTC, datetime, timedelta

from local.azurebatch.state.errors import invalid

#: The service's longest duration, which means no limit.
NO_LIMIT = "P10675199DT2H48M5.4775807S"
_LONGEST = timedelta(days=10675199, hours=2, minutes=48, seconds=5, microseconds=477580)
_DURATION = re.compile(r"P(?:(\d+)D)?(?:T(?=\d)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?")
_YEAR_ONE = datetime(1, 1, 1, tzinfo=UTC)


def stamp(moment: datetime) -> str:
    """A moment in UTC as the wire has it, without trailing zeros of the fraction."""
    text = moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds")
    return text.rstrip("0").rstrip(".") + "Z"


def etag(moment: datetime) -> str:
    """The ETag of a change at this moment: ticks of 100 ns in hexadecimal, without quotes."""
    return f"0x{(moment - _YEAR_ONE) // timedelta(microseconds=1) * 10:X}"


def duration(text: str, name: str) -> timedelta | None:
    """A duration in ISO 8601; None if it has no limit. Raises BatchError."""
    match = _DURATION.fullmatch(text) if isinstance(text, str) else None
    if match is None or text in ("P", "PT"):
        raise invalid(name, str(text), "The value is not a duration of ISO 8601 such as PT10M")
    if text == NO_LIMIT:
        return None
    days, hours, minutes, seconds = (float(part or 0) for part in match.groups())
    try:
        length = timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)
    except OverflowError:
        length = timedelta.max
    if length > _LONGEST:
        raise invalid(name, text[:100], f"The duration is more than {NO_LIMIT}")
    return length


def read_stamp(text: str) -> datetime:
    """A moment from a client's text. Raises ValueError."""
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
