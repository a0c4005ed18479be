"""`slipway metrics`: the numbers that a job and its nodes report."""

import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from typing import Any, Protocol, TextIO

from slipway.client.calls.patience import patiently, pause
from slipway.client.jobs.curves import Curve, Curves, answers, curves_as_json
from slipway.client.jobs.drawing import HEAD, picture, points
from slipway.client.jobs.words import ENDED, rejection
from slipway.client.service import Service
from slipway.commands.asking import asking_about
from slipway.failure import USAGE, Failure, Verdict, finding_out
from slipway.terminal.characters import printable
from slipway.terminal.screen import json_text, say

_LOOK_EVERY = 2.0
_HOW = 'a job prints them as {"slipway": {"epoch": 3, "loss": 0.1}}: docs/how-to/plot-metrics.md'
#: How many series are named if none matches.
_NAMED = 10


class Shown(Protocol):
    """A way to show numbers as they come."""

    def news(self, curves: Curves, new: Sequence[Curve]) -> None:
        """Called with the new points."""

    def end(self, curves: Curves) -> None:
        """Called when nothing more is to come."""


class Picture:
    """Curves drawn on a terminal, each time over the last picture."""

    def __init__(self, stream: TextIO, *, follow: bool) -> None:
        self._stream, self._follow = stream, follow
        self._drawn = 0

    def news(self, curves: Curves, new: Sequence[Curve]) -> None:
        """Draw it, if the command follows the job."""
        if self._follow and new:
            self._draw(curves)

    def end(self, curves: Curves) -> None:
        """Draw it for the last time."""
        self._draw(curves)

    def _draw(self, curves: Curves) -> None:
        columns, rows = shutil.get_terminal_size()
        lines = picture(curves.all(), columns - 1)
        if self._follow and len(lines) >= rows:
            lines = [*lines[: rows - 2], f"and {len(lines) - rows + 2} lines more: slipway metrics JOB NAME"]
        if self._follow:  # a line that is broken in two could not be drawn over
            lines = [line[: columns - 1] for line in lines]
        back = f"\x1b[{self._drawn}F\x1b[J" if self._drawn else ""
        self._stream.write(back + "".join(f"{line}\n" for line in lines))
        self._stream.flush()
        self._drawn = len(lines)


class Table:
    """A line for each point, written when it comes."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._begun = False

    def news(self, curves: Curves, new: Sequence[Curve]) -> None:
        """Write the points that came since the last call."""
        if new and not self._begun:
            self._stream.write("\t".join(HEAD) + "\n")
            self._begun = True
        self._stream.writelines(f"{line}\n" for line in points(new))
        self._stream.flush()

    def end(self, curves: Curves) -> None:
        """Nothing is left to be written."""


class Document:
    """One JSON document of all curves or, when following, a line for each change."""

    def __init__(self, stream: TextIO, *, follow: bool) -> None:
        self._stream, self._follow = stream, follow

    def news(self, curves: Curves, new: Sequence[Curve]) -> None:
        """Write a line with them."""
        if self._follow and new:
            self._stream.write(json_text({"series": curves_as_json(new)}, indent=None) + "\n")
            self._stream.flush()

    def end(self, curves: Curves) -> None:
        """Write all curves as one JSON document."""
        if not self._follow:
            whole = {"series": curves_as_json(curves.all())} | ({"note": curves.note} if curves.note else {})
            self._stream.write(json_text(whole) + "\n")


def run(
    job: str, names: Sequence[str], url: str, key: str, *, follow: bool, as_json: bool, attempt: int = 0
) -> int:
    """Show a job's numbers; with `follow`, until its end: then 1 if it did not succeed. Raises Failure.

    `attempt` is an earlier one, 0 the current one.
    """
    if follow and attempt:
        raise Failure("one attempt is shown as it is: leave --follow or --attempt out", USAGE)
    stream = sys.stdout
    drawn = stream.isatty() and os.environ.get("TERM") != "dumb"
    shown: Shown = Table(stream)
    if as_json or drawn:
        shown = Document(stream, follow=follow) if as_json else Picture(stream, follow=follow)

    async def ask(api: Service, job_id: str) -> int:
        return await read(api, job_id, Curves(names), shown, follow=follow)

    with finding_out() if follow else nullcontext():
        return asking_about(job, ask, url, key, attempt)


async def read(
    api: Service, job_id: str, curves: Curves, shown: Shown, *, follow: bool, every: float = _LOOK_EVERY
) -> int:
    """The exit code. Messages beside the numbers go to standard error. Raises Failure."""
    after = ""
    while True:
        job = await patiently(lambda: api.job(job_id))
        state = job["state"]
        if state == "rejected":
            raise Verdict(rejection(job))
        if state in ENDED or state == "running" or not follow:
            async for answer in answers(api, job_id, after):
                if answer["restarted"]:
                    say(f"{job_id} starts again: what follows is its next run")
                shown.news(curves, curves.add(answer))
                after = answer["next"]
        if state in ENDED or not follow:
            break
        await pause(every)
    shown.end(curves)
    for text in filter(None, (curves.note, "" if curves.all() or curves.others else _none(job))):
        say(text)
    if curves.others and not curves.all():
        names = ", ".join(map(printable, sorted(curves.others)[:_NAMED]))
        raise Verdict(f"no series of {job_id} has such a name{_proviso(job)}; it has reported {names}")
    return int(follow and state != "succeeded")


def _proviso(job: Mapping[str, Any]) -> str:
    return "" if job["state"] in ENDED else f" yet: the job is {job['state']}"


def _none(job: Mapping[str, Any]) -> str:
    return f"no numbers{_proviso(job)}; {_HOW}"
