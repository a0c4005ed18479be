"""`slipway log`: what a job has written, and what is to be said about it."""

import asyncio
import sys
from collections.abc import Mapping
from typing import Any, BinaryIO

from slipway.client.output import patiently
from slipway.client.service import LogPart, Missing, Service
from slipway.client.watch import ENDED
from slipway.commands.jobs import asking_about
from slipway.failure import Failure

_LOOK_EVERY = 1.0
#: States in which a job waits for its (next) run.
_WAITS = frozenset({"accepted", "submitting", "queued"})


def run(job: str, url: str, key: str, file: str, follow: bool) -> int:
    """Write a job's log to standard output; with `follow`, until its end: then 1 if it did not succeed."""

    async def ask(api: Service, job_id: str) -> int:
        return await read(api, job_id, file, sys.stdout.buffer, follow=follow)

    return asking_about(job, ask, url, key)


def wait(job: str, url: str, key: str) -> int:
    """Wait for a job's end: 0 if it succeeded, else its exit code, or 1."""

    async def ask(api: Service, job_id: str) -> int:
        job = await api.job(job_id)  # at once where nothing answers
        while job["state"] not in ENDED:
            await asyncio.sleep(_LOOK_EVERY)
            job = await patiently(lambda: api.job(job_id))
        print(f"{job['id']}  {job['name']}: {job['state']}")
        return exit_code(job)

    return asking_about(job, ask, url, key)


def exit_code(job: Mapping[str, Any]) -> int:
    """Of a command that stands for a job which has ended."""
    return 0 if job["state"] == "succeeded" else min(int(job.get("exitCode") or 1), 255)


async def read(
    api: Service, job_id: str, file: str, stream: BinaryIO, *, follow: bool, every: float = _LOOK_EVERY
) -> int:
    """The exit code. What is not of the log goes to standard error. Raises Failure.

    Each run of a job has files of its own, so an offset is good for one run only.
    """
    offset, began, read_from = 0, run_of({}), ""
    job: Mapping[str, Any] = {}
    while True:
        # The first question fails at once where nothing answers; later the job is worth some patience.
        job = await (patiently(lambda: api.job(job_id)) if job else api.job(job_id))
        state = job["state"]
        if state == "rejected":
            raise Failure(f"{job_id} was rejected, so it never ran; what is wrong: slipway show {job_id}")
        if offset and run_of(job) != began:
            _say(f"{job_id} begins anew ({state}): what follows is its next run, from the beginning")
            offset = 0
        if state == "running" or state in ENDED or (state == "queued" and not follow):
            began = run_of(job)
            part = await _part(api, job, offset, file)
            stream.write(part.data)
            stream.flush()
            offset, read_from = part.next, part.file or read_from
            if part.more and part.data:
                continue
        if state in ENDED or not follow:
            if text := remark(job, read_from, written=offset > 0):
                _say(text)
            return int(follow and state != "succeeded")
        await asyncio.sleep(every)


def run_of(job: Mapping[str, Any]) -> tuple[int, int]:
    """What distinguishes one run of a job from the next: the attempt, and when it was last queued."""
    waits = [entry["sequence"] for entry in job.get("history", ()) if entry["state"] in _WAITS]
    return job.get("attempt", 1), max(waits, default=0)


def remark(job: Mapping[str, Any], file: str, *, written: bool) -> str:
    """A note beside the log: why it is empty, or how the job failed; "" for none."""
    state = job["state"]
    if state not in ENDED:
        return "" if written else f"{state}: nothing written yet"
    if state == "succeeded":
        return "" if written else "succeeded: nothing was written"
    code = f", exit code {job['exitCode']}" if "exitCode" in job else ""
    errors = (file or "stdout.txt").replace("stdout", "stderr", 1)
    return f"{state}{code}" + (f"; see --file {errors}" if errors != file else "")


async def _part(api: Service, job: Mapping[str, Any], offset: int, file: str) -> LogPart:
    try:
        return await patiently(lambda: api.log(job["id"], offset, file))
    except Missing:
        if file:
            raise
        return LogPart(b"", offset, more=False)  # it ended before it wrote anything


def _say(text: str) -> None:
    sys.stderr.write(f"slipway: {text}\n")
