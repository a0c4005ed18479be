"""`slipway run`: send a script or a folder, follow its job, and download its output."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from shared.settings import Settings
from shared.snapshots.pack import MIB
from slipway.client.calls.patience import patiently
from slipway.client.jobs.words import sweep_lines
from slipway.client.request.own_job import JOB_FILE
from slipway.client.request.request import Options, Request, check_path, request_of
from slipway.client.service import Service, service
from slipway.client.snapshot.pack import Archive, archive_of
from slipway.client.snapshot.submission import MOST, Submission, with_code
from slipway.client.snapshot.words import say_words
from slipway.commands.asking import exit_code, show
from slipway.commands.download.download import check_directory, fetch
from slipway.commands.run.ending import Ending, endings
from slipway.commands.run.follow import cancel_sent, follow, report_rejection, to_the_end
from slipway.commands.run.plan import explained, refuse
from slipway.commands.run.report import Report
from slipway.failure import Failure
from slipway.terminal.bar import progress
from slipway.terminal.screen import say

#: Bytes of an archive from which on the app is asked, before it is sent, whether the job can run.
_LARGE = 8 << 20
#: The setting that says where output goes.
_PREFIX = "SLIPWAY_STDOUT_PREFIX"


def run(path: Path, options: Options, url: str, key: str, *, dry: bool = False, as_json: bool = False) -> int:
    """Send, follow and download. The exit code is the job's, 1 where it has none. Raises Failure.

    With `dry`, nothing is sent, and what would be is shown.
    """
    check_path(path)
    if dry and options.keep:
        raise Failure("--save writes files, and --dry-run does not; leave out one of them")
    report, submissions = Report(as_json), list[Submission]()
    if not options.detach and not dry:
        check_directory(options.to)
    with endings() as ending:
        try:
            answer = asyncio.run(_send(path, options, url, key, submissions, dry=dry))
        except KeyboardInterrupt:
            return _interrupted(submissions, url, key, report, ending)
        if dry:
            return explained(answer, JOB_FILE, as_json=as_json)
        if options.sweep or "sweepId" in answer:
            show(answer, sweep_lines, as_json=as_json)
            return 0
        job_id = str(answer["id"])
        if options.detach:
            report.begun(job_id, detached=True)
            return report_rejection(answer)
        return to_the_end(
            job_id, lambda api: _finish(api, job_id, options.to, report), url, key, report, ending
        )


async def submitted(path: Path, options: Options, url: str, key: str) -> Mapping[str, Any]:
    """Send a script or a folder; what became of it. Raises Failure."""
    return await _send(path, options, url, key, [])


async def _send(
    path: Path,
    options: Options,
    url: str,
    key: str,
    submissions: list[Submission],
    *,
    dry: bool = False,
) -> Mapping[str, Any]:
    """Send it, noted in `submissions`. With `dry`, what would be sent, and what the app says of it."""
    async with service(url, key) as api:
        settings = Settings(await api.settings())
        ordered, prefix = await _ordered(options, api), settings.text(_PREFIX)
        request = await asyncio.to_thread(request_of, path, ordered, prefix)
        async with archive_of(request.tree, settings.whole(MOST) * MIB) as archive:
            await say_words(request.tree, archive.packed)
            if dry:
                return await _plan(api, request, archive)
            if archive.packed.bytes > _LARGE:
                refuse(await _plan(api, request, archive), request.file)
            submission = Submission(request.message, request.name, request.file, options.once)
            submissions.append(submission)
            with progress(archive.packed.bytes) as bar:
                return await submission.send(api, archive, request.at, bar.advance)


async def _plan(api: Service, request: Request, archive: Archive) -> dict[str, Any]:
    """What would be sent, and what the app says of it."""
    document = with_code(request.message, archive, request.at)
    explanation = await api.explain(document, {})
    files = [{"name": file.name, "bytes": file.size} for file in request.tree.files]
    return {"files": files, "bytes": archive.packed.bytes, "message": document, "explanation": explanation}


async def _ordered(options: Options, api: Service) -> Options:
    """The options with the ids of the jobs that it waits for. Makes no call if it waits for none."""
    choices = options.choices
    if not choices.order.members:
        return options
    return replace(options, choices=replace(choices, order=await choices.order.ids(api)))


async def _finish(api: Service, job_id: str, to: Path | None, report: Report) -> int:
    """Follow the job to its end, and download its output. Raises Failure."""
    job = await follow(api, job_id, report)
    if job["state"] != "succeeded":
        return exit_code(job)
    outputs = await patiently(lambda: api.outputs(job_id))
    try:
        fetched = await fetch(api, job_id, outputs, (), to)
    except Failure as failure:
        raise Failure(f"{failure}\nthe files stay with the job: slipway download {job_id}") from failure
    report.success(job, fetched)
    return fetched.code


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
    report.interrupted("")
    return ending.code
