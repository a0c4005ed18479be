"""`slipway drop --follow`: upload a folder, and follow the job that it starts."""

from __future__ import annotations

import asyncio

from slipway.client.service import Service
from slipway.commands.asking import exit_code
from slipway.commands.drop.drop import Drop, carry_out
from slipway.commands.run.ending import endings
from slipway.commands.run.follow import follow, report_failure, to_the_end
from slipway.commands.run.report import Report
from slipway.failure import UNSUCCESSFUL, Failure
from slipway.terminal.screen import say


def run(drop: Drop, *, as_json: bool = False) -> int:
    """Upload a folder, and follow the job that it starts. The exit code is the job's. Raises Failure."""
    report = Report(as_json)
    with endings() as ending:
        try:
            asyncio.run(carry_out(drop))
        except KeyboardInterrupt:
            drop.say_interrupted()
            report.interrupted("")
            return ending.code
        job_id = _job_of(drop)

        async def finish(api: Service) -> int:
            job = await follow(api, job_id, report)
            if job["state"] == "succeeded":
                report.success(job, None)
            else:
                await report_failure(api, job, report)
            return exit_code(job, as_json=as_json)

        return to_the_end(job_id, finish, drop.url, drop.key, report, ending)


def _job_of(drop: Drop) -> str:
    """The job to follow: the first that begins. Raises Failure if there is none."""
    if not drop.jobs:
        waits = "; ".join(drop.waits)
        raise Failure(
            f"nothing runs yet: {waits}" if waits else "the id of the job is not known", UNSUCCESSFUL
        )
    first, *others = (str(job["id"]) for job in drop.jobs)
    if others:
        say(f"follows {first}; the folder also began {', '.join(others)}")
    return first
