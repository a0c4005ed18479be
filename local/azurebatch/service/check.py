"""Checks a request by the service's facts. Pure."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from local.azurebatch.service.facts import Member, Operation, facts
from local.azurebatch.service.older import of_today
from local.azurebatch.state.errors import BatchError, invalid, lacking, query
from local.azurebatch.state.moment import duration, read_stamp

#: The largest number of 32 bits.
LARGEST = 2**31 - 1
#: Parameters of every operation, in lower case: the service ignores case in their names.
_COMMON = {"api-version": None, "timeout": LARGEST}
#: The parameter of the link to a list's next page.
_NEXT = "$skiptoken"
#: What the service expands.
_EXPANDED = ("stats",)
_DIGITS = re.compile(r"-?\d{1,18}", re.ASCII)
_BODY = "The specified Request Body is not syntactically valid."


def check_query(operation: Operation, version: str, given_pairs: Mapping[str, str]) -> None:
    """Check that the service has these parameters, with values that they can have. Raises BatchError."""
    limits = _COMMON | {name.lower(): most for name, most in operation.limits.items()}
    if "maxresults" in limits:
        limits[_NEXT] = None
    for name, value in given_pairs.items():
        if name.lower() not in limits:
            message = "One of the query parameters specified in the request URI is not supported."
            raise BatchError(400, "UnsupportedQueryParameter", message, {"QueryParameterName": name})
        most = limits[name.lower()]
        if most is not None and not (_DIGITS.fullmatch(value) and 1 <= int(value) <= most):
            raise query(name, value[:100], f"It is a number from 1 to {most}")
        if name.lower() == "$select":
            _check_names(name, value, members_of(operation.answer, version))
        if name.lower() == "$expand":
            _check_names(name, value, _EXPANDED)


def _check_names(parameter: str, value: str, names: Collection[str]) -> None:
    for name in names_in(value):
        if name not in names:
            raise query(parameter, value[:100], f"The property '{name[:100]}' does not exist")


def names_in(value: str) -> Sequence[str]:
    """The names of properties in a `$select` or `$expand`."""
    return [name.strip() for name in value.split(",")] if value.strip() else []


def members_of(name: str, version: str) -> Collection[str]:
    """The names that a version has for the members of an object."""
    return {one.name for one in facts().objects[name].values() if one.is_of(version)}


def read_body(name: str, version: str, body: Mapping[str, Any]) -> Mapping[str, Any]:
    """The body of an object as a version reads it: a null counts as absent. Raises BatchError."""
    return _object(name, version, body, ())


def _object(name: str, version: str, value: Any, place: tuple[str, ...]) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise invalid(".".join(place), _short(value), "It is an object")
    members = {one.name: one for one in facts().objects[name].values() if one.is_of(version)}
    for other in value:
        if other not in members:
            reason = f"The property '{other}' does not exist on {'/'.join(place) or 'the body'} in {version}"
            raise BatchError(400, "InvalidRequestBody", _BODY, {"Reason": reason})
    for one in members.values():
        if one.is_needed and value.get(one.name) is None:
            raise lacking(one.name)
    read = dict(_read(value, members, version, place))
    for rule in facts().rules.get(name, ()):
        if complaint := rule.complaint(read.keys()):
            raise invalid(".".join(place), "", complaint)
    return read


def _read(
    value: Mapping[str, Any], members: Mapping[str, Member], version: str, place: tuple[str, ...]
) -> Iterator[tuple[str, Any]]:
    for name, part in value.items():
        if part is not None:
            part_read = _part(members[name], version, part, (*place, name))
            yield members[name].today or name, of_today(members[name], part_read)


def _part(member: Member, version: str, value: Any, place: tuple[str, ...]) -> Any:
    if not member.is_list:
        return _one(member, version, value, place)
    if not isinstance(value, list):
        raise invalid(".".join(place), _short(value), "It is a list")
    if member.most_items is not None and len(value) > member.most_items:
        raise invalid(".".join(place), str(len(value)), f"It has at most {member.most_items} items")
    return [_one(member, version, item, (*place, str(index))) for index, item in enumerate(value)]


def _one(member: Member, version: str, value: Any, place: tuple[str, ...]) -> Any:
    if member.is_object:
        return _object(member.kind, version, value, place)
    if member.choices:
        return _choice(member, value, place)
    if member.kind == "number":
        return _number(member, value, place)
    fits, words = _KINDS[member.kind]
    if not fits(value):
        raise invalid(".".join(place), _short(value), words)
    if member.most is not None and not (member.least or 0) <= len(value) <= member.most:
        reason = f"It has from {member.least} to {member.most} characters"
        raise invalid(".".join(place), _short(value), reason)
    return value


def _choice(member: Member, value: Any, place: tuple[str, ...]) -> str:
    """A choice in the spelling of the description; the service ignores case in it."""
    for choice in member.choices:
        if isinstance(value, str) and value.lower() == choice.lower():
            return choice
    raise invalid(".".join(place), _short(value), f"It is one of {', '.join(member.choices)}")


def _number(member: Member, value: Any, place: tuple[str, ...]) -> int:
    """A number, which may be a text: `az` writes the sizes of pools so."""
    least = -LARGEST - 1 if member.least is None else member.least
    most = LARGEST if member.most is None else member.most
    number = int(value) if isinstance(value, str) and _DIGITS.fullmatch(value) else value
    if type(number) is not int or not least <= number <= most:
        raise invalid(".".join(place), _short(value), f"It is a number from {least} to {most}")
    return number


def _is_moment(value: Any) -> bool:
    try:
        return bool(read_stamp(value))
    except (ValueError, TypeError):
        return False


def _is_duration(value: Any) -> bool:
    try:
        duration(value, "")
    except BatchError:
        return False
    return True


_KINDS: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "text": (lambda value: isinstance(value, str), "It is a text"),
    "flag": (lambda value: isinstance(value, bool), "It is true or false"),
    "elevated": (lambda value: isinstance(value, bool), "It is true or false"),
    "duration": (_is_duration, "The value is not a duration of ISO 8601 such as PT10M"),
    "moment": (_is_moment, "It is a time such as 2026-01-31T12:00:00Z"),
    "{}": (lambda value: isinstance(value, Mapping), "It is an object"),
    "{text}": (
        lambda value: isinstance(value, Mapping) and all(isinstance(one, str) for one in value.values()),
        "It is an object of texts",
    ),
}


def _short(value: Any) -> str:
    return str(value)[:100]
