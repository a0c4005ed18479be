"""`slipway run`: send a script or a folder, follow its job, and download its output."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from slipway.client.calls.patience import patiently
from slipway.client.jobs.words import sweep_lines
from slipway.client.request.own_job import JOB_FILE
from slipway.client.request.request import Options, check_path
from slipway.client.request.send import send
from slipway.client.service import Service
from slipway.client.snapshot.submission import Submission
from slipway.client.snapshot.walk import walk
from slipway.commands.asking import exit_code, show
from slipway.commands.download.download import check_directory, fetch
from slipway.commands.download.fetched import Fetched
from slipway.commands.run.ending import Ending, endings
from slipway.commands.run.follow import cancel_sent, follow, report_failure, report_rejection, to_the_end
from slipway.commands.run.plan import explained
from slipway.commands.run.report import Report
from slipway.failure import USAGE, Failure
from slipway.terminal.screen import say


def run(
    path: Path,
    options: Options,
    url: str,
    key: str,
    *,
    to: Path | None = None,
    detach: bool = False,
    dry: bool = False,
    as_json: bool = False,
) -> int:
    """Send, follow and download to `to`. The exit code is the job's, 1 where it has none. Raises Failure.

    What a job wrote that failed is downloaded, too, where `to` asks for it; else its command is named.
    With `dry`, nothing is sent, and what would be is shown.
    """
    check_path(path)
    if dry and options.keep:
        raise Failure("--save writes files, and --dry-run does not; leave out one of them", USAGE)
    if to is not None and path.is_dir():
        _check_results(to, path)
    report, submissions = Report(as_json), list[Submission]()
    if not detach and not dry:
        check_directory(to)
    with endings() as ending:
        try:
            answer = asyncio.run(send(path, options, url, key, submissions, dry=dry))
        except KeyboardInterrupt:
            return _interrupted(submissions, url, key, report, ending)
        if dry:
            return explained(answer, JOB_FILE, options.max_cost, as_json=as_json)
        if options.sweep or "sweepId" in answer:
            show(answer, sweep_lines, as_json=as_json)
            return 0
        job_id = str(answer["id"])
        if detach:
            report.begun(job_id, detached=True)
            return report_rejection(answer)
        return to_the_end(job_id, lambda api: finish(api, job_id, to, report), url, key, report, ending)


def _check_results(to: Path, folder: Path) -> None:
    """Raise Failure if results there would be sent with the next job, or keep its code from being sent."""
    place, above = to.resolve(), folder.resolve()
    if place == above:
        raise Failure(
            f"--to {to}: results in {folder} would be sent with its next job; name a folder in it", USAGE
        )
    if not (place.is_dir() and place.is_relative_to(above)):
        return
    tree, begin = walk(folder), f"{place.relative_to(above).as_posix()}/"
    if any(name.startswith(begin) for name in (*(file.name for file in tree.files), *tree.links)):
        raise Failure(
            f"--to {to}: it has files that are sent, and a folder with results is not; name a new folder"
        )


async def finish(api: Service, job_id: str, to: Path | None, report: Report) -> int:
    """Follow the job to its end, and download its output. Raises Failure."""
    job = await follow(api, job_id, report)
    if job["state"] != "succeeded":
        fetched = await _fetched_of_failed(api, job, to) if to is not None and "engine" in job else None
        await report_failure(api, job, report, fetched)
        return exit_code(job, as_json=report.as_json)
    fetched = await _fetched(api, job_id, to)
    report.success(job, fetched)
    return fetched.code


async def _fetched(api: Service, job_id: str, to: Path | None) -> Fetched:
    try:
        return await fetch(api, job_id, await patiently(lambda: api.results(job_id)), (), to)
    except Failure as failure:
        raise Failure(
            f"{failure}\nthe files stay with the job: slipway download {job_id}", failure.kind
        ) from failure


async def _fetched_of_failed(api: Service, job: Mapping[str, Any], to: Path) -> Fetched | None:
    """The same of a job that failed, whose end counts, not this: None if that is not possible."""
    try:
        return await _fetched(api, job["id"], to)
    except Failure as failure:
        say(str(failure))
        return None


def _interrupted(submissions: list[Submission], url: str, key: str, report: Report, ending: Ending) -> int:
    """Ctrl-C before the id of the job is known: what was sent begins, unless a person decides otherwise."""
    submission = submissions[0] if submissions else None
    if submission is None or not submission.is_posted:
        say("the job was not submitted, so none begins")
        report.interrupted("")
        return ending.code
    try:
        if ending.asks and ending.cancels("[d]etach, so that it begins, or [c]ancel it? [D/c] "):
            say(f"the {submission.kind} is cancelled as soon as there is one")
            identity, is_cancelled = asyncio.run(cancel_sent(submission, url, key))
            report.interrupted(identity, cancelled=is_cancelled)
            return ending.code
    except KeyboardInterrupt:
        pass
    end = "slipway sweep cancel SWEEP" if submission.is_sweep else "slipway cancel JOB"
    say(
        f"the {submission.kind} was submitted and may begin; find it with slipway jobs --source http --limit "
        f"5, and end it with {end}"
    )
    report.interrupted("", key=submission.key)
    return ending.code
