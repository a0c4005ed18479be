"""web/src/answers.ts: the types of the API's answers for the page."""

from __future__ import annotations

from typing import Any

from pydantic import AwareDatetime, BaseModel

from functions.openapi.document import answer_types
from functions.openapi.notation import Notation
from shared.answers.base import Answer
from shared.core.states import JobState

_HEAD = "/** The answers of the API. This file is generated: python -m functions.openapi */\n"
_TYPESCRIPT = Notation(
    {
        **{str: "string", AwareDatetime: "string", int: "number", float: "number", bool: "boolean"},
        **{type(None): "null", Any: "unknown"},
    },
    words=" | ".join,
    names=lambda kind: f"Record<string, {kind}>",
    items=lambda kind: f"({kind})[]" if " " in kind else f"{kind}[]",
    parts=lambda kinds: f"[{', '.join(kinds)}]",
)


def typescript() -> str:
    """The whole file."""
    ends = ", ".join(f'"{state.value}"' for state in JobState if state.terminal)
    constant = f"\nexport const ENDS: ReadonlySet<string> = new Set([{ends}]);\n"
    return _HEAD + "".join(map(_declaration, answer_types().values())) + constant


def _declaration(model: type[BaseModel]) -> str:
    below = "".join(f"{base.__name__} & " for base in model.__bases__ if base is not Answer)
    members = (_member(model, name) for name in model.__annotations__)
    return f"\n{_comment(model.__doc__)}export type {model.__name__} = {below}{{\n{''.join(members)}}};\n"


def _member(model: type[BaseModel], name: str) -> str:
    field = model.model_fields[name]
    kind, mark = _TYPESCRIPT.write(field.annotation), ""
    if not field.is_required():
        kind, mark = kind.removesuffix(" | null"), "?"
    return f"{_comment(field.description, '  ')}  {field.alias}{mark}: {kind};\n"


def _comment(text: str | None, indent: str = "") -> str:
    return f"{indent}/** {' '.join(text.split())} */\n" if text else ""
