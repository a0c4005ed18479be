"""What commands share: they ask the API, print its answer, and end with an exit code.

Light to import: what reaches the API is loaded when a command asks it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from slipway.failure import USAGE, Failure
from slipway.terminal.screen import confirmed, put, put_json, remark

if TYPE_CHECKING:
    from slipway.client.service import Service

Answer = TypeVar("Answer")
#: What a person reads before a question.
_SHOWN = 10


def show(
    answer: Answer, rows: Callable[[Answer], Sequence[str]], *, as_json: bool, colour: bool = False
) -> None:
    """Print the answer of the API: as JSON, or as a table, whose rows may be coloured."""
    if as_json:
        put_json(answer)
    else:
        put(*rows(answer), colour=colour)


def refuse_unless_agreed(lines: Sequence[str], question: str, refusal: str) -> None:
    """Raise Failure, with this text, unless a person who saw the first of these lines agrees."""
    remark("\n".join(lines[:_SHOWN]))
    if len(lines) > _SHOWN:
        remark(f"… and {len(lines) - _SHOWN} more")
    if not confirmed(question):
        raise Failure(refusal, USAGE)


def asking(ask: Callable[[Service], Awaitable[int]], url: str, key: str) -> int:
    """Run a query of the API at a base URL, to its exit code."""
    import asyncio

    from slipway.client.service import service

    async def whole() -> int:
        async with service(url, key) as api:
            return await ask(api)

    return asyncio.run(whole())


def asking_about(
    job: str, ask: Callable[[Service, str], Awaitable[int]], url: str, key: str, attempt: int = 0
) -> int:
    """Run a query about one job, given its id, to its exit code. Raises Failure if no job matches.

    What it reads of files is of that attempt, or of the current one.
    """
    from slipway.client.jobs.naming import job_id

    async def with_id(api: Service) -> int:
        return await ask(api.at_attempt(attempt), await job_id(api, job))

    return asking(with_id, url, key)


def showing(
    ask: Callable[[Service], Awaitable[Answer]],
    rows: Callable[[Answer], Sequence[str]],
    url: str,
    key: str,
    *,
    as_json: bool,
) -> int:
    """Print what the API answers; the exit code is 0."""

    async def shown(api: Service) -> int:
        show(await ask(api), rows, as_json=as_json)
        return 0

    return asking(shown, url, key)


def exit_code(job: Mapping[str, Any], *, as_json: bool = False) -> int:
    """The exit code of a command for an ended job: that of the job, which a program reads in the answer."""
    code = 1 if as_json else min(int(job.get("exitCode") or 1), 255)
    return 0 if job["state"] == "succeeded" else code
