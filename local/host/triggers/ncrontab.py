"""NCRONTAB expressions: six fields from seconds to weekdays, or five from minutes; all must match (AND).

Unlike Vixie cron, a day must satisfy both the day of the month and the weekday.
"""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta

_FIELDS = (
    ("second", 0, 59),
    ("minute", 0, 59),
    ("hour", 0, 23),
    ("day", 1, 31),
    ("month", 1, 12),
    ("weekday", 0, 6),
)
_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July", "August", "September", "October"),
    *("November", "December"),
)
_DAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
#: How far to search: a 29 February on a given weekday is at most this far away.
_HORIZON = timedelta(days=366 * 41)
_PART = re.compile(r"(?:(\*)|(\w+)(?:-(\w+))?)(?:/(\d+))?")


@dataclass(frozen=True)
class Ncrontab:
    """A parsed expression; each field is the set of values that match."""

    text: str
    seconds: frozenset[int]
    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]

    def next(self, after: datetime) -> datetime | None:
        """The first time strictly after `after`; None if there is none, as for 30 February."""
        at = after.replace(microsecond=0) + timedelta(seconds=1)
        limit = after + _HORIZON
        while at < limit:
            if at.month not in self.months:
                at = _midnight(at.replace(day=1) + timedelta(days=32)).replace(day=1)
            elif at.day not in self.days or at.isoweekday() % 7 not in self.weekdays:
                at = _midnight(at + timedelta(days=1))
            elif at.hour not in self.hours:
                at = at.replace(minute=0, second=0) + timedelta(hours=1)
            elif at.minute not in self.minutes:
                at = at.replace(second=0) + timedelta(minutes=1)
            elif at.second not in self.seconds:
                at += timedelta(seconds=1)
            else:
                return at
        return None


def parse_ncrontab(text: str) -> Ncrontab:
    """Parse an expression; raises ValueError that names the field."""
    fields = [field for field in text.split(" ") if field]  # no other white space
    if len(fields) == 5:
        fields.insert(0, "0")
    if len(fields) != 6:
        raise ValueError(
            f"{text!r} has {len(fields)} fields; write six: second minute hour day month weekday"
        )
    sets = [_field(field, *names) for field, names in zip(fields, _FIELDS, strict=True)]
    seconds, minutes, hours, days, months, weekdays = sets
    return Ncrontab(text, seconds, minutes, hours, days, months, weekdays)


def _field(text: str, name: str, low: int, high: int) -> frozenset[int]:
    values: set[int] = set()
    for part in text.split(","):
        match = _PART.fullmatch(part)
        if match is None:
            raise ValueError(f"{part!r} in the {name} field is neither *, a value, a range nor a step")
        star, first, last, step = match.groups()
        start = low if star else _value(first, name, low, high)
        open_end = high if star or step else start
        end = _value(last, name, low, high) if last is not None else open_end
        if end < start:
            start, end = end, start
        if step == "0":
            raise ValueError(f"{part!r} in the {name} field: a step must be at least 1")
        values.update(range(start, end + 1, int(step or 1)))
    return frozenset(values)


def _value(text: str, name: str, low: int, high: int) -> int:
    # As NCrontab does: the first word that begins with the value, so that "j" is January.
    for number, word in enumerate({"month": _MONTHS, "weekday": _DAYS}.get(name, ()), low):
        if text and word.lower().startswith(text.lower()):
            return number
    if not text.isascii() or not text.isdigit() or not low <= int(text) <= high:
        raise ValueError(f"{text!r} in the {name} field is not between {low} and {high}")
    return int(text)


def _midnight(moment: datetime) -> datetime:
    return moment.replace(hour=0, minute=0, second=0)
