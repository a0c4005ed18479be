"""`slipway log`: prints a job's logs, and messages about them."""

import sys
from contextlib import nullcontext

from slipway.client.jobs.lines import JsonPrinter, compiled, printer_of
from slipway.client.jobs.log import clock_for, read
from slipway.client.jobs.selection import Selection
from slipway.client.service import Service
from slipway.commands.asking import asking_about
from slipway.failure import finding_out


def run(
    job: str,
    url: str,
    key: str,
    selection: Selection,
    pattern: str,
    *,
    follow: bool,
    timestamps: bool,
    as_json: bool = False,
) -> int:
    """Write a job's logs to the same streams; with `follow`, until its end: then 1 if it did not succeed.

    Raises Failure, with `follow` with the exit code NOT_KNOWN.
    """
    clock = clock_for(timestamps=timestamps, follow=follow)
    printer = (
        JsonPrinter(sys.stdout.buffer, grep=compiled(pattern), clock=clock)
        if as_json
        else printer_of(sys.stdout, sys.stderr, pattern, clock)
    )

    async def ask(api: Service, job_id: str) -> int:
        return await read(api, job_id, selection, printer, follow=follow)

    with finding_out() if follow else nullcontext():
        return asking_about(job, ask, url, key)
