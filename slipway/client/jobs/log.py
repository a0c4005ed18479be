"""Reads a job's logs for a printer, with messages about them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from slipway.client.calls.patience import patiently, pause
from slipway.client.calls.refusal import Absent, Unanswered
from slipway.client.jobs.lines import Printer
from slipway.client.jobs.processes import ProcessLog, logs_of, start_of_found, start_of_tail
from slipway.client.jobs.words import ENDED, rejection
from slipway.client.service import Service
from slipway.failure import Failure, Verdict
from slipway.terminal.characters import printable
from slipway.terminal.screen import say

_LOOK_EVERY = 1.0
#: States in which a job waits for its (next) run.
_WAITS = frozenset({"accepted", "submitting", "queued"})


@dataclass(frozen=True)
class Selection:
    """The selected part of the logs."""

    #: one file, such as stderr.txt; else standard output of every process, or of one
    file: str = ""
    rank: str = ""
    #: how many of the last matching lines of each process; None for all
    tail: int | None = None

    def __post_init__(self) -> None:
        """Raise Failure for options that exclude each other."""
        if self.file and self.rank:
            raise Failure("a file and a rank exclude each other: the name of the file has the rank")
        if self.tail is not None and self.tail < 0:
            raise Failure(f"--tail cannot be {self.tail}; give 0 or more")


def clock_for(*, timestamps: bool, follow: bool) -> Callable[[], str] | None:
    """Formats the time before each line; None without timestamps. Raises Failure."""
    if timestamps and not follow:
        raise Failure("timestamps need --follow: only lines that arrive now get a time")
    return _now if timestamps else None


async def read(
    api: Service,
    job_id: str,
    selection: Selection,
    out: Printer,
    *,
    follow: bool,
    every: float = _LOOK_EVERY,
    remarks: bool = True,
) -> int:
    """The exit code: with `follow` 1 if the job did not succeed, else 1 if a log could not be read.

    Messages go to standard error.

    Raises Failure. Each run of a job has files of its own, so an offset is valid for one run only. Without
    `remarks`, the caller reports how the job ended.
    """
    offsets: dict[str, int] = {}
    unread: set[str] = set()
    began = run_of({})
    while True:
        job = await patiently(lambda: api.job(job_id))
        state = job["state"]
        if state == "rejected":
            raise Verdict(rejection(job))
        if any(offsets.values()) and run_of(job) != began:
            out.finish()
            say(f"{job_id} starts again ({state}): what follows is its next run, from the beginning")
            offsets, unread = {}, set()
        if state == "running" or state in ENDED or (state == "queued" and not follow):
            began = run_of(job)
            judged = follow and state in ENDED  # the exit code is the job's
            await _print_new(api, job, selection, offsets, out, unread, judged=judged)
        if state in ENDED or not follow:
            out.finish()
            if remarks and (text := remark(job, list(offsets), written=any(offsets.values()))):
                say(text)
            return int(state != "succeeded" if follow else bool(unread))
        await pause(every)


async def _print_new(
    api: Service, job: Mapping[str, Any], selection: Selection, offsets: dict[str, int], out: Printer,
    unread: set[str], *, judged: bool,
) -> None:  # fmt: skip
    """Print everything that the processes wrote since their offsets; report each unreadable file once.

    Raises Failure if no file can be read, unless the exit code is the job's, and Absent for a file by name.
    """
    logs = await logs_of(api, job, selection.file, selection.rank)
    if selection.file and not logs and job["state"] in ENDED:
        raise Absent(f"there is no {printable(selection.file)}; list the files: slipway files {job['id']}")
    for log in logs:
        if log.name in unread:
            continue
        try:
            if log.name not in offsets and selection.tail is not None:
                offsets[log.name] = await _start(api, job["id"], log, selection.tail, out)
            await _print_one(api, job, log, offsets, partial(out.write, log.name, log.rank * (len(logs) > 1)))
        except Unanswered:
            raise
        except Failure as error:
            if len(logs) == 1 and (selection.file or not judged):
                raise
            unread.add(log.name)
            say(f"{printable(log.name)}: {error}")
        if job["state"] in ENDED:
            out.end(log.name)
    out.stream.flush()


async def _start(api: Service, job_id: str, log: ProcessLog, tail: int, out: Printer) -> int:
    """The offset of the last lines, counting only printed ones."""
    if out.grep is None:
        return await start_of_tail(api, job_id, log, tail)
    return await start_of_found(api, job_id, log, tail, out.takes)


async def _print_one(
    api: Service, job: Mapping[str, Any], log: ProcessLog, offsets: dict[str, int],
    write: Callable[[bytes], None],
) -> None:  # fmt: skip
    offset = offsets.setdefault(log.name, 0)
    # A cluster's report of sizes may be late; the end of the job is the end of its files.
    while offset < log.size or job["state"] in ENDED:
        try:
            chunk = await patiently(partial(api.log, job["id"], offset, log.name))
        except Absent:
            return  # the run was preempted meanwhile: the next look sees that
        if not chunk.data:
            return
        write(chunk.data)
        offset = offsets[log.name] = chunk.next


def run_of(job: Mapping[str, Any]) -> tuple[int, int]:
    """Identifies a run of a job: the attempt, and the time when it was last queued."""
    waits = [entry["sequence"] for entry in job.get("history", ()) if entry["state"] in _WAITS]
    return job.get("attempt", 1), max(waits, default=0)


def remark(job: Mapping[str, Any], files: Sequence[str], *, written: bool) -> str:
    """A message about the logs: why they are empty, or how the job failed; "" for none."""
    state = job["state"]
    if state not in ENDED:
        return "" if written else f"{state}: nothing written yet"
    if state == "succeeded":
        return "" if written else "succeeded: nothing was written"
    code = f", exit code {job['exitCode']}" if "exitCode" in job else ""
    if len(files) > 1:
        return f"{state}{code}; the errors of every process: slipway show {job['id']}"
    (file,) = files or ("stdout.txt",)
    errors = file.replace("stdout", "stderr", 1)
    return f"{state}{code}" + (f"; see `slipway log {job['id']} --file {errors}`" if errors != file else "")


def _now() -> str:
    return datetime.now().astimezone().isoformat(timespec="milliseconds")
