"""What commands share: they ask the API, print its answer, and end with an exit code."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeVar

from slipway.client.jobs.naming import job_id
from slipway.client.service import Service, service
from slipway.terminal.screen import put, put_json

Answer = TypeVar("Answer")


def show(
    answer: Answer, rows: Callable[[Answer], Sequence[str]], *, as_json: bool, colour: bool = False
) -> None:
    """Print the answer of the API: as JSON, or as a table, whose rows may be coloured."""
    if as_json:
        put_json(answer)
    else:
        put(*rows(answer), colour=colour)


def asking_about(job: str, ask: Callable[[Service, str], Awaitable[int]], url: str, key: str) -> int:
    """Run a query about one job, given its id, to its exit code. Raises Failure if no job matches."""

    async def with_id(api: Service) -> int:
        return await ask(api, await job_id(api, job))

    return asking(with_id, url, key)


def asking(ask: Callable[[Service], Awaitable[int]], url: str, key: str) -> int:
    """Run a query of the API at a base URL, to its exit code."""

    async def whole() -> int:
        async with service(url, key) as api:
            return await ask(api)

    return asyncio.run(whole())


def exit_code(job: Mapping[str, Any]) -> int:
    """The exit code of a command for an ended job."""
    return 0 if job["state"] == "succeeded" else min(int(job.get("exitCode") or 1), 255)
