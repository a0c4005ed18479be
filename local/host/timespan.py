"""TimeSpan texts as host.json and timer schedules write them: [d.]hh:mm:ss[.fraction], or d:hh:mm."""

import re
from datetime import timedelta

_TIMESPAN = re.compile(r"(?:(\d+)\.)?(\d{1,2}):(\d{1,2})(?::(\d{1,2})(\.\d{1,7})?)?")


def parse_timespan(text: str) -> timedelta:
    """The duration; raises ValueError with the expected form."""
    match = _TIMESPAN.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text!r} is not a time span; write it as hh:mm:ss, e.g. 00:05:00")
    days, hours, minutes, seconds, fraction = match.groups()
    if days is fraction is None and seconds is not None and int(hours) > 23:  # as .NET reads 24:00:00
        days, hours, minutes, seconds = hours, minutes, seconds, "0"
    if int(hours) > 23 or int(minutes) > 59 or int(seconds or 0) > 59:
        raise ValueError(f"{text!r} is not a time span: hours go to 23 (then d.hh:mm:ss), the others to 59")
    return timedelta(
        days=int(days or 0),
        hours=int(hours),
        minutes=int(minutes),
        seconds=int(seconds or 0) + float(fraction or 0),
    )
