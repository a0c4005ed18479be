"""Properties that the format does not have: misspelt ones, those of older APIs, those of another toolkit."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from typing import NamedTuple

from pydantic import BaseModel

from shared.spec.codes import problem
from shared.spec.fix import Fix
from shared.spec.problem import Problem
from shared.spec.suggest import Suggestions
from shared.spec.toolkits import TOOLKIT_MODELS
from shared.spec.tree import exact

_READ_ONLY = "the service answers it and takes it from nobody"


class _Older(NamedTuple):
    """What became of a name: what it was, what to do, and whether that is certain."""

    message: str
    remedy: str
    renamed: str = ""
    removed: bool = False


_ANSWERS = (
    *("toolType", "provisioningState", "provisioningStateTransitionTime", "executionState"),
    *("executionStateTransitionTime", "executionInfo", "creationTime", "jobOutputDirectoryPathSegment"),
)
#: Where it stands (the last name above it that is no number) and its name → what became of it.
_OLDER: dict[tuple[str, str], _Older] = {
    **{("properties", name): _Older(_READ_ONLY, "remove it", removed=True) for name in _ANSWERS},
    ("properties", "experimentName"): _Older(
        "it is of API 2017-09-01; experiments are named beside the job",
        'remove it, and write "experiment" into the message or slipway.json',
    ),
    ("properties", "priority"): _Older(
        "it is of API 2017-09-01, where it was a number",
        'write "schedulingPriority": "low", "normal" or "high"',
    ),
    ("outputDirectories", "type"): _Older(
        "it is of API 2017-09-01 and has no meaning any more", "remove it", removed=True
    ),
    ("outputDirectories", "createNew"): _Older(
        "it is of API 2017-09-01; directories are always made", "remove it", removed=True
    ),
    ("", "location"): _Older("it is of API 2017-09-01; the workspace has the location", "remove it"),
    ("", "tags"): _Older("it is of API 2017-09-01", 'remove it, or write "labels" into the message'),
    **{
        (name, "credentialsInfo"): _Older(
            'it is of a preview; did you mean "credentials"?', 'write "credentials"', "credentials"
        )
        for name in ("azureFileShares", "azureBlobFileSystems")
    },
}
#: A name that another toolkit has → how this one calls the same.
_SAME = {
    "masterCommandLineArgs": "commandLineArgs",
}


def unknown_property(
    pointer: str,
    loc: tuple[int | str, ...],
    known: Collection[str],
    suggestions: Suggestions,
) -> Problem:
    """The problem of a name that stands at `loc`, where the `known` names may stand."""
    name, holder = str(loc[-1]), _holder(loc)
    older = _OLDER.get((holder, name))
    if older:
        fix = _renamed(pointer, name, older.renamed) if older.renamed else None
        fix = Fix("remove", pointer) if older.removed and exact(name) else fix
        return _unknown(pointer, f"unknown property; {older.message}", older.remedy, fix)
    if holder in TOOLKIT_MODELS:
        elsewhere = [block for block, model in TOOLKIT_MODELS.items() if name in _names(model)]
        if elsewhere:
            return _of_another_toolkit(pointer, name, holder, elsewhere)
    right = suggestions.certainly(name, known)
    if right:
        message = f'unknown property; did you mean "{right}"?'
        return _unknown(pointer, message, f'write "{right}"', _renamed(pointer, name, right))
    return _unknown(pointer, f"unknown property{suggestions.did_you_mean(name, known)}", None, None)


def _of_another_toolkit(pointer: str, name: str, holder: str, elsewhere: list[str]) -> Problem:
    owners = elsewhere[0] if len(elsewhere) == 1 else f"{elsewhere[0]} and others"
    message = f"unknown property; {name} belongs to {owners}, not to {holder}"
    mine = _names(TOOLKIT_MODELS[holder])
    right = _SAME.get(name, "")
    if right in mine:
        remedy = f'write "{right}"'
        return _unknown(
            pointer, f'{message}; did you mean "{right}"?', remedy, _renamed(pointer, name, right)
        )
    if name == "processCount":
        # The service took it and did nothing with it.
        return _unknown(
            pointer, message, f"remove it; {holder} starts its own processes", Fix("remove", pointer)
        )
    return _unknown(pointer, message, f"remove it; {holder} has {', '.join(mine)}", None)


def _renamed(pointer: str, name: str, right: str) -> Fix | None:
    return Fix("rename", pointer, right) if exact(name) else None


def _unknown(pointer: str, message: str, remedy: str | None, fix: Fix | None) -> Problem:
    return problem("SW012", pointer, message, remedy, of_name=True, fix=fix)


def _holder(loc: tuple[int | str, ...]) -> str:
    return next((part for part in reversed(loc[:-1]) if isinstance(part, str)), "")


@cache
def _names(model: type[BaseModel]) -> tuple[str, ...]:
    return tuple(field.alias for field in model.model_fields.values() if field.alias)
