"""Requests and answers of older versions: what other names, and other forms, they have for the same. Pure."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from local.azurebatch.service.facts import Member, facts

#: The failure of a process that ran. Older versions know errors before the start only, and the exit code.
_BY_EXIT_CODE = "FailureExitCode"


def of_today(member: Member, value: Any) -> Any:
    """What an older version sends, in the form of today."""
    if member.kind == "elevated":
        return {"autoUser": {"elevationLevel": "admin" if value else "nonadmin"}}
    return value


def as_of(name: str, version: str, view: Mapping[str, Any]) -> dict[str, Any]:
    """The members of an answer that a version has, by its names and in its forms. `name`: the object."""
    members = _members(name, version)
    answer: dict[str, Any] = {}
    for today, part in view.items():
        for member in members[today]:
            if (shown := _part_as_of(member, version, part)) is not None:
                answer[member.name] = shown
    return answer


@cache
def _members(name: str, version: str) -> Mapping[str, Sequence[Member]]:
    """What a version has of each member of an object, by the names of today."""
    members = facts().objects[name].values()
    by_today: dict[str, list[Member]] = {one.today or one.name: [] for one in members}
    for one in members:
        if one.is_of(version):
            by_today[one.today or one.name].append(one)
    return by_today


def _part_as_of(member: Member, version: str, part: Any) -> Any:
    """None for what the version does not say."""
    if member.is_object and member.is_list:
        return [as_of(member.kind, version, item) for item in part]
    if member.is_object and part is not None:
        return as_of(member.kind, version, part)
    if member.kind == "elevated":
        return part.get("autoUser", {}).get("elevationLevel") == "admin"
    if member.kind == "start-error":
        return None if part["code"] == _BY_EXIT_CODE else part
    if isinstance(part, list) and not member.is_list:  # they had one of what newer versions have several
        return part[0] if part else None
    return part
