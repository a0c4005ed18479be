"""`slipway run`: upload a script or a folder, follow its job, and download its output.

`slipway drop --follow` does all but the last.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from slipway.client.patience import patiently, pause
from slipway.client.service import Service, service
from slipway.client.upload_settings import upload_settings
from slipway.client.watch import ENDED
from slipway.commands.drop import check, check_folder, target_of
from slipway.commands.jobs import rejection, unmeant, why
from slipway.commands.output import log
from slipway.commands.output.download import check_directory, fetch
from slipway.commands.output.tail import last_errors
from slipway.commands.running.begin import Beginning
from slipway.commands.running.ending import Ending, endings
from slipway.commands.running.hints import misplaced
from slipway.commands.running.report import Report
from slipway.commands.running.sealed import beginning_of
from slipway.commands.running.secrets import refuse_secrets
from slipway.commands.running.stage import Options, check_path, staged
from slipway.failure import Failure, finding_out
from slipway.screen import say
from slipway.settings import address_beside

if TYPE_CHECKING:
    from slipway.client import shapes

#: Seconds between two looks at the job.
_EVERY = 1.0


def run(
    path: Path, options: Options, url: str, key: str, settings_file: Path | None, *, as_json: bool = False
) -> int:
    """Upload, follow and download. The exit code is the job's, 1 where it has none. Raises Failure."""
    check_path(path)
    url, report = url or address_beside(settings_file), Report(as_json)
    settings = asyncio.run(upload_settings(url, key, settings_file))
    if not options.detach:
        check_directory(options.to)
    options = asyncio.run(_ordered(options, url, key))
    with endings() as ending:
        with staged(path, options, settings.text("SLIPWAY_STDOUT_PREFIX")) as folder:
            check(folder, target_of(folder, options.name))
            beginning = beginning_of(settings, folder, options.name)
            job_id = _begin(beginning, url, key, report, ending)
        if options.detach and job_id:
            report.begun(job_id, detached=True)
            return asyncio.run(report_rejection(job_id, url, key))

        async def finish(api: Service) -> int:
            return await _finish(api, job_id, beginning.files, options.to, report)

        return _to_the_end(job_id, finish, url, key, report, ending)


async def _finish(api: Service, job_id: str, uploaded: Sequence[str], to: Path | None, report: Report) -> int:
    """Follow the job to its end, and download its output. Raises Failure."""
    job = await _follow(api, job_id, uploaded, report)
    if job["state"] != "succeeded":
        return log.exit_code(job)
    outputs = await patiently(lambda: api.outputs(job_id))
    try:
        fetched = await fetch(api, job_id, outputs, (), to)
    except Failure as failure:
        raise Failure(f"{failure}\nthe files stay with the job: slipway download {job_id}") from failure
    report.success(job, fetched)
    return fetched.code


def drop(
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
    settings = asyncio.run(upload_settings(url, key, settings_file))
    if not force:
        check(folder, target_of(folder, to))
    refuse_secrets(folder, force=force)
    beginning = Beginning(settings, folder, to, is_drop=True, force=force)

    async def finish(api: Service) -> int:
        job = await _follow(api, job_id, beginning.files, report)
        if job["state"] == "succeeded":
            report.success(job, None)
        return log.exit_code(job)

    with endings() as ending:
        job_id = _begin(beginning, url, key, report, ending)
        return _to_the_end(job_id, finish, url, key, report, ending)


def _begin(beginning: Beginning, url: str, key: str, report: Report, ending: Ending) -> str:
    """The job that an upload starts; "" after a Ctrl-C. Raises Failure."""
    try:
        return asyncio.run(beginning.job(url, key))
    except KeyboardInterrupt:
        if beginning.begins and ending.asks:
            _ask_before(beginning, url, key, report, ending)
        else:
            say(beginning.interrupted())
            report.interrupted("")
        return ""


def _ask_before(beginning: Beginning, url: str, key: str, report: Report, ending: Ending) -> None:
    """Ctrl-C before the id of the job is known: the job starts, unless a person decides otherwise."""
    try:
        if ending.cancels("[d]etach, so that the job begins, or [c]ancel it? [D/c] "):
            say("the job is cancelled as soon as there is one")
            job_id = asyncio.run(beginning.late(url, key))
            report.interrupted(job_id, cancelled=asyncio.run(_cancel(job_id, url, key)))
            return
    except KeyboardInterrupt:
        pass
    say(beginning.interrupted())
    report.interrupted("")


def _to_the_end(
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


async def _ordered(options: Options, url: str, key: str) -> Options:
    """The options with the ids of the jobs that it waits for. Makes no call if it waits for none."""
    choices = options.choices
    if not choices.order.members:
        return options
    async with service(url, key) as api:
        return replace(options, choices=replace(choices, order=await choices.order.ids(api)))


async def report_rejection(job_id: str, url: str, key: str) -> int:
    """1 for a job that was rejected, which it prints; else 0."""
    with finding_out():
        async with service(url, key, met=True) as api:
            job = await patiently(lambda: api.job(job_id))
    if hint := unmeant(job):
        say(hint)
    if job["state"] == "rejected":
        say(rejection(job))
    return int(job["state"] == "rejected")


async def _follow(api: Service, job_id: str, uploaded: Sequence[str], report: Report) -> shapes.JobDetail:
    """Follow the job to its end, and report why it failed; returns its record. Raises Failure: NOT_KNOWN."""
    with finding_out():
        return await _ended(api, job_id, uploaded, report)


async def _ended(api: Service, job_id: str, uploaded: Sequence[str], report: Report) -> shapes.JobDetail:
    news, out = asyncio.create_task(_news(api, job_id, report)), report.printer
    try:
        await log.read(api, job_id, log.Selection(), out, follow=True, remarks=False)
        await news  # it ends with the job as well
    finally:
        news.cancel()
    job = await patiently(lambda: api.job(job_id))
    if job["state"] == "succeeded":
        return job
    errors = await last_errors(api, job)
    report.failure(job, errors)
    if name := misplaced(errors, uploaded):
        say(
            f"{name} was uploaded, and is beside the script, but the script runs in another "
            f'directory: open it as pathlib.Path(__file__).parent / "{name}"'
        )
    return job


async def _news(api: Service, job_id: str, report: Report) -> None:
    """Report the job's changes and the reasons for its waits, until it ends."""
    last: shapes.JobDetail | None = None
    waits = ""
    while True:
        job = await patiently(lambda: api.job(job_id))
        if last is None and (hint := unmeant(job)):
            say(hint)
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
        cancelled = asyncio.run(_cancel(job_id, url, key))
    else:
        commands = ", ".join(f"slipway {name} {job_id}" for name in ("log --follow", "download", "cancel"))
        say(f"{job_id} goes on; {commands}")
    report.interrupted(job_id, cancelled=cancelled)
    return ending.code


async def _cancel(job_id: str, url: str, key: str) -> bool:
    """Cancel a job, and report the outcome; returns whether it is cancelled."""
    async with service(url, key, met=True) as api:
        state = (await api.cancel(job_id))["state"]
    done = state in ENDED and state != "cancelled"
    say(f"{job_id} had ended before: {state}" if done else f"{job_id} is being cancelled")
    return not done
