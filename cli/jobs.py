"""The short commands that ask a running Slipway: jobs, cancel, pause, resume."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeVar

from cli.screen import table
from cli.service import Service, service
from cli.watch import ENDED

Answer = TypeVar("Answer")


def jobs(url: str, key: str, state: str, limit: int, *, as_json: bool = False) -> int:
    """Show the newest jobs."""

    async def ask(api: Service) -> int:
        show(await api.jobs(state, limit), rows, as_json=as_json)
        return 0

    return asking(ask, url, key)


def cancel(job_id: str, url: str, key: str) -> int:
    """Ask for the end of a job."""

    async def ask(api: Service) -> int:
        job = await api.cancel(job_id)
        asked = "" if job["state"] in ENDED else ", and asked to end"
        print(f"{job['id']}  {job['name']}: {job['state']}{asked}")
        return 0

    return asking(ask, url, key)


def pause(url: str, key: str, reason: str) -> int:
    """Stop submissions; jobs are accepted as ever, and wait."""

    async def ask(api: Service) -> int:
        print(_switch(await api.pause(reason)))
        return 0

    return asking(ask, url, key)


def resume(url: str, key: str) -> int:
    """Let submissions go on; 1 while the setting still stops them."""

    async def ask(api: Service) -> int:
        found = await api.resume()
        print(_switch(found))
        return 1 if found["paused"] else 0

    return asking(ask, url, key)


def _switch(found: Mapping[str, Any]) -> str:
    if not found["paused"]:
        return "submissions go on; what waited is submitted by the next sweep"
    reason = f": {found['reason']}" if found["reason"] else ""
    return f"submissions are paused by {found['by']}{reason}"


def show(found: Answer, rows: Callable[[Answer], Sequence[str]], *, as_json: bool) -> None:
    """Print what the API told: as it is, or in rows for people."""
    print(json.dumps(found, indent=2, ensure_ascii=False) if as_json else "\n".join(rows(found)))


def rows(found: Sequence[Mapping[str, Any]]) -> list[str]:
    """Jobs as a table."""
    if not found:
        return ["there are no jobs"]
    head = ("id", "name", "door", "state", "created", "message")
    return table(
        [head]
        + [
            (
                job["id"],
                job["name"],
                job["door"],
                job["state"],
                job["createdAt"][:19].replace("T", " "),
                job.get("message", ""),
            )
            for job in found
        ]
    )


def asking(ask: Callable[[Service], Awaitable[int]], url: str, key: str) -> int:
    """Run what asks the API at a base URL, to its exit code."""

    async def whole() -> int:
        async with service(url, key) as api:
            return await ask(api)

    return asyncio.run(whole())
