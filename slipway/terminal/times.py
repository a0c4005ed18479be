"""Times of the API as people read them: in local time or UTC, or how long ago."""

from datetime import UTC, datetime

#: Seconds of each unit, and up to how many seconds it is used.
_UNITS = ((1, 100, "s"), (60, 100 * 60, "m"), (3600, 48 * 3600, "h"), (86_400, float("inf"), "d"))


def moment(text: str, *, utc: bool = False) -> str:
    """A time of the API in whole seconds: "2026-11-20 12:00:00" here, or "2026-11-20 11:00:00Z"."""
    time = datetime.fromisoformat(text)
    if utc:
        return time.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%SZ")
    return time.astimezone().strftime("%Y-%m-%d %H:%M:%S")


def age(text: str, now: datetime) -> str:
    """How long ago: 42s, 15m, 30h, 12d; four characters for years. At least 0s, for any clocks."""
    seconds = max(0.0, (now - datetime.fromisoformat(text)).total_seconds())
    return next(f"{int(seconds // size)}{unit}" for size, most, unit in _UNITS if seconds < most)
