"""The names that the format knows, wherever they stand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args

from pydantic import BaseModel

from shared.spec.envelope import Envelope
from shared.spec.models import JobSpec


def format_words() -> frozenset[str]:
    """Every wire name of a job and of the envelope around it."""
    words: set[str] = set()
    seen: set[type[BaseModel]] = set()
    stack: list[type[BaseModel]] = [JobSpec, Envelope]
    while stack:
        model = stack.pop()
        if model in seen:
            continue
        seen.add(model)
        for field in model.model_fields.values():
            words.add(field.alias or "")
            stack.extend(_models(field.annotation))
    return frozenset(words - {""})


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _models(part)
