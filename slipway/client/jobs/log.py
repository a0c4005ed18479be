"""Reads a job's logs for a printer, with messages about them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any

from slipway.client.calls.patience import patiently, pause
from slipway.client.calls.refusal import Absent, Unanswered
from slipway.client.jobs.lines import Printer
from slipway.client.jobs.processes import (
    ProcessLog,
    are_several,
    logs_of,
    start_of_found,
    start_of_tail,
)
from slipway.client.jobs.remarks import remark, why_again
from slipway.client.jobs.selection import Selection
from slipway.client.jobs.words import ENDED, rejection
from slipway.client.service import Service
from slipway.failure import USAGE, Failure, Verdict
from slipway.terminal.characters import printable
from slipway.terminal.screen import say

_LOOK_EVERY = 1.0
#: States in which a job waits for its (next) run.
_WAITS = frozenset({"accepted", "submitting", "queued"})


def clock_for(*, timestamps: bool, follow: bool) -> Callable[[], str] | None:
    """Formats the time before each line; None without timestamps. Raises Failure."""
    if timestamps and not follow:
        raise Failure("timestamps need --follow: only lines that arrive now get a time", USAGE)
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
    selection.check_follow(follow=follow)
    reading = _Reading(api, selection, out)
    began = None
    while True:
        job = await patiently(lambda: api.job(job_id))
        state = job["state"]
        if state == "rejected":
            raise Verdict(rejection(job))
        selection.check(job)
        if began is not None and run_of(job) != began:
            await reading.go_on(api, job, began[0])
        began = run_of(job)
        # The next attempt may begin at any moment: what is read is of the one that was seen.
        reading.api = api.at_attempt(selection.attempt or began[0] * follow)
        is_over = bool(state in ENDED or selection.attempt)
        if state == "running" or is_over or (state == "queued" and not follow):
            # Where it is followed, the exit code is the job's.
            await reading.print_new(job, is_over=is_over, judged=follow and is_over)
        if is_over or not follow:
            out.finish()
            if remarks and (text := remark(job, selection, list(reading.offsets), written=reading.has_any)):
                say(text)
            return int(state != "succeeded" if follow else bool(reading.unread))
        await pause(every)


@dataclass
class _Reading:
    """How far the files of a run were read."""

    api: Service
    selection: Selection
    out: Printer
    offsets: dict[str, int] = field(default_factory=dict)
    unread: set[str] = field(default_factory=set)

    @property
    def has_any(self) -> bool:
        """Whether anything was written to them."""
        return any(self.offsets.values())

    async def go_on(self, api: Service, job: Mapping[str, Any], before: int) -> None:
        """Begin with the files of the next run, after the rest of what the attempts before it wrote."""
        for attempt in range(before, job.get("attempt", 1)):
            self.api = api.at_attempt(attempt)
            try:
                await self.print_new(job, is_over=True, judged=True)
            except Unanswered:
                raise
            except Failure as error:  # such as a file that this attempt did not write
                say(f"attempt {attempt}: {error}")
            self._begin_again()
            say(why_again(job, attempt))
        if self.has_any:
            self._begin_again()
            again = f"{job['id']} starts again ({job['state']})"
            say(f"{again}: what follows is its log, from the beginning")

    def _begin_again(self) -> None:
        self.out.finish()
        self.offsets, self.unread = {}, set()

    async def print_new(self, job: Mapping[str, Any], *, is_over: bool, judged: bool) -> None:
        """Print everything that the processes wrote since their offsets; report each unreadable file once.

        Raises Failure if no file can be read, unless the exit code is the job's, and Absent for a file by
        name.
        """
        selection, out, offsets = self.selection, self.out, self.offsets
        logs = await logs_of(self.api, job, selection.file, selection.rank, selection.stream)
        if selection.file and not logs and is_over:
            remedy = f"list the files: slipway files {job['id']}"
            raise Absent(f"there is no {printable(selection.file)}; {remedy}")
        several, failures = are_several(logs), list[Failure]()
        # What was written last comes last, except in what is read for the first time.
        for log in sorted(logs, key=lambda log: log.modified if log.name in offsets else ""):
            if log.name in self.unread:
                continue
            try:
                if log.name not in offsets and selection.tail is not None:
                    offsets[log.name] = await _start(self.api, job["id"], log, selection.tail, out)
                is_error = log.stream == "stderr" and not selection.stream
                write = partial(out.write, log.name, log.rank * several, is_error=is_error)
                await self._print_one(job["id"], log, write, is_over=is_over)
            except Unanswered:
                raise
            except Failure as error:
                failures.append(error)
                if len(failures) == len(logs) and not several and (selection.file or not judged):
                    raise
                self.unread.add(log.name)
                say(f"{printable(log.name)}: {error}")
            if is_over:
                out.end(log.name)
        out.flush()

    async def _print_one(
        self, job_id: str, log: ProcessLog, write: Callable[[bytes], None], *, is_over: bool
    ) -> None:
        offset = self.offsets.setdefault(log.name, 0)
        # A cluster's report of sizes may be late; the end of the job is the end of its files.
        while offset < log.size or is_over:
            try:
                chunk = await patiently(partial(self.api.log, job_id, offset, log.name))
            except Absent:
                return  # the run was preempted meanwhile: the next look sees that
            if not chunk.data:
                return
            write(chunk.data)
            offset = self.offsets[log.name] = chunk.next


async def _start(api: Service, job_id: str, log: ProcessLog, tail: int, out: Printer) -> int:
    """The offset of the last lines, counting only printed ones."""
    if out.grep is None:
        return await start_of_tail(api, job_id, log, tail)
    return await start_of_found(api, job_id, log, tail, out.takes)


def run_of(job: Mapping[str, Any]) -> tuple[int, int]:
    """Identifies a run of a job: the attempt, and the time when it was last queued."""
    waits = [entry["sequence"] for entry in job.get("history", ()) if entry["state"] in _WAITS]
    return job.get("attempt", 1), max(waits, default=0)


def _now() -> str:
    return datetime.now().astimezone().isoformat(timespec="milliseconds")
