"""`slipway release`: asks for the end of the time for which a failed job keeps its nodes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import typer

from slipway.client.jobs.words import ENDED, ended_as, standing, why
from slipway.commands.asking import asking_about, show
from slipway.commands.options import LOCAL, JobId, Json, Key, Url

if TYPE_CHECKING:
    from slipway.client.service import Service

app = typer.Typer()


@app.command()
def release(job: JobId, as_json: Json = False, url: Url = LOCAL, key: Key = "") -> None:
    """Give back the nodes that a failed job keeps (`slipway run --hold`)."""

    async def ask(api: Service, job_id: str) -> int:
        show(await api.release(job_id), _released, as_json=as_json)
        return 0

    raise typer.Exit(asking_about(job, ask, url, key))


def _released(job: Mapping[str, Any]) -> list[str]:
    return [ended_as(job) if job["state"] in ENDED else f"{standing(job)}: {why(job)}"]
