"""The times of a timer (NCRONTAB): whether the Functions host takes them, or turns its function off.

Six fields, second to weekday, or five from the minute on, as the NCrontab library of the host reads them: it
knows no separator but spaces. Or a time span between runs, hh:mm:ss, on plans whose apps are always awake.
"""

from __future__ import annotations

import re

#: A value may be the beginning of one of these words.
_MONTHS = (
    *("january", "february", "march", "april", "may", "june", "july", "august", "september", "october"),
    *("november", "december"),
)
_DAYS = ("sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday")
#: Name, smallest and largest value, and the words for its values.
_FIELDS: tuple[tuple[str, int, int, tuple[str, ...]], ...] = (
    ("second", 0, 59, ()),
    ("minute", 0, 59, ()),
    ("hour", 0, 23, ()),
    ("day", 1, 31, ()),
    ("month", 1, 12, _MONTHS),
    ("weekday", 0, 6, _DAYS),
)
#: A time span; the host reads 24:00:00 as 24 days, and runs 00:00:00 without a pause.
_SPAN = re.compile(r"\d{1,2}:\d{1,2}(:\d{1,2}(\.\d{1,7})?)?|\d+\.[\d:.]+", re.ASCII)
_USUAL_SPAN = re.compile(r"(?!00?:00?(:00?)?$)([01]?\d|2[0-3]):[0-5]?\d(:[0-5]?\d)?", re.ASCII)
#: Plans that wake an app for its timers; they read crontabs alone.
_WAKING = ("flexconsumption", "dynamic")
_CONSEQUENCE = "; the Functions host would turn the timer off"
_PART = re.compile(r"(?:\*|(\w+)(?:-(\w+))?)(?:/(\d{1,9}))?", re.ASCII)


def crontab_flaw(text: str, plan: str = "") -> str:
    """Why these times do not do on a plan (the host's WEBSITE_SKU); "" if they do."""
    if _SPAN.fullmatch(text.strip()):
        if plan.lower() in _WAKING:
            return f"{plan} wakes no app after a time span; write six fields, as 0 */5 * * * *"
        known_span = _USUAL_SPAN.fullmatch(text.strip())
        return "" if known_span else f"{text.strip()[:40]!r} is not a time span from 00:00:01 to 23:59:59"
    fields = [field for field in text.split(" ") if field]
    if len(fields) not in (5, 6):
        return f"it has {len(fields)} fields; write six: second minute hour day month weekday{_CONSEQUENCE}"
    places = _FIELDS[-len(fields) :]
    pairs = zip(fields, places, strict=True)
    flaws = (_flaw(part, *place) for field, place in pairs for part in field.split(","))
    return next((f"{flaw}{_CONSEQUENCE}" for flaw in flaws if flaw), "")


def _flaw(part: str, name: str, least: int, most: int, words: tuple[str, ...]) -> str:
    match = _PART.fullmatch(part)
    if match is None:
        return f"{part[:40]!r} is not a {name}: write *, a value, a range 1-5 or a step */10"
    first, last, step = match.groups()
    for value in (first, last):
        if value is None or any(word.startswith(value.lower()) for word in words):
            continue
        if not value.isdigit() or not least <= int(value[:9]) <= most:
            sunday = "; Sunday is 0" if words is _DAYS and value == "7" else ""
            return f"{value[:40]!r} is not a {name} from {least} to {most}{sunday}"
    return f"the step of {part[:40]!r} is 0" if step is not None and int(step) == 0 else ""
