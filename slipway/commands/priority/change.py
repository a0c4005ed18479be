"""What the commands share that change one job while it waits."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

from slipway.client.jobs.words import standing, why
from slipway.commands.asking import asking_about, show

if TYPE_CHECKING:
    from slipway.client.service import Service


def changing_job(
    job: str,
    act: Callable[[Service, str], Awaitable[Mapping[str, Any]]],
    url: str,
    key: str,
    as_json: bool,
) -> int:
    """Do something to one job, and print how it stands."""

    async def ask(api: Service, job_id: str) -> int:
        show(await act(api, job_id), _job, as_json=as_json)
        return 0

    return asking_about(job, ask, url, key)


def _job(job: Mapping[str, Any]) -> list[str]:
    level = f", priority {job['priority']}" if job.get("priority") else ""
    reason = f": {why(job)}" if job.get("waiting") else ""
    return [f"{standing(job)}{level}{reason}"]
