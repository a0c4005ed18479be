"""The audit trail: a line for each request that changes something, if callers have names."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import azure.functions as func

from functions.caller import caller
from functions.problem import Reply
from functions.process import ports
from shared.core.errors import SlipwayError, status_of
from shared.core.ledger.activity import Act

if TYPE_CHECKING:
    from shared.core.ports import Ports

log = logging.getLogger(__name__)

#: Operations that use POST or PUT and change nothing: code alone is nothing until a job names it.
_LOOKS = ("validate", "explain", "post_snapshot", "put_snapshot")


@dataclass
class _Outcome:
    """The outcome of a request, for its line."""

    status: int = 0
    result: str = ""
    subject: str = ""
    teams: tuple[str, ...] = ()
    detail: str = ""

    def answered(self, answer: func.HttpResponse) -> func.HttpResponse:
        """Remember the answer, and return it."""
        self.status, self.result = answer.status_code, answer.headers.get("Location", "")
        if isinstance(answer, Reply):
            self.subject, self.teams, self.detail = answer.subject, answer.teams, answer.detail
        return answer


@asynccontextmanager
async def acting(req: func.HttpRequest, operation: str) -> AsyncIterator[_Outcome]:
    """Add a line for the action of the block, also if it was forbidden, before the answer is sent.

    Costs nothing for requests that only read, and for holders of a function key, who have no names.
    """
    outcome = _Outcome()
    if req.method == "GET" or operation in _LOOKS or not caller().id:
        yield outcome
        return
    try:
        yield outcome
    except Exception as error:
        outcome.status = status_of(error)
        raise
    finally:
        await _add(req, operation, outcome)


async def _team(app: Ports, subject: str, result: str) -> str:
    from shared.operate.trail import team_concerned

    try:
        return await team_concerned(app, subject, result)
    except SlipwayError as error:
        log.warning("the trail does not have the team of %s: %s", subject[:80], error)
        return ""


async def _add(req: func.HttpRequest, operation: str, outcome: _Outcome) -> None:
    """Add the line, or one for each team. If storage does not answer, the action still counts."""
    subject = outcome.subject or "/".join(req.route_params.values())
    for team in outcome.teams or (await _team(ports(), subject, outcome.result),):
        await _add_line(operation, subject, outcome, team)


async def _add_line(operation: str, subject: str, outcome: _Outcome, team: str) -> None:
    """Add the line. If storage does not answer, the log has it."""
    who, app = caller(), ports()
    act = Act(
        app.clock(),
        who.id,
        tuple(sorted(who.roles)),
        operation,
        "".join(filter(str.isprintable, subject))[:200],
        outcome.status or 500,
        outcome.result,
        team,
        outcome.detail,
    )
    log.info(
        "%s by %s: %d", operation, who.id, act.status, extra={"action": "activity", "subject": act.subject}
    )
    try:
        await app.activity.add(act)
    except SlipwayError as error:
        log.error("the trail lacks this line: %s: %s", act.line.decode().strip(), error)
