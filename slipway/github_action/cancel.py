"""Cancels the job of a workflow that is cancelled, also one whose id is not known yet."""

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress

from slipway.github_action.course import Course
from slipway.github_action.words import SLIPWAY, words


def doubt(course: Course) -> Mapping[str, str]:
    """What is true of a cancelled workflow as long as nothing says that its job is cancelled, too."""
    if end := _end(course):
        text = "the workflow was cancelled, and its job may go on"
        return {"text": text, "remedy": f"end it: slipway {' '.join(end)}"}
    if course.interrupted is not None and not course.key:
        return {"text": "the workflow was cancelled before its job was submitted"}
    remedy = "look for it with slipway jobs --source http --limit 5, and end it with slipway cancel JOB"
    return {"text": "the workflow was cancelled before its job had an id; the job may run", "remedy": remedy}


def cancel(course: Course, inputs: Mapping[str, str]) -> Mapping[str, str]:
    """Cancel the job of a workflow that is cancelled; returns what became of it.

    A job whose id is not known is found by its key: the same, sent again, joins it.
    """
    if course.key and not course.job:
        _join(course, words(inputs, "--detach", f"--idempotency-key={course.key}"))
    if end := _end(course):
        done = subprocess.run([*SLIPWAY, *end], stdout=sys.stdout, stderr=sys.stdout, check=False)
        if not done.returncode:
            return {"text": "the workflow was cancelled, and its job with it"}
    return doubt(course)


def _end(course: Course) -> list[str]:
    """The command that ends the job, or the jobs of the sweep; none without an id."""
    if course.sweep:
        return ["sweep", "cancel", course.sweep]
    return ["cancel", course.job] if course.job else []


def _join(course: Course, command: Sequence[str]) -> None:
    """Send the same again, whose answer has the id."""
    done = subprocess.run(
        [*SLIPWAY, *command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=sys.stdout,
        encoding="utf-8",
        errors="backslashreplace",
        check=False,
    )
    with suppress(ValueError):
        answer = json.loads(done.stdout)
        course.take(json.dumps(answer))
        course.sweep = str(answer.get("sweepId", "")) if isinstance(answer, dict) else ""
