"""The coordinates that the API answers, checked before they become arguments of a program."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from shared.core.identity import is_job_id
from shared.core.relations.entrance import FORMS
from slipway.failure import Failure

LARGEST_PORT = 65_535


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


def place_of(answer: Mapping[str, Any], wanted_job: str = "", wanted_rank: int = 0) -> Place:
    """The place in an answer. Raises Failure for a value that could mean something to a program.

    Also for one of another job than the wanted one, where that is known, or of another rank.
    """
    tool = next((name for name in FORMS if isinstance(answer.get(name), Mapping)), "")
    if not tool:
        raise Failure("the answer has no place for the tools of this version; install a newer one")
    values = {}
    for name, form in FORMS[tool].items():
        member = name.rstrip("?")
        value = answer[tool].get(member)
        text = "" if value is None else str(value)
        is_large = member == "port" and text.isdecimal() and int(text) > LARGEST_PORT
        if is_large or (not re.fullmatch(form, text, re.ASCII) and (text or not name.endswith("?"))):
            raise Failure(f"the answer's {tool}.{member} is not one, and is used nowhere: {text[:80]!r}")
        values[member] = text
    job, attempt, rank = answer.get("job"), answer.get("attempt"), answer.get("rank")
    if not is_job_id(str(job)) or type(attempt) is not int or type(rank) is not int or attempt < 1:
        raise Failure("the answer names no job, and is used nowhere")
    if wanted_job and (job, rank) != (wanted_job, wanted_rank):
        raise Failure("the answer is about another job or another rank, and is used nowhere")
    if values.get("certificate") and not values["login"]:
        raise Failure("the answer has a certificate for no login node, and is used nowhere")
    return Place(str(job), attempt, rank, tool, values, str(answer.get("reason") or ""))
