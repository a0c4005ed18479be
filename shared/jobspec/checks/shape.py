"""Pydantic's findings in our words: place, expected type, did-you-mean; never the value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from shared.jobspec.checks.unknown import unknown_property
from shared.jobspec.format.base import models_in
from shared.jobspec.problems.codes import problem
from shared.jobspec.problems.fix import MOST_EDITS, Fix
from shared.jobspec.problems.problem import Problem
from shared.jobspec.problems.suggest import Suggestions, certainly
from shared.jobspec.text.tree import exact, quote, step

#: Texts that people often give as numbers, which have one spelling.
_QUOTED = ("/value", "/fileMode", "/directoryMode")
_EXPECTED = {
    "string_type": "a text in double quotes",
    "int_type": "a whole number",
    "tuple_type": "a list",
    "dict_type": "an object",
    "model_type": "an object",
    "bool_type": "true or false",
}


def shape_problems(model: type[BaseModel], document: Any, error: ValidationError) -> list[Problem]:
    """One problem for each finding. `error` comes from validating the document with the model."""
    details = error.errors(include_url=False, include_input=False)
    suggestions = Suggestions()
    problems = [
        _problem(model, document, detail, suggestions)
        for detail in details
        if detail["type"] != "string_unicode"  # reported with the forbidden characters
    ]
    # A misspelt or misplaced property is not reported as missing, too.
    misspelt = {meant_by(one) for one in problems if one.correct_name}
    return [one for one in problems if one.code != "SW010" or one.pointer not in misspelt]


def meant_by(misspelt: Problem) -> str:
    """The pointer of the property that was meant."""
    return step(misspelt.pointer.rpartition("/")[0], misspelt.correct_name)


def _problem(
    model: type[BaseModel], document: Any, detail: ErrorDetails, suggestions: Suggestions
) -> Problem:
    loc = tuple(part for part in detail["loc"] if part != "[key]")
    pointer, kind, context = _pointer(loc), detail["type"], detail.get("ctx", {})
    name = _name(loc)
    if kind == "missing":
        return problem("SW010", pointer, f"{name} is missing", f"add {name}")
    if kind == "extra_forbidden":
        names = _names_at(model, _member_names(loc[:-1]))
        return unknown_property(pointer, loc, names, suggestions, _value_at(document, loc[:-1]))
    if kind in _EXPECTED:
        flaw = _wrong_type(pointer, name, _EXPECTED[kind], _value_at(document, loc))
        return flaw if all(exact(str(part)) for part in loc) else replace(flaw, fix=None)
    if kind == "literal_error":
        allowed = context["expected"].replace(chr(39), chr(34))
        return _not_allowed(pointer, f"{name} has to be {allowed}", _value_at(document, loc), allowed)
    if kind in ("greater_than_equal", "less_than_equal"):
        bound = f"at least {context['ge']}" if "ge" in context else f"at most {context['le']}"
        return problem("SW013", pointer, f"{name} has to be {bound}")
    if kind == "string_too_short":
        return problem("SW015", pointer, f"{name} must not be empty")
    if kind == "string_too_long":
        return problem("SW015", pointer, f"{name} may have at most {context['max_length']} characters")
    return problem("SW017", pointer, f"{name} cannot be taken")


def _name(loc: tuple[int | str, ...]) -> str:
    if not loc:
        return "the document"
    if isinstance(loc[-1], int):
        return f"item {loc[-1] + 1} of {quote(str(loc[-2]))}" if len(loc) > 1 else f"item {loc[-1] + 1}"
    return quote(loc[-1])


def _wrong_type(pointer: str, name: str, expected: str, value: Any) -> Problem:
    message = f"{name} has to be {expected}, not {_kind(value)}"
    remedy, fix = f"write {expected}", None
    if expected == "a whole number":
        if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 10:
            remedy, fix = "write the number without quotes", Fix("replace", pointer, int(value))
        elif isinstance(value, float) and value.is_integer() and abs(value) < 2**31:
            remedy, fix = f"write {int(value)}", Fix("replace", pointer, int(value))
    elif expected == _EXPECTED["string_type"] and type(value) in (int, float) and pointer.endswith(_QUOTED):
        remedy, fix = "write the number in double quotes", Fix("quote", pointer)
    elif expected == "a list" and isinstance(value, dict):
        remedy = 'put "[" and "]" around it'
        fix = Fix("wrap", pointer)
        if pointer.endswith(("/environmentVariables", "/secrets")) and "name" not in value:
            remedy = 'write a list: [{"name": …, "value": …}]'
            plain = all(isinstance(one, str) and exact(key) for key, one in value.items())
            plain = plain and 0 < len(value) <= MOST_EDITS
            fix = Fix("list", pointer, names=tuple(value)) if plain else None
    return problem("SW011", pointer, message, remedy, fix=fix)


def _not_allowed(pointer: str, message: str, value: Any, allowed: str) -> Problem:
    """The allowed values stand in the message in double quotes."""
    right = certainly(value, allowed.split('"')[1::2]) if isinstance(value, str) else None
    if right is None:
        return problem("SW014", pointer, message)
    return problem("SW014", pointer, message, f'write "{right}"', fix=Fix("replace", pointer, right))


def _kind(value: Any) -> str:
    kinds: Mapping[type, str] = {
        bool: "true or false",
        int: "a number",
        float: "a number with a fraction",
        str: "text",
        list: "a list",
        dict: "an object",
    }
    return kinds.get(type(value), "null")


def _pointer(loc: tuple[int | str, ...]) -> str:
    pointer = ""
    for part in loc:
        pointer = step(pointer, part)
    return pointer


def _value_at(document: Any, loc: tuple[int | str, ...]) -> Any:
    value = document
    for part in loc:
        value = value[part]
    return value


def _member_names(loc: tuple[int | str, ...]) -> tuple[str, ...]:
    return tuple(part for part in loc if isinstance(part, str))


@lru_cache(maxsize=256)
def _names_at(model: type[BaseModel], path: tuple[str, ...]) -> tuple[str, ...]:
    """The wire names that the object at this place may have; the path is without indexes."""
    inner: type[BaseModel] | None = model
    named: type[BaseModel] | None = None
    for part in path:
        if named is not None:  # the part is a key of a mapping to models
            inner, named = named, None
            continue
        field = (
            next((one for one in inner.model_fields.values() if one.alias == part), None) if inner else None
        )
        inner = next(models_in(field.annotation), None) if field else None
        if field is not None and get_origin(field.annotation) is dict:
            inner, named = None, inner
    return tuple(field.alias for field in inner.model_fields.values() if field.alias) if inner else ()
