"""Follows a job to its end, for `slipway run` and `slipway drop --follow`."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from slipway.client.calls.patience import patiently, pause
from slipway.client.jobs import log
from slipway.client.jobs.naming import unmeant
from slipway.client.jobs.selection import Selection
from slipway.client.jobs.tail import last_errors
from slipway.client.jobs.words import ENDED, rejection, why
from slipway.client.service import Service, service
from slipway.client.snapshot.submission import Submission
from slipway.commands.download.download import LOGS
from slipway.commands.download.fetched import Fetched
from slipway.commands.run.ending import Ending
from slipway.commands.run.report import Report
from slipway.failure import Failure, finding_out
from slipway.terminal.characters import printable
from slipway.terminal.screen import say

if TYPE_CHECKING:
    from slipway.client import shapes

#: Seconds between two looks at the job.
_EVERY = 1.0
#: How many names of what a job left are shown.
_NAMED = 3


def to_the_end(
    job_id: str,
    finish: Callable[[Service], Awaitable[int]],
    url: str,
    key: str,
    report: Report,
    ending: Ending,
) -> int:
    """The result of `finish` for the job, unless the command is ended before."""
    if not job_id:
        return ending.code

    async def ask() -> int:
        async with service(url, key, met=True) as api:
            return await finish(api)

    report.begun(job_id)
    try:
        return asyncio.run(ask())
    except KeyboardInterrupt:
        return _interrupted(job_id, url, key, report, ending)


def report_rejection(job: Mapping[str, Any]) -> int:
    """1 for a job that was rejected, which it prints; else 0. `job` is what the app answered of it."""
    if hint := unmeant(job):
        say(hint)
    if job["state"] == "rejected":
        say(rejection(job))
    return int(job["state"] == "rejected")


async def follow(api: Service, job_id: str, report: Report) -> shapes.JobDetail:
    """Follow the job to its end; returns its record. Raises Failure: NOT_KNOWN."""
    with finding_out():
        return await _ended(api, job_id, report)


async def _ended(api: Service, job_id: str, report: Report) -> shapes.JobDetail:
    reading = log.read(api, job_id, Selection(), report.printer, follow=True, remarks=False)
    lines = asyncio.create_task(reading)
    news = asyncio.create_task(_news(api, job_id, report, lines))
    try:
        await lines
        await news  # it ends with the job as well
    finally:
        lines.cancel()
        news.cancel()
    return await patiently(lambda: api.job(job_id))


async def report_failure(
    api: Service, job: shapes.JobDetail, report: Report, fetched: Fetched | None = None
) -> None:
    """Report why the job failed, and what it left, unless that was fetched. Raises Failure: NOT_KNOWN."""
    with finding_out():
        # People have read standard error to its end.
        errors = await last_errors(api, job) if report.as_json else ()
        left_behind = "" if fetched or report.as_json else await _left_by(api, job)
    report.failure(job, errors, fetched, left_behind)


async def _left_by(api: Service, job: shapes.JobDetail) -> str:
    """What the job left in its output directories, in words; "" if that cannot be listed."""
    if "engine" not in job:
        return ""
    try:
        outputs = [one for one in await api.outputs(job["id"]) if one != LOGS]
        pages = [await api.files_page(job["id"], one, ".") for one in outputs]
    except Failure:
        return ""
    full = [
        f"{one} has {_some([file['name'] for file in page.files])}"
        for one, page in zip(outputs, pages, strict=True)
        if page.files
    ]
    return "; ".join(full) or "its logs: it wrote nothing else"


def _some(names: Sequence[str]) -> str:
    """The first of some names, and how many more there are."""
    more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    return ", ".join(map(printable, names[:_NAMED])) + more


async def _news(api: Service, job_id: str, report: Report, lines: asyncio.Task[int]) -> None:
    """Report the job's changes and the reasons for its waits, until it ends: its end after its last lines."""
    last: Mapping[str, Any] | None = None
    waits = ""
    while True:
        job = await patiently(lambda: api.job(job_id))
        if last is None and (hint := unmeant(job)):
            say(hint)
        if job["state"] in ENDED:
            if earlier := job["history"][:-1]:
                before_end = {**job, "state": earlier[-1]["state"], "history": earlier}
                report.state(last, before_end)
                last = before_end
            await asyncio.wait({lines})
        report.state(last, job)
        last, before = job, waits
        waits = why(job) if "waiting" in job else ""
        if waits and waits != before:
            report.waits(job)
        if job["state"] in ENDED:
            return
        await pause(_EVERY)


def _interrupted(job_id: str, url: str, key: str, report: Report, ending: Ending) -> int:
    """Ctrl-C: the job goes on, unless a person at a terminal decides otherwise."""
    cancelled = ending.asks and ending.cancels("[d]etach, so that the job goes on, or [c]ancel it? [D/c] ")
    if cancelled:
        cancelled = asyncio.run(cancel(job_id, url, key))
    else:
        commands = ", ".join(f"slipway {name} {job_id}" for name in ("log --follow", "download", "cancel"))
        say(f"{job_id} goes on; {commands}")
    report.interrupted(job_id, cancelled=cancelled)
    return ending.code


async def cancel(job_id: str, url: str, key: str) -> bool:
    """Cancel a job, and report the outcome; returns whether it is cancelled."""
    async with service(url, key, met=True) as api:
        return await _cancelled(api, job_id)


class Outcome(NamedTuple):
    """The id of a job or sweep, and whether it is cancelled."""

    identity: str
    is_cancelled: bool


async def cancel_sent(submission: Submission, url: str, key: str) -> Outcome:
    """Cancel what was sent before a Ctrl-C."""
    async with service(url, key, met=True) as api:
        answer = await submission.post(api)  # by the same key, it is the same job, or sweep
        if not submission.is_sweep:
            job_id = str(answer["id"])
            return Outcome(job_id, await _cancelled(api, job_id))
        sweep_id = str(answer["sweepId"])
        await api.cancel_sweep(sweep_id)
        say(f"{sweep_id} is being cancelled")
        return Outcome(sweep_id, True)


async def _cancelled(api: Service, job_id: str) -> bool:
    state = (await api.cancel(job_id))["state"]
    done = state in ENDED and state != "cancelled"
    say(f"{job_id} had ended before: {state}" if done else f"{job_id} is being cancelled")
    return not done
