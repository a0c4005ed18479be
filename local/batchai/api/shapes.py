"""Shapes of JSON documents; `check` reports every departure from one with its JSON pointer."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from local.batchai.state.errors import ArmError, invalid


@dataclass(frozen=True)
class Text:
    """A string, optionally one of a few."""

    choices: tuple[str, ...] = ()


@dataclass(frozen=True)
class Whole:
    """An int32 from `least` on."""

    least: int = 0


@dataclass(frozen=True)
class Words:
    """An object whose values are all strings."""


@dataclass(frozen=True)
class Many:
    """An array, each item of one shape."""

    item: "Shape"


class Object:
    """An object of named fields; `!` behind a name: required. Read-only names are accepted and ignored."""

    def __init__(self, fields: Mapping[str, "Shape"], read_only: str = "") -> None:
        self.fields = {name.rstrip("!"): shape for name, shape in fields.items()}
        self.required = [name[:-1] for name in fields if name.endswith("!")]
        self.read_only = frozenset(read_only.split())


Shape = Text | Whole | Words | Many | Object
_DURATION = re.compile(r"P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?")


class Checked(NamedTuple):
    """A value without nulls and read-only fields, and every problem found in it."""

    value: Any
    problems: list[ArmError]


def check(value: Any, shape: Shape, pointer: str = "") -> Checked:
    """A value against its shape."""
    match shape:
        case Object():
            return _check_object(value, shape, pointer)
        case Many(item):
            if not isinstance(value, list):
                return Checked(value, [_wrong(pointer, "an array", value)])
            checked = [check(entry, item, f"{pointer}/{index}") for index, entry in enumerate(value)]
            problems = [problem for one in checked for problem in one.problems]
            return Checked([one.value for one in checked], problems)
        case Words():
            if not isinstance(value, dict) or not all(isinstance(word, str) for word in value.values()):
                return Checked(value, [_wrong(pointer, "an object of strings", value)])
        case Whole(least):
            if not isinstance(value, int) or isinstance(value, bool):
                return Checked(value, [_wrong(pointer, "an integer", value)])
            if not least <= value < 2**31:
                return Checked(
                    value, [invalid(f"{value} is too {'small' if value < least else 'large'}.", pointer)]
                )
        case Text(choices):
            if not isinstance(value, str):
                return Checked(value, [_wrong(pointer, "a string", value)])
            if "\0" in value or not _is_unicode(value):
                return Checked(
                    value, [invalid("Must be text without null characters and lone surrogates.", pointer)]
                )
            if choices and value not in choices:
                return Checked(value, [invalid(f"Must be one of: {', '.join(choices)}.", pointer)])
    return Checked(value, [])


def seconds(duration: str) -> float | None:
    """The length of an ISO 8601 duration of weeks, days, hours, minutes and seconds; None if it is none."""
    match = _DURATION.fullmatch(duration)
    if not match or not any(match.groups()) or duration.endswith("T"):
        return None
    units = (604800, 86400, 3600, 60, 1)
    return sum(float(count) * unit for count, unit in zip(match.groups(default="0"), units, strict=True))


def _check_object(value: Any, shape: Object, pointer: str) -> Checked:
    if not isinstance(value, dict):
        return Checked(value, [_wrong(pointer, "an object", value)])
    clean: dict[str, Any] = {}
    problems = []
    for name, entry in value.items():
        place = f"{pointer}/{_escape(name)}"
        if name in shape.read_only or (entry is None and name in shape.fields):
            continue
        if name not in shape.fields:
            problems.append(invalid(f"There is no property {name!r} here.", place, "UnknownProperty"))
            continue
        clean[name], errors = check(entry, shape.fields[name], place)
        problems += errors
    problems += [
        invalid(f"The property {name!r} is required.", f"{pointer}/{name}", "MissingProperty")
        for name in shape.required
        if name not in clean
    ]
    return Checked(clean, problems)


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _wrong(pointer: str, expected: str, value: Any) -> ArmError:
    kinds = {dict: "an object", list: "an array", str: "a string", bool: "a boolean", type(None): "null"}
    return invalid(f"Must be {expected}, not {kinds.get(type(value), 'a number')}.", pointer)


def _escape(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")
