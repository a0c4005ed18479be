"""The GitHub Action of `action.yml`: runs a job, and says in the summary of the workflow how it ended.

In: the inputs (INPUT_…), SLIPWAY_URL and SLIPWAY_KEY. Out: the job's output in the directory INPUT_TO, the
files GITHUB_OUTPUT and GITHUB_STEP_SUMMARY, and the job's exit code. What is ended before the job cancels it.
"""

import json
import os
import secrets
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from html import escape
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

#: The command of this installation. No module in the workflow's folder takes the place of one of its own.
_SLIPWAY = (sys.executable, "-P", "-m", "slipway.entry")
#: Characters of a text of the summary.
_LONGEST = 20_000


class Stopped(Exception):
    """The workflow is cancelled."""

    def __init__(self, by: int) -> None:
        super().__init__(by)
        self.exit_code = 128 + by


class Course:
    """What `slipway run --json` has said of the job."""

    def __init__(self) -> None:
        self.job = ""
        self.end: Mapping[str, Any] = {}
        self.error: Mapping[str, Any] = {}

    def take(self, line: str) -> str:
        """Keep what a line says; returns it as people read it, or ""."""
        try:
            one = json.loads(line)
        except ValueError:
            return line
        if not isinstance(one, dict):
            return line
        self.error = one.get("error", self.error)
        match one.get("event"):
            case "log":
                return f"{one['rank']}: {one['line']}" if "rank" in one else str(one["line"])
            case "job":
                self.job = str(one["id"])
                return f"slipway: the job is {self.job}"
            case "state":
                return f"slipway: {one['state']}"
            case "waits":
                return f"slipway:   {one.get('text', '')}"
            case "end":
                self.end = one
        return "" if "event" in one or "error" in one else line

    @property
    def state(self) -> str:
        """How the job ended; "" for what did not."""
        return str(self.end.get("state", ""))

    def exit_code(self, of_command: int) -> int:
        """That of a job which failed, if it has one; else that of the command."""
        own = self.end.get("exitCode")
        return own if of_command and isinstance(own, int) and 0 < own < 256 else of_command


def words(inputs: Mapping[str, str]) -> list[str]:
    """The words of the command: each line of an input is one, and none is read by a shell."""
    options, arguments = _lines(inputs.get("INPUT_OPTIONS", "")), _lines(inputs.get("INPUT_ARGUMENTS", ""))
    own = ["run", "--json", "--to", inputs["INPUT_TO"], *options]
    return [*own, "--", inputs["INPUT_PATH"], *arguments]


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


@contextmanager
def unread_by_the_runner() -> Iterator[None]:
    """In this block the runner takes no line for a command of its own: a job may print any text."""
    token = secrets.token_hex(16)
    _print(f"::stop-commands::{token}")
    try:
        yield
    finally:
        _print(f"::{token}::")


def follow(command: Sequence[str], course: Course) -> int:
    """Run it, and print what it says; returns its exit code. Raises Stopped, once it has ended."""
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=sys.stdout,  # in the order of the lines, and within what the runner does not read
        text=True,
        encoding="utf-8",
        errors="backslashreplace",
        start_new_session=True,  # a signal for all comes once, from here
    )
    try:
        _print_all(process, course)
    except Stopped:
        process.terminate()
        _print_all(process, course)
        raise
    return process.wait()


def _print_all(process: subprocess.Popen[str], course: Course) -> None:
    for line in process.stdout or ():
        if text := course.take(line.rstrip("\n")):
            _print(text)


def summary(course: Course, code: int) -> str:
    """How it ended, in HTML: what a job or a name says is text, also where it looks like Markdown."""
    error, end = course.error, course.end
    rows = {
        "job": course.job,
        "state": course.state,
        "exit code": str(end.get("exitCode", "")),
        "message": str(end.get("message", "") or error.get("text", "")),
        "what to do": str(error.get("remedy", "")),
        "files": str(end.get("download", {}).get("saved", "")),
    }
    table = "".join(
        f"<tr><td>{name}</td><td><code>{_plain(text)}</code></td></tr>" for name, text in rows.items() if text
    )
    title = f"Slipway: {course.state or ('ended with ' + str(code) if code else 'done')}"
    lines = "\n".join(str(one) for one in end.get("errors", ()))
    details = f"<pre>{_plain(lines)}</pre>\n" if lines else ""
    return f"<h3>{escape(title)}</h3>\n<table>{table}</table>\n{details}"


def _plain(text: str) -> str:
    """Text within HTML; an empty line would end the HTML of Markdown."""
    return escape("\n".join(line for line in text[:_LONGEST].splitlines() if line.strip()))


def outputs(course: Course, to: str) -> str:
    """What later steps of the workflow read, a line each."""
    members = {
        "job": course.job,
        "state": course.state,
        "exit-code": str(course.end.get("exitCode", "")),
        "directory": to,
    }
    return "".join(f"{name}={' '.join(value.splitlines())}\n" for name, value in members.items())


def cancel(job: str) -> str:
    """Cancel the job of a workflow that is cancelled; returns what became of it, in words."""
    if not job:
        return "the workflow was cancelled before its job had an id"
    command = [*_SLIPWAY, "cancel", job]
    done = subprocess.run(command, stdout=sys.stdout, stderr=sys.stdout, check=False)
    if done.returncode:
        return f"the workflow was cancelled, and its job may go on: slipway cancel {job}"
    return "the workflow was cancelled, and its job with it"


def main(environment: Mapping[str, str] = os.environ) -> int:
    """The exit code."""
    sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    course = Course()
    _hear(_stop)
    with unread_by_the_runner():
        try:
            code = course.exit_code(follow([*_SLIPWAY, *words(environment)], course))
        except Stopped as stopped:
            course.error = {"text": cancel(course.job)}
            code = stopped.exit_code
    _hear(signal.SIG_IGN)
    _append(environment.get("GITHUB_STEP_SUMMARY", ""), summary(course, code))
    _append(environment.get("GITHUB_OUTPUT", ""), outputs(course, environment["INPUT_TO"]))
    return code


def _hear(handler: Callable[[int, FrameType | None], NoReturn] | signal.Handlers) -> None:
    for one in (signal.SIGINT, signal.SIGTERM):
        signal.signal(one, handler)


def _stop(number: int, _frame: FrameType | None) -> NoReturn:
    _hear(signal.SIG_IGN)  # the runner sends both; the first is enough
    raise Stopped(number)


def _append(file: str, text: str) -> None:
    if file:
        with Path(file).open("a", encoding="utf-8", errors="backslashreplace") as out:
            out.write(text)


def _print(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
