"""Unknown properties: misspelt ones, and those of older APIs or of another toolkit."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from typing import Any, NamedTuple

from pydantic import BaseModel

from shared.jobspec.checks.wrapper import ANSWERS
from shared.jobspec.format.homes import home_of
from shared.jobspec.format.models import JOB_PROPERTIES
from shared.jobspec.format.secrets import is_secret_name
from shared.jobspec.format.toolkits import TOOLKITS
from shared.jobspec.problems.codes import problem
from shared.jobspec.problems.fix import Fix, Kind
from shared.jobspec.problems.problem import Problem
from shared.jobspec.problems.suggest import Suggestions
from shared.jobspec.text.lookalikes import character_name, plain
from shared.jobspec.text.tree import JsonObject, exact

_READ_ONLY = "only the service sets it"


class _Older(NamedTuple):
    """A name of an older API: its meaning, what to do, and whether that is certain."""

    message: str
    remedy: str = ""
    renamed: str = ""
    removed: bool = False


#: Its place (the nearest name above it that is not a number) and its name → the replacement.
_OLDER: dict[tuple[str, str], _Older] = {
    **{
        ("properties", name): _Older(_READ_ONLY, "remove it", removed=True)
        for name in ANSWERS
        if name not in JOB_PROPERTIES
    },
    ("properties", "experimentName"): _Older(
        "it is of API 2017-09-01; experiments are named beside the job",
        'remove it, and write "experiment" into the message or slipway.json',
    ),
    ("properties", "priority"): _Older(
        "it is of API 2017-09-01, where it was a number",
        'write "schedulingPriority": "low", "normal" or "high"',
    ),
    ("properties", "name"): _Older(
        "jobs are named beside the job", 'remove it, and write "name" into the message or slipway.json'
    ),
    ("outputDirectories", "type"): _Older(
        "it is of API 2017-09-01 and has no meaning any more", "remove it", removed=True
    ),
    ("outputDirectories", "createNew"): _Older(
        "it is of API 2017-09-01; directories are always made", "remove it", removed=True
    ),
    ("", "location"): _Older("it is of API 2017-09-01; the workspace has the location", "remove it"),
    ("properties", "location"): _Older(
        "it is of API 2017-09-01; the workspace has the location", "remove it", removed=True
    ),
    ("", "tags"): _Older("it is of API 2017-09-01", 'remove it, or write "labels" into the message'),
    **{
        (name, "credentialsInfo"): _Older(
            'it is of a preview; did you mean "credentials"?', renamed="credentials"
        )
        for name in ("azureFileShares", "azureBlobFileSystems")
    },
    **{
        ("constraints", name): _Older('it is called "maxWallClockTime" here', renamed="maxWallClockTime")
        for name in ("timeout", "timeLimit", "walltime", "wallTime", "maxRunTime", "maxDuration")
    },
}
#: The older name of processCount in every toolkit that has it.
_NUMBER = "numberOfProcesses"
#: A name in another toolkit → the name in this one.
_SAME = {
    "masterCommandLineArgs": "commandLineArgs",
}


def unknown_property(
    pointer: str,
    loc: tuple[int | str, ...],
    names: Collection[str],
    suggestions: Suggestions,
    siblings: Any,
) -> Problem:
    """The problem of a name at `loc`, in the object `siblings`, where `names` are allowed."""
    name, holder = str(loc[-1]), _holder(loc)
    # Elsewhere, defaults may have been added to what a person wrote.
    written = siblings if holder in TOOLKITS and isinstance(siblings, dict) else {}
    older = _OLDER.get((holder, name))
    if older:
        message = f"unknown property; {older.message}"
        if older.renamed:
            return _misnamed(pointer, name, message, older.renamed, written)
        fix = Fix("remove", pointer) if older.removed and exact(name) else None
        return _unknown(pointer, message, older.remedy, fix)
    if name == _NUMBER and "processCount" in names:
        message = 'unknown property; it is of API 2017-09-01; did you mean "processCount"?'
        return _misnamed(pointer, name, message, "processCount", written)
    if holder in TOOLKITS:
        name = "processCount" if name == _NUMBER else name
        elsewhere = [block for block, model in TOOLKITS.items() if name in _names(model)]
        if elsewhere:
            return _of_another_toolkit(pointer, name, holder, elsewhere, written)
    if is_secret_name(name, below=False):
        # Under an unknown name, a secret would become visible.
        names = [one for one in names if is_secret_name(one, below=False)]
    if not name.isascii() and (word := plain(name)) in names:
        strange = next(one for one in name if not one.isascii())
        message = f'unknown property; it has the character {character_name(strange)}; did you mean "{word}"?'
        return _misnamed(pointer, name, message, word, written, respelt=True)
    right = suggestions.certainly(name, names)
    if right is None and (home := home_of(holder, name, siblings)):
        fix = Fix("nest", pointer, home.nest) if home.nest and exact(name) else None
        message, remedy = f"unknown property; it belongs {home.says}", f"write it {home.says}"
        return _unknown(pointer, message, remedy, fix, home.nest.partition("/")[0])
    if right is None and holder == "properties" and name.lower().endswith("settings"):
        return _of_no_toolkit(pointer, name, names, suggestions)
    right = right or suggestions.closest(name, names)
    if right:
        message = f'unknown property; did you mean "{right}"?'
        if suggestions.certainly(name, names) is not None:
            return _misnamed(pointer, name, message, right, written)
        return _unknown(pointer, message, None, None, right)
    return _unknown(pointer, "unknown property", None, None)


def _of_no_toolkit(pointer: str, name: str, names: Collection[str], suggestions: Suggestions) -> Problem:
    """A block of settings for something that is not a toolkit, such as keras."""
    close = suggestions.closest(name, names)
    message = (
        f'unknown property; did you mean "{close}"?'
        if close
        else "unknown property; there is no such toolkit"
    )
    remedy = None if close else 'run it by "customToolkitSettings": {"commandLine": …}'
    return _unknown(pointer, message, remedy, None, close or "customToolkitSettings")


def _of_another_toolkit(
    pointer: str, name: str, holder: str, elsewhere: list[str], written: JsonObject
) -> Problem:
    owners = elsewhere[0] if len(elsewhere) == 1 else f"{elsewhere[0]} and others"
    message = f"unknown property; {name} belongs to {owners}, not to {holder}"
    mine = _names(TOOLKITS[holder])
    right = _SAME.get(name, "")
    if right in mine:
        return _misnamed(pointer, name, f'{message}; did you mean "{right}"?', right, written)
    if name == "processCount":
        # The service accepted and ignored it.
        return _unknown(
            pointer, message, f"remove it; {holder} starts its own processes", Fix("remove", pointer)
        )
    return _unknown(pointer, message, f"remove it; {holder} has {', '.join(mine)}", None)


def _misnamed(
    pointer: str, name: str, message: str, right: str, written: JsonObject, *, respelt: bool = False
) -> Problem:
    """The problem of a name that has to be `right`; where that is written, too, this one is too many.

    `respelt`: whether it is certain without a pointer that distinguishes it from others.
    """
    if right in written:
        same = exact(name) and written.get(name) == written[right]
        fix = Fix("remove", pointer) if same else None
        return _unknown(pointer, message, f'remove it; "{right}" is written already', fix, right)
    kind: Kind = "rename" if exact(name) else "respell"
    fix = Fix(kind, pointer, right) if exact(name) or respelt else None
    return _unknown(pointer, message, f'write "{right}"', fix, right)


def _unknown(
    pointer: str, message: str, remedy: str | None, fix: Fix | None, correct_name: str = ""
) -> Problem:
    return problem("SW012", pointer, message, remedy, of_name=True, fix=fix, correct_name=correct_name)


def _holder(loc: tuple[int | str, ...]) -> str:
    return next((part for part in reversed(loc[:-1]) if isinstance(part, str)), "")


@cache
def _names(model: type[BaseModel]) -> tuple[str, ...]:
    return tuple(field.alias for field in model.model_fields.values() if field.alias)
