"""A job in Python, asynchronous."""

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol, cast

from pydantic import ValidationError

from shared.answers.job import JobDetail
from slipway.client.caller import warn_caller
from slipway.client.calls.keys import new_key
from slipway.client.calls.patience import patiently, pause, time_limit
from slipway.client.files.download import among_others, find_and_save, folder_of, no_file
from slipway.client.files.remote import Remote
from slipway.client.files.room import Room
from slipway.client.files.saving import reasons
from slipway.client.files.walk import walk
from slipway.client.jobs.curves import Curves, answers
from slipway.client.jobs.lines import Printer, compiled
from slipway.client.jobs.log import clock_for, read
from slipway.client.jobs.selection import Selection
from slipway.client.jobs.tail import last_errors
from slipway.client.jobs.words import ENDED
from slipway.client.mirror.mirror import Chosen, Mirror
from slipway.client.service import Service, service
from slipway.failure import Failure
from slipway.library.metrics import Metrics, Points

if TYPE_CHECKING:
    from slipway.client import shapes

#: Seconds between two looks at a job.
_EVERY = 1.0


class JobFailed(Failure):
    """A job that did not succeed. The text ends with what was wrong; `job` is its record."""

    def __init__(self, job: JobDetail, lines: Sequence[str]) -> None:
        reason = job.message or "no reason is known"
        if job.last_error and not lines:
            lines = [job.last_error]
        remedy = [job.remedy] if job.remedy else []
        super().__init__("\n".join([f"{job.id} {job.state}: {reason}", *lines, *remedy]))
        self.job = job


class TextStream(Protocol):
    """What a log is written to, such as `sys.stdout`."""

    def write(self, text: str, /) -> Any:
        """Take a piece of text."""


class AsyncJob:
    """A job at a deployment."""

    def __init__(self, id: str, url: str, key: str) -> None:  # noqa: A002 - as the API names it
        self.id = id
        self._url, self._key = url, key
        self._latest: JobDetail | None = None

    def __repr__(self) -> str:
        """With its name and state as they were when it was asked last, if it was."""
        latest = self._latest
        words = f", name={latest.name!r}, state={latest.state!r}" if latest else ""
        return f"{type(self).__name__}({self.id!r}{words})"

    async def details(self) -> JobDetail:
        """The job as it is now: its state, its history, its problems."""
        async with service(self._url, self._key) as api:
            return self._as_answered(await api.job(self.id))

    async def wait(self, timeout: float | None = None) -> JobDetail:  # noqa: ASYNC109 - as without await
        """Wait for the end, however the job ends; the record then.

        Raises TimeoutError after so many seconds.
        """
        async with service(self._url, self._key) as api:
            return self._as_answered(await self._end(api, timeout))

    async def result(self, timeout: float | None = None) -> JobDetail:  # noqa: ASYNC109 - as without await
        """Wait for the end; raises JobFailed, with the last lines, unless the job succeeded.

        Raises TimeoutError after so many seconds.
        """
        async with service(self._url, self._key) as api:
            record = await self._end(api, timeout)
            job = self._as_answered(record)
            if job.state != "succeeded":
                raise JobFailed(job, await last_errors(api, record))
            return job

    async def log(
        self,
        file: str = "",
        *,
        rank: int | str = "",
        stream: str = "",
        attempt: int = 0,
        tail: int | None = None,
        grep: str = "",
        timestamps: bool = False,
        follow: bool = False,
        to: TextStream | None = None,
    ) -> None:
        """Write the log to `to`, by default to standard output and error; with `follow` until the job ends.

        `file` is one of `stdouterr`, such as execution.log; without it, both streams of every process, or of
        the one with the rank; `stream` is stdout or stderr for one of them. `attempt` is an earlier one.
        `tail` begins with that many last lines of each file, `grep` leaves lines that the expression matches,
        `timestamps` puts the time of arrival in front of those that are followed.
        """
        selection = Selection(file, str(rank), stream, attempt, tail)
        clock, pattern = clock_for(timestamps=timestamps, follow=follow), compiled(grep)
        errors = None if to else Printer(cast(BinaryIO, _Text(sys.stderr)), grep=pattern, clock=clock)
        out = cast(BinaryIO, _Text(to or sys.stdout))
        printer = Printer(out, grep=pattern, clock=clock, errors=errors)
        async with service(self._url, self._key) as api:
            await read(api, self.id, selection, printer, follow=follow)

    async def metrics(self, *names: str, attempt: int = 0) -> Points:
        """The numbers that the job and its nodes have reported so far; by default all of them.

        A data frame of pandas where that is installed, else a list of rows, with the same columns. A name may
        have `*` and `?`. A curve of more than a few thousand points is thinned out. `attempt` is an earlier
        one.
        """
        return (await self.curves(*names, attempt=attempt)).points()

    async def curves(self, *names: str, attempt: int = 0) -> Metrics:
        """The same numbers as a list of curves, which `print` draws."""
        curves = Curves(names)
        async with service(self._url, self._key) as api:
            async for answer in answers(api.at_attempt(attempt), self.id):
                curves.add(answer)
        return Metrics(curves.all(), curves.note)

    async def files(self, *patterns: str, attempt: int = 0) -> tuple[Remote, ...]:
        """The files that the job wrote and that fit one of the patterns; without patterns all of them.

        Those of the current attempt, or of an earlier one.
        """
        async with service(self._url, self._key) as whole:
            api = whole.at_attempt(attempt)
            return (await walk(api, self.id, await api.outputs(self.id), patterns)).files

    async def download(self, *patterns: str, to: str | os.PathLike[str] = "", attempt: int = 0) -> Path:
        """Save these files below a directory, by default one named after the job; the directory.

        What is there already is left alone, as by `slipway download`. Warns of links and other things that
        are not files, and of files of another job in the directory. Raises Failure where no file fits, and,
        once the others are there, where one of them could not be saved, or the disk lacks room for them.
        """
        folder = Path(to or folder_of(self.id, attempt))
        async with service(self._url, self._key) as whole:
            api = whole.at_attempt(attempt)
            directories = await api.outputs(self.id)
            finding, outcome = await find_and_save(
                api,
                self.id,
                directories,
                patterns,
                lambda tree: bool(tree.files),
                folder,
                room=Room(folder, bound=None),
            )
        tree = finding.what
        if patterns and not tree.files:
            raise Failure("; ".join([no_file(patterns, finding.proviso, self.id), *reasons(tree.unread)]))
        if outcome.other:
            warn_caller(among_others(folder, outcome.other))
        if tree.skipped:
            warn_caller("; ".join(reasons(tree.skipped)))
        if lost := [*tree.unread, *outcome.failed]:
            raise Failure("; ".join(reasons(lost)))
        return folder

    async def event_files(self, to: str | os.PathLike[str]) -> Path:
        """Append to copies below a directory what the job has added to its event files; the directory.

        For TensorBoard, also one that shows the directory meanwhile, as in a notebook: call again for more.
        """
        async with service(self._url, self._key) as api:
            await Mirror(api, Chosen([self.id], []), Path(to), warn_caller).catch_up()
        return Path(to)

    async def cancel(self) -> JobDetail:
        """Ask for the end of the job."""
        async with service(self._url, self._key) as api:
            return self._as_answered(await api.cancel(self.id))

    async def release(self) -> JobDetail:
        """Give back the nodes that the job keeps after its failure."""
        async with service(self._url, self._key) as api:
            return self._as_answered(await api.release(self.id))

    async def rerun(self, *, resume: bool = False, idempotency_key: str = "") -> "AsyncJob":
        """Run it again, exactly as it ran, with the code that it ran; the new job, or the one of this key.

        With `resume` from what it saved, else from the beginning.
        """
        async with service(self._url, self._key) as api:
            job = await api.rerun(self.id, b"", idempotency_key or new_key(), resumes=resume)
            for note in job.get("notes", ()):
                if note.startswith("warning: "):
                    warn_caller(note)
            return AsyncJob(str(job["id"]), self._url, self._key)

    def _as_answered(self, record: Mapping[str, Any]) -> JobDetail:
        """The answer of the service of the job, which it shows from now on. Raises Failure."""
        try:
            self._latest = JobDetail.model_validate(record)
        except ValidationError:
            raise Failure("the service's answer is not a job; is it of another version?") from None
        return self._latest

    async def _end(self, api: Service, seconds: float | None) -> "shapes.JobDetail":
        async with time_limit(seconds, self.id):
            record = await api.job(self.id)
            while record["state"] not in ENDED:
                await pause(_EVERY)
                record = await patiently(lambda: api.job(self.id))
            return record


class _Text:
    """A binary stream over one of texts: the bytes of a job need not be text."""

    def __init__(self, stream: TextStream) -> None:
        import codecs

        self._stream = stream
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode

    def write(self, data: bytes) -> None:
        self._stream.write(self._decode(data))

    def flush(self) -> None:
        """Each piece is written at once."""
