"""`slipway wait`: waits for the end of a job."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from slipway.client.jobs.words import ENDED, ended_as
from slipway.commands.asking import asking_about, exit_code, show
from slipway.commands.options import LOCAL, JobId, Json, Key, Url
from slipway.failure import NO_ANSWER, Failure, finding_out

if TYPE_CHECKING:
    from slipway.client.service import Service

app = typer.Typer()
#: Seconds between two looks at the job.
_LOOK_EVERY = 1.0
#: The exit code of a wait that ended before the job, as of the command `timeout`.
NOT_YET = 124


@app.command(short_help="Wait until a job has ended.")
def wait(
    job: JobId,
    timeout: Annotated[
        int | None, typer.Option(min=1, help="seconds after which it stops waiting, with the exit code 124")
    ] = None,
    as_json: Json = False,
    url: Url = LOCAL,
    key: Key = "",
) -> None:
    """Wait until a job has ended. The exit code is the job's; it is 125 where no answer says how it ended.

    With --json it is 1 for a job that did not succeed, whose own is the `exitCode` of the answer.
    """
    raise typer.Exit(run(job, url, key, as_json=as_json, timeout=timeout))


def run(job: str, url: str, key: str, *, as_json: bool = False, timeout: float | None = None) -> int:
    """Wait for a job's end: 0 if it succeeded, else its exit code, or 1; NOT_YET after `timeout` seconds.

    Raises Failure with the exit code NOT_KNOWN.
    """

    async def ask(api: Service, job_id: str) -> int:
        import asyncio

        from slipway.client.calls.patience import patiently, pause

        job: Mapping[str, Any] = {}
        try:
            async with asyncio.timeout(timeout):
                job = await api.job(job_id)
                while job["state"] not in ENDED:
                    await pause(_LOOK_EVERY)
                    job = await patiently(lambda: api.job(job_id))
        except TimeoutError:
            if not job:
                raise Failure(
                    f"the app has not said within {timeout:g} s how {job_id} is", NO_ANSWER
                ) from None
            show(job, lambda job: [f"{job_id} is {job['state']}, and goes on"], as_json=as_json)
            return NOT_YET
        show(job, lambda job: [ended_as(job)], as_json=as_json)
        return exit_code(job, as_json=as_json)

    with finding_out():
        return asking_about(job, ask, url, key)
