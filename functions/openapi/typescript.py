"""web/src/answers.ts: the types of the API's answers for the page."""

from __future__ import annotations

import types
from collections.abc import Mapping
from typing import Any, Literal, Union, get_args, get_origin

from pydantic import AwareDatetime, BaseModel

from functions.openapi.document import answer_types
from shared.answers.base import Answer
from shared.core.states import JobState

_HEAD = "/** The answers of the API. This file is generated: python -m functions.openapi */\n"
_WORDS: Mapping[Any, str] = {
    **{str: "string", AwareDatetime: "string", int: "number", float: "number", bool: "boolean"},
    **{type(None): "null", Any: "unknown"},
}


def typescript() -> str:
    """The whole file."""
    ends = ", ".join(f'"{state.value}"' for state in JobState if state.terminal)
    constant = f"\nexport const ENDS: ReadonlySet<string> = new Set([{ends}]);\n"
    return _HEAD + "".join(map(_declaration, answer_types().values())) + constant


def _declaration(model: type[BaseModel]) -> str:
    bases = [base.__name__ for base in model.__bases__ if base is not Answer]
    below = "".join(f"{base} & " for base in bases)
    members = (_member(model, name) for name in model.__annotations__)
    return f"\n{_comment(model.__doc__)}export type {model.__name__} = {below}{{\n{''.join(members)}}};\n"


def _member(model: type[BaseModel], name: str) -> str:
    field = model.model_fields[name]
    kind = _type(field.annotation) if field.is_required() else _type(field.annotation).removesuffix(" | null")
    mark = "" if field.is_required() else "?"
    return f"{_comment(field.description, '  ')}  {field.alias}{mark}: {kind};\n"


def _comment(text: str | None, indent: str = "") -> str:
    return f"{indent}/** {' '.join(text.split())} */\n" if text else ""


def _type(kind: Any) -> str:
    origin, parts = get_origin(kind), get_args(kind)
    if origin is None:
        return _plain(kind)
    if origin in (types.UnionType, Union):
        return " | ".join(map(_type, parts))
    if origin is Literal:
        return " | ".join(f'"{word}"' for word in parts)
    if origin is dict:
        return f"Record<string, {_type(parts[1])}>"
    if origin is tuple and parts[-1] is ...:
        return f"{_element(parts[0])}[]"
    if origin is tuple:
        return f"[{', '.join(map(_type, parts))}]"
    return _type(parts[0])  # of Annotated


def _element(kind: Any) -> str:
    text = _type(kind)
    return f"({text})" if " " in text else text


def _plain(kind: Any) -> str:
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return kind.__name__
    return _WORDS[kind]
