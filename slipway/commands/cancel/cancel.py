"""`slipway cancel`: asks for the end of a job."""

from collections.abc import Mapping
from typing import Any

from slipway.client.jobs.watch import ENDED
from slipway.client.jobs.words import standing
from slipway.client.service import Service
from slipway.commands.asking import asking_about, show


def cancel(job: str, url: str, key: str, *, as_json: bool = False) -> int:
    """Ask for the end of a job."""

    async def ask(api: Service, job_id: str) -> int:
        show(await api.cancel(job_id), _cancelled, as_json=as_json)
        return 0

    return asking_about(job, ask, url, key)


def _cancelled(job: Mapping[str, Any]) -> list[str]:
    return [standing(job) + ("" if job["state"] in ENDED else ", and asked to end")]
