"""What people read of a job, or of a sweep: its state, and why."""

import re
from collections.abc import Mapping
from typing import Any

from slipway.terminal.times import moment

ENDED = frozenset({"succeeded", "failed", "cancelled", "lost", "rejected"})


def standing(job: Mapping[str, Any]) -> str:
    """A job and its state, in a line."""
    return f"{job['id']}  {job['name']}: {job['state']}"


def rejection(job: Mapping[str, Any]) -> str:
    """The message about a job that never ran because its document was rejected."""
    first = f": {job['lastError']}" if job.get("lastError") else ""
    return f"{job['id']} was rejected, so it never ran{first}; what is wrong: slipway show {job['id']}"


def why(job: Mapping[str, Any], *, utc: bool = False) -> str:
    """The reason for its wait and since when; otherwise why it failed, or its message, with its exit code."""
    if waiting := job.get("waiting"):
        return f"{waiting['text']} ({waiting['word']}, since {moment(waiting['since'], utc=utc)})"
    if job.get("lastError"):
        return str(job["lastError"])
    message, code = str(job.get("message", "")), job.get("exitCode")
    if job["state"] != "failed" or code is None or re.search(rf"\b{code}\b", message):
        return message
    return f"{message}, exit code {code}".removeprefix(", ")


def ended_as(job: Mapping[str, Any]) -> str:
    """A job and its state, in a line, with the reason unless it succeeded."""
    return standing(job) + (f": {why(job)}" if job["state"] != "succeeded" and why(job) else "")


def sweep_lines(sweep: Mapping[str, Any]) -> list[str]:
    """A sweep in lines: its name and state, and how many of its jobs wait, work and have ended."""
    ending = ", and asked to end" if sweep.get("cancelRequested") and sweep["state"] != "ended" else ""
    ended = ", ".join(f"{number} {state}" for state, number in sweep["counts"].items())
    return [
        f"{sweep['sweepId']}  {sweep['name']}: {sweep['state']}{ending}",
        f"  {sweep['total']} jobs, at most {sweep['parallel']} at once",
        f"  {sweep['waiting']} waiting, {sweep['atWork']} at work",
        *([f"  {ended}"] if ended else []),
    ]


def amount(value: float) -> str:
    """Hours or money with two decimals; what is too little for those says so, since it is not nothing."""
    return "less than 0.01" if 0 < value < 0.01 else f"{value:,.2f}"
