"""The base class of all models of the wire."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, TypeAlias, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, Field, Strict
from pydantic.alias_generators import to_camel


class Model(BaseModel):
    """Frozen and strict; unknown members are errors. Names are snake case here and camel case on the wire."""

    # Validators are built once, for the outermost model at its first use: importing stays cheap.
    model_config = ConfigDict(
        frozen=True,
        strict=True,
        extra="forbid",
        alias_generator=to_camel,
        defer_build=True,
        hide_input_in_errors=True,
    )


_Item = TypeVar("_Item")

#: A JSON array. Only the container is lax, so that a list may become a tuple; its items stay strict.
Items: TypeAlias = Annotated[tuple[_Item, ...], Strict(False)]

#: A count on the wire: int32, at least 1.
Count: TypeAlias = Annotated[int, Field(ge=1, le=2**31 - 1)]

#: A text that must not be empty.
Text: TypeAlias = Annotated[str, Field(min_length=1)]


def models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    """The models that a field may hold, however they are wrapped."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from models_in(part)
