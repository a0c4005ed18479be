"""How a type of an answer is written in another notation."""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, Union, get_args, get_origin

from pydantic import BaseModel


class Notation(NamedTuple):
    """What it has for a plain type, one of several words, an object by names, a list, and a list of parts."""

    plain: Mapping[Any, str]
    words: Callable[[Sequence[str]], str]
    names: Callable[[str], str]
    items: Callable[[str], str]
    parts: Callable[[Sequence[str]], str]

    def write(self, kind: Any) -> str:
        """The type in this notation. Raises KeyError for one that no answer has had so far."""
        origin, inner = get_origin(kind), get_args(kind)
        if origin is None:
            is_answer = isinstance(kind, type) and issubclass(kind, BaseModel)
            return kind.__name__ if is_answer else self.plain[kind]
        if origin in (types.UnionType, Union):
            return " | ".join(map(self.write, inner))
        if origin is Literal:
            return self.words([f'"{word}"' for word in inner])
        if origin is dict:
            return self.names(self.write(inner[1]))
        if origin is tuple and inner[-1] is ...:
            return self.items(self.write(inner[0]))
        if origin is tuple:
            return self.parts(list(map(self.write, inner)))
        return self.write(inner[0])  # of Annotated
