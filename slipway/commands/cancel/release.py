"""`slipway release`: gives back the nodes that a job keeps after its failure."""

from collections.abc import Mapping
from typing import Any

from slipway.client.jobs.words import ENDED, ended_as, standing, why
from slipway.client.service import Service
from slipway.commands.asking import asking_about, show


def release(job: str, url: str, key: str, *, as_json: bool) -> int:
    """Ask for the end of the time for which it keeps them."""

    async def ask(api: Service, job_id: str) -> int:
        show(await api.release(job_id), _released, as_json=as_json)
        return 0

    return asking_about(job, ask, url, key)


def _released(job: Mapping[str, Any]) -> list[str]:
    return [ended_as(job) if job["state"] in ENDED else f"{standing(job)}: {why(job)}"]
