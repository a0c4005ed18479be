"""Pydantic's findings, told in our words: place, expected type, did-you-mean; never the value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from shared.spec.codes import problem
from shared.spec.problem import Problem
from shared.spec.suggest import Suggestions
from shared.spec.tree import shown, step

_EXPECTED = {
    "string_type": "a text in double quotes",
    "int_type": "a whole number",
    "tuple_type": "a list",
    "dict_type": "an object",
    "model_type": "an object",
    "bool_type": "true or false",
}


def shape_problems(model: type[BaseModel], document: Any, error: ValidationError) -> list[Problem]:
    """One problem for each finding. `error` came of validating the document with the model."""
    details = error.errors(include_url=False, include_input=False)
    suggestions = Suggestions()
    return [
        _problem(model, document, detail, suggestions)
        for detail in details
        if detail["type"] != "string_unicode"  # reported with the forbidden characters
    ]


def _problem(
    model: type[BaseModel], document: Any, detail: ErrorDetails, suggestions: Suggestions
) -> Problem:
    loc = tuple(part for part in detail["loc"] if part != "[key]")
    pointer, kind, context = _pointer(loc), detail["type"], detail.get("ctx", {})
    name = _name(loc)
    if kind == "missing":
        return problem("SW010", pointer, f"{name} is missing", f"add {name}")
    if kind == "extra_forbidden":
        hint = suggestions.did_you_mean(str(loc[-1]), _names_at(model, loc[:-1]))
        return problem("SW012", pointer, f"unknown property {name}{hint}")
    if kind in _EXPECTED:
        return _wrong_type(pointer, name, _EXPECTED[kind], _value_at(document, loc))
    if kind == "literal_error":
        return problem("SW014", pointer, f"{name} has to be {context['expected'].replace(chr(39), chr(34))}")
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
        return f"item {loc[-1] + 1} of {shown(str(loc[-2]))}" if len(loc) > 1 else f"item {loc[-1] + 1}"
    return shown(loc[-1])


def _wrong_type(pointer: str, name: str, expected: str, value: Any) -> Problem:
    message = f"{name} has to be {expected}, not {_kind(value)}"
    if expected == "a whole number" and isinstance(value, str) and value.isdecimal() and len(value) < 10:
        return problem("SW011", pointer, message, "write the number without quotes")
    if expected == "a list" and isinstance(value, dict):
        return problem("SW011", pointer, message, 'put "[" and "]" around it')
    return problem("SW011", pointer, message, f"write {expected}")


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


def _names_at(model: type[BaseModel], loc: tuple[int | str, ...]) -> list[str]:
    """The wire names that the object at this place may have."""
    here: type[BaseModel] | None = model
    for part in loc:
        if isinstance(part, str) and here:
            field = next((field for field in here.model_fields.values() if field.alias == part), None)
            here = _model_in(field.annotation) if field else None
    return [field.alias for field in here.model_fields.values() if field.alias] if here else []


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for part in get_args(annotation) if (found := _model_in(part))), None)
