"""The program of `action.yml`: `python -m slipway.github_action`."""

import os
import secrets
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import NoReturn

from slipway.github_action.cancel import cancel, doubt
from slipway.github_action.course import Course
from slipway.github_action.page import Page, outputs, summary
from slipway.github_action.words import SLIPWAY, words


class Stopped(Exception):
    """The workflow is cancelled."""

    def __init__(self, by: int) -> None:
        super().__init__(by)
        self.exit_code = 128 + by


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


def main(environment: Mapping[str, str] = os.environ) -> int:
    """The exit code."""
    sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    course, page = Course(), Page(environment.get("GITHUB_STEP_SUMMARY", ""))
    _hear(_stop)
    with unread_by_the_runner():
        try:
            code = course.exit_code(follow([*SLIPWAY, *words(environment)], course))
        except Stopped as stopped:
            code = stopped.exit_code
            course.error = doubt(course)
            page.write(summary(course, code))  # the runner ends this process some seconds after the signal
            course.error = cancel(course, environment)
    _hear(signal.SIG_IGN)
    page.write(summary(course, code))
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
