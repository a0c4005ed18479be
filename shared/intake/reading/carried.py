"""carries_job: whether an event holds a job, in any form in which an event can. Pure."""

from __future__ import annotations

import json
from typing import Any

from shared.intake.reading.unwrap import unwrap
from shared.jobspec import JsonObject, has_job_members

#: The type of our event about a rejection: one that came back would be rejected, and that would come back.
REJECTION = "io.slipway.job.rejected.v1"
#: How many wrappings around a job are opened: texts, base64, lists and events.
_WRAPPINGS = 5
#: The members of an event in which its data is, as it is or in base64.
_DATA = ("data", "data_base64")


def is_job(document: Any) -> bool:
    """Whether this is a job, or a message with one."""
    if not isinstance(document, dict):
        return False
    spec = document.get("spec")
    job = spec if isinstance(spec, dict) else document
    return isinstance(document.get("specBlob"), str) or has_job_members(job.get("properties"))


def carries_job(document: JsonObject) -> bool:
    """Whether an event, or its data, is a job or a message with one: an object, a text, base64 or a list."""
    return _holds(document, _WRAPPINGS)


def _holds(value: Any, depth: int) -> bool:
    if depth < 0:
        return False
    if isinstance(value, str):
        return _holds(_content(value), depth - 1)
    if isinstance(value, list):
        return any(_holds(one, depth - 1) for one in value)
    if not isinstance(value, dict):
        return False
    if is_job(value):
        return True
    # Our report of a rejection may quote the job: if it counted, it would be rejected, and reported again.
    return value.get("type") != REJECTION and any(_holds(value.get(name), depth - 1) for name in _DATA)


def _content(text: str) -> Any:
    """The JSON that a text holds, perhaps in base64; None if it holds none."""
    try:
        return json.loads(unwrap(text.encode()).strip())
    except (ValueError, RecursionError):
        return None
