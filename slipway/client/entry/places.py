"""The coordinates that the API answers, checked before they become arguments of a program."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from shared.core.identity import is_job_id
from shared.core.relations.entrance import FORMS
from slipway.failure import Failure


@dataclass(frozen=True)
class Place:
    """Where one rank of a job is. Every value has its strict form; one that was left out is ""."""

    job: str
    attempt: int
    rank: int
    tool: str
    values: Mapping[str, str]
    #: why no command of ours goes there; "" if one does
    reason: str = ""


def place_of(answer: Mapping[str, Any]) -> Place:
    """The place in an answer. Raises Failure for a value that could mean something to a program."""
    tool = next((name for name in FORMS if isinstance(answer.get(name), Mapping)), "")
    if not tool:
        raise Failure("the answer has no place for the tools of this version; install a newer one")
    values = {}
    for name, form in FORMS[tool].items():
        member = name.rstrip("?")
        value = answer[tool].get(member)
        text = "" if value is None else str(value)
        if not re.fullmatch(form, text, re.ASCII) and (text or not name.endswith("?")):
            raise Failure(f"the answer's {tool}.{member} is not one, and is used nowhere: {text[:80]!r}")
        values[member] = text
    job, attempt, rank = answer["job"], answer["attempt"], answer["rank"]
    if not is_job_id(str(job)) or type(attempt) is not int or type(rank) is not int:
        raise Failure("the answer names no job, and is used nowhere")
    return Place(job, attempt, rank, tool, values, str(answer.get("reason") or ""))
