"""`slipway show` and `slipway receipt`: all that is known of a job."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import typer

from slipway.client.jobs.words import amount, why
from slipway.commands.asking import asking_about, show
from slipway.commands.options import LOCAL, JobId, Json, Key, Url, Utc
from slipway.failure import Failure
from slipway.terminal.screen import put, put_json, table
from slipway.terminal.times import moment

if TYPE_CHECKING:
    from slipway.client.service import Service

app = typer.Typer()

_MEMBERS = (
    *("cluster", "experiment", "owner", "team", "door", "priority", "attempt"),
    *("createdAt", "startedAt", "endedAt", "rerunOf", "resumes", "cancelledBy", "receipt"),
)


@app.command("show", short_help="Show one job: its problems, history and receipt.")
def show_job(job: JobId, utc: Utc = False, as_json: Json = False, url: Url = LOCAL, key: Key = "") -> None:
    """Show one job: its state, its problems with their places, its history, its receipt."""

    async def ask(api: Service, job_id: str) -> int:
        from slipway.client.jobs.tail import last_errors

        record = await api.job(job_id)
        show(record, partial(lines, utc=utc), as_json=as_json)
        if not as_json:
            put(*await last_errors(api, record))
        return 0

    raise typer.Exit(asking_about(job, ask, url, key))


@app.command()
def receipt(job: JobId, as_json: Json = False, url: Url = LOCAL, key: Key = "") -> None:
    """Print the receipt of a job, for `rerun` and for the record."""

    async def ask(api: Service, job_id: str) -> int:
        stored = await api.receipt(job_id)
        if as_json or sys.stdout.isatty():
            put_json(_read(stored))
        else:  # unchanged to a file or a pipe
            sys.stdout.buffer.write(stored)
        return 0

    raise typer.Exit(asking_about(job, ask, url, key))


def _read(receipt: bytes) -> Any:
    try:
        return json.loads(receipt)
    except (ValueError, RecursionError):
        raise Failure("the service's answer is not a receipt; does --url name it?") from None


def lines(job: Mapping[str, Any], *, utc: bool = False) -> list[str]:
    """The record for people: its state, its problems with their places, and its history."""
    result = [f"{job['id']}  {job['name']}: {_state(job)}"]
    reason = why({**job, "exitCode": None}, utc=utc)
    result += [f"  {reason}"] if reason else []
    result += [f"  {job['message']}"] if "lastError" in job and "message" in job else []
    result += [f"  {job['remedy']}"] if "remedy" in job else []
    rows = [
        (name, moment(job[name], utc=utc) if name.endswith("At") else str(job[name]))
        for name in _MEMBERS
        if name in job
    ]
    if handle := job.get("engine", {}).get("id"):
        rows += [(f"id on {job['engine']['engine']}", handle)]
    rows += [("place in line", str(place))] if (place := (job.get("waiting") or {}).get("position")) else []
    rows += [("used", used)] if (used := _used(job)) else []
    rows += [("packages", f"installed in {seconds} s")] if (seconds := job.get("packagesSeconds")) else []
    rows += [(f"label {name}", value) for name, value in job.get("labels", {}).items()]
    result += ["", *table(rows)] if rows else []
    if problems := job.get("problems"):
        from shared.jobspec import report  # imports the whole reader of jobs, which few records need

        result += ["", *report.text(problems).splitlines()]
    if history := job.get("history"):
        result += [
            "",
            *table([("at", "attempt", "state", "why"), *(_entry(entry, utc=utc) for entry in history)]),
        ]
    return [*result, *_next(job)]


def _used(job: Mapping[str, Any]) -> str:
    """Its usage and cost, once it has ended."""
    if not (usage := job.get("usage")):
        return ""
    gpus = f", {amount(usage['gpuHours'])} GPU-hours" if usage["gpuHours"] else ""
    cost = f", {amount(usage['cost'])} {usage['currency']}" if "cost" in usage else ""
    return f"{amount(usage['nodeHours'])} node-hours{gpus}{cost}"


def _state(job: Mapping[str, Any]) -> str:
    reason = f" ({job['reason']})" if "reason" in job else ""
    return f"{job['state']}{reason}" + (f", exit code {job['exitCode']}" if "exitCode" in job else "")


def _entry(entry: Mapping[str, Any], *, utc: bool) -> tuple[str, ...]:
    why = ": ".join(entry[name] for name in ("reason", "note") if name in entry)
    if by := entry.get("by"):
        why = f"{why} (asked for by {by})".lstrip()
    return moment(entry["at"], utc=utc), str(entry.get("attempt", 1)), entry["state"], why


def _next(job: Mapping[str, Any]) -> Iterator[str]:
    """The commands that show more."""
    yield ""
    if "engine" in job:
        yield f"slipway log {job['id']}"
        if job.get("attempt", 1) > 1:
            yield f"slipway log {job['id']} --attempt {job['attempt'] - 1}"
        yield f"slipway files {job['id']}"
        yield f"slipway download {job['id']}"
    yield f"slipway events list {job['id']}"
