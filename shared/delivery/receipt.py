"""The receipt of a job, derived from its record. Pure; contains no secret."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from shared import __version__
from shared.core.identity import engine_name
from shared.core.job import Entry, Job, JobState
from shared.core.messages import MESSAGE, digest
from shared.core.view import whole
from shared.jobspec import mounts_scripts, redact, report

#: The format of job.json, and of the accepted document in a receipt.
FORMAT = "2018-05-01"
_LINE = 300
#: In place of its code, for a job that mounts the container of drops, or something at scripts or below.
LIVE = "live"


@dataclass(frozen=True)
class LastLines:
    """The last lines of a file that a failed job wrote, without its secrets."""

    file: str
    lines: tuple[str, ...]
    #: the byte of the file at which they begin, or one a little before
    offset: int = 0


def receipt(
    job: Job,
    document: Mapping[str, Any] | None,
    *,
    engine: str = "",
    last: LastLines | None = None,
    drops: str = "",
) -> bytes:
    """`receipt.json`: what was accepted, how it ended, and its history.

    `engine`: the version of its API; `drops`: the container of drops.
    """
    body = whole(job)
    body["versions"] = {"slipway": __version__, "format": FORMAT} | ({"engine": engine} if engine else {})
    if job.state is not JobState.REJECTED:
        body["attempts"] = attempts(job)
    body |= _seconds(job)
    if last is not None:
        body["lastLines"] = {"file": last.file, "lines": list(last.lines)}
    if document:
        accepted = redact(dict(document))
        body |= _counts(job, accepted)
        if job.target is not None:
            body["outputs"] = outputs(job, accepted)
        body["spec"] = {"sha256": digest(accepted)}
        if job.code is None and drops and _mounts(accepted, drops):
            body["code"] = LIVE  # what lies there when an attempt runs
        body["accepted"] = accepted
    return json.dumps(body, indent=2, ensure_ascii=False).encode() + b"\n"


def _mounts(document: Mapping[str, Any], container: str) -> bool:
    """Whether a job mounts this container of blobs, or anything at `scripts` or below."""
    mounts = (document.get("properties") or {}).get("mountVolumes") or {}
    blobs = mounts.get("azureBlobFileSystems") or ()
    return any(one.get("containerName") == container for one in blobs) or mounts_scripts({**document})


def diagnostics(job: Job) -> bytes:
    """`diagnostics.txt`: every problem with its place and its remedy, for people."""
    file = job.drop.job_file if job.drop else MESSAGE
    return f"{job.message}.\n\n{report.text(job.problems, file)}".encode()


def diagnostics_json(job: Job) -> bytes:
    """`diagnostics.json`: the same problems, in the form of `POST /api/validate`."""
    body = {"valid": False, "job": job.id, "problems": list(job.problems), "notes": []}
    return json.dumps(body, indent=2, ensure_ascii=False).encode() + b"\n"


def status(job: Job) -> bytes:
    """The line of STATUS: state, time and job; how an ended job ended, or what an active one waits for.

    And which files of its folder it does not have.
    """
    if not job.state.terminal:
        waits = job.waiting.text if job.waiting else ""
        return status_line(job.id, job.state, job.stage.at, waits, job.absent_files)
    parts = [f"exit code {job.exit_code}"] if job.exit_code is not None else []
    parts += [job.reason.value] if job.reason else []
    parts += [str(redact(job.message))] if job.message else []
    return status_line(job.id, job.state, job.ended or job.stage.at, "; ".join(parts), job.absent_files)


def status_line(job_id: str, state: JobState, since: datetime, how: str = "", absent: str = "") -> bytes:
    """One line in UTF-8. People see `submitting` as `accepted`: no node has the job yet."""
    word = "accepted" if state is JobState.SUBMITTING else state.value
    text = f"{word} {since.isoformat(timespec='seconds').replace('+00:00', 'Z')} {job_id}"
    text += f": {how}" if how else ""
    plain = "".join(letter if letter.isprintable() else " " for letter in text)[:_LINE].rstrip()
    # Not cut off by a long reason: it is short, and its names are printable.
    plain += f"{'; ' if how else ': '}{absent}" if absent else ""
    return plain.encode() + b"\n"


def attempts(job: Job) -> list[dict[str, Any]]:
    """What happened to each attempt: its name on the cluster, when it was queued and so on, why it ended."""
    by_number: dict[int, dict[str, Any]] = {}

    def attempt(number: int) -> dict[str, Any]:
        return by_number.setdefault(number, {"attempt": number, "name": engine_name(job, number)})

    for entry in job.history:
        if entry.state is JobState.ACCEPTED and entry.attempt in by_number:
            continue  # a reason to wait
        if entry.state is JobState.ACCEPTED and (last := by_number.get(entry.attempt - 1)):
            # This entry is the end of the previous attempt.
            last |= {"state": "failed", "endedAt": _time(entry.at)} | _why(entry)
            attempt(entry.attempt)["state"] = entry.state.value
            continue
        one = attempt(entry.attempt)
        one["state"] = entry.state.value
        name = "endedAt" if entry.state.terminal else f"{entry.state.value}At"
        one.setdefault(name, _time(entry.at))
        if entry.state.terminal:
            one |= _why(entry)
    if last := by_number.get(job.attempt):  # the engine's times; the history has when they were seen
        last |= {"runningAt": _time(job.started)} if job.started else {}
        last |= {"endedAt": _time(job.ended)} if job.ended else {}
    return [one for _, one in sorted(by_number.items())]


def _why(end: Entry) -> dict[str, str]:
    why = {"reason": end.reason.value if end.reason else "", "message": end.note}
    return {name: text for name, text in why.items() if text}


def outputs(job: Job, document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Each output directory: its id, its path on the nodes, its address in the API; no signed address.

    Until the cluster reports the folders in between, the path is the prefix from the job file.
    """
    properties = document.get("properties") or {}
    path = _path(job, properties.get("stdOutErrPathPrefix"), "stdouterr")
    directories = [{"id": "stdouterr", "path": path, "log": f"/api/jobs/{job.id}/log"}]
    for directory in properties.get("outputDirectories") or ():
        path = _path(job, directory.get("pathPrefix"), "outputs", directory.get("pathSuffix"))
        directories.append({"id": directory["id"], "path": path})
    return [one | {"files": address(job, one["id"])} for one in directories]


def address(job: Job, directory: str) -> str:
    """The address of the list of a directory's files."""
    return f"/api/jobs/{job.id}/files?directory={directory}"


def _path(job: Job, prefix: str | None, *below: str | None) -> str:
    parts = (prefix, job.segment, *below) if job.segment else (prefix,)
    return "/".join(part.rstrip("/") for part in parts if part)


def _time(moment: datetime) -> str:
    return moment.isoformat().replace("+00:00", "Z")


def _seconds(job: Job) -> dict[str, float]:
    seconds = {}
    if job.started:
        seconds["waitedSeconds"] = round(max(0.0, (job.started - job.created).total_seconds()), 1)
        if job.ended:
            seconds["ranSeconds"] = round(max(0.0, (job.ended - job.started).total_seconds()), 1)
    return seconds


def _counts(job: Job, document: Mapping[str, Any]) -> dict[str, Any]:
    nodes = (document.get("properties") or {}).get("nodeCount")
    if not isinstance(nodes, int) or job.state is JobState.REJECTED:
        return {}
    if job.started is None or job.ended is None:
        return {"nodes": nodes}
    hours = max(0.0, (job.ended - job.started).total_seconds()) / 3600
    return {"nodes": nodes, "nodeHours": round(nodes * job.part * hours, 4)}
