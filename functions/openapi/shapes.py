"""slipway/client/shapes.pyi: the answers of the API for the client, as they are on the wire."""

from __future__ import annotations

from typing import Any

from pydantic import AwareDatetime, BaseModel

from functions.openapi.document import answer_types
from functions.openapi.notation import Notation
from shared.answers.base import Answer

_HEAD = '''"""The answers of the API, as they are on the wire. Generated: python -m functions.openapi"""

from typing import Any, Literal, NotRequired, TypedDict
'''
_PYTHON = Notation(
    {
        **{kind: kind.__name__ for kind in (str, int, float, bool)},
        **{AwareDatetime: "str", type(None): "None", Any: "Any"},
    },
    words=lambda words: f"Literal[{', '.join(words)}]",
    names=lambda kind: f"dict[str, {kind}]",
    items=lambda kind: f"list[{kind}]",
    parts=lambda kinds: f"list[{' | '.join(dict.fromkeys(kinds))}]",
)


def shapes() -> str:
    """The whole file."""
    return _HEAD + "".join(map(_declaration, answer_types().values()))


def _declaration(model: type[BaseModel]) -> str:
    bases = [base.__name__ for base in model.__bases__ if base is not Answer] or ["TypedDict"]
    members = "".join(_member(model, name) for name in model.__annotations__)
    return f"\nclass {model.__name__}({', '.join(bases)}):" + (f"\n{members}" if members else " ...\n")


def _member(model: type[BaseModel], name: str) -> str:
    field = model.model_fields[name]
    kind = _PYTHON.write(field.annotation)
    if not field.is_required():
        kind = f"NotRequired[{kind.removesuffix(' | None')}]"
    return f"    {field.alias}: {kind}\n"
