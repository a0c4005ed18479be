"""`slipway drop --follow`: upload a folder, and follow the job that it starts."""

from __future__ import annotations

import asyncio
from pathlib import Path

from slipway.client.drops.folder import check_folder
from slipway.client.service import Service
from slipway.client.storage.upload_settings import upload_settings
from slipway.commands.asking import exit_code
from slipway.commands.drop.drop import Drop, carry_out, checked
from slipway.commands.run.ending import endings
from slipway.commands.run.follow import follow, to_the_end
from slipway.commands.run.report import Report
from slipway.failure import Failure
from slipway.settings import address_beside
from slipway.terminal.screen import say


def run(
    folder: Path,
    to: str,
    url: str,
    key: str,
    settings_file: Path | None,
    *,
    force: bool = False,
    as_json: bool = False,
) -> int:
    """Upload a folder, and follow the job that it starts. The exit code is the job's. Raises Failure."""
    check_folder(folder)
    url, report = url or address_beside(settings_file), Report(as_json)
    drop = checked(folder, to, asyncio.run(upload_settings(url, key, settings_file)), force=force, quiet=True)
    with endings() as ending:
        try:
            waits = asyncio.run(carry_out(drop, url, key))
        except KeyboardInterrupt:
            begins = "all files were uploaded, so their job begins" if drop.uploaded else "no job begins"
            say(f"{begins}; slipway jobs --source drop,inventory --limit 5")
            report.interrupted("")
            return ending.code
        job_id = _job_of(drop, "; ".join(waits))

        async def finish(api: Service) -> int:
            job = await follow(api, job_id, report)
            if job["state"] == "succeeded":
                report.success(job, None)
            return exit_code(job)

        return to_the_end(job_id, finish, url, key, report, ending)


def _job_of(drop: Drop, waits: str) -> str:
    """The job to follow: the first that begins. Raises Failure if there is none."""
    if not drop.jobs:
        raise Failure(f"nothing runs yet: {waits}" if waits else "the id of the job is not known")
    first, *others = (str(job["id"]) for job in drop.jobs)
    if others:
        say(f"follows {first}; the folder also began {', '.join(others)}")
    return first
