"""All names that the format knows."""

from __future__ import annotations

from pydantic import BaseModel

from shared.jobspec.envelope import Envelope
from shared.jobspec.format.base import models_in
from shared.jobspec.format.models import JobSpec


def format_words() -> frozenset[str]:
    """Every wire name of a job and of the envelope around it."""
    words: set[str] = set()
    models: set[type[BaseModel]] = set()
    stack: list[type[BaseModel]] = [JobSpec, Envelope]
    while stack:
        model = stack.pop()
        if model in models:
            continue
        models.add(model)
        for field in model.model_fields.values():
            words.add(field.alias or "")
            stack.extend(models_in(field.annotation))
    return frozenset(words - {""})
