"""A job as people see it: in the API, in events and in receipts, with the same names everywhere. Pure.

Nothing here is secret: no token, no key, no sealed value, and no value of a setting.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from shared.core.caller import owner_of
from shared.core.code.record import Code
from shared.core.job import Dependency, Entry, Job
from shared.core.relations.hold import held_end
from shared.jobspec import iso_duration, redact

#: The words of Python for an import that failed.
_NO_MODULE = re.compile(r"ModuleNotFoundError: No module named '([\w.]{1,80})'", re.ASCII)
#: Other errors with one usual cause, and what helps.
_REMEDIES = (
    (
        r"CUDA out of memory|OutOfMemoryError",
        "the memory of the GPU is full: use a smaller batch, or accumulate gradients, or run on nodes whose "
        "GPUs have more; slipway metrics shows how it grew",
    ),
    (
        r"No space left on device",
        "a disk is full: write to an output directory instead of the node's own disk, keep fewer "
        "checkpoints, and set shmSize in containerSettings if it is /dev/shm",
    ),
    (
        r"(?i:NCCL|ProcessGroup|Watchdog).{0,200}(?i:timeout|timed out)",
        "a process waited for another one that had stopped: look for the first error in the logs of all "
        "ranks; NCCL_DEBUG=INFO in environmentVariables names the node",
    ),
    (
        r"FileNotFoundError: .{0,200}: '/(?!tmp/)",
        "it may be a path of another machine: a job sees its own folder and what it mounts; give it its "
        "data by a mount, and the path in a variable",
    ),
)
#: The members that identify an attempt on a cluster, without its token.
_SHOWN = {"engine", "cluster", "experiment", "name"}


def summary(job: Job) -> dict[str, Any]:
    """The summary of a job, with its state."""
    return _without_nothing(
        {
            "name": job.name,
            "experiment": job.experiment,
            "cluster": job.cluster,
            "door": job.door,
            "state": job.state.value,
            "reason": job.reason.value if job.reason else None,
            "message": job.message,
            "lastError": job.last_error,
            "waiting": _waiting(job),
            "idle": _idle(job),
            "hold": iso_duration(job.hold.length) if job.hold else None,
            "held": _held(job),
            "exitCode": job.exit_code,
            "attempt": job.attempt,
            "cancelRequested": job.cancel or None,
            "labels": dict(job.labels),
            "resources": redact(dict(job.resources)),
            "createdAt": _time(job.created),
            "startedAt": _time(job.started),
            "endedAt": _time(job.ended),
            "receipt": f"runs/{job.receipt}/receipt.json",
        }
    )


def line(job: Job) -> dict[str, Any]:
    """A job in a list."""
    more = {"generation": job.generation, "rerunOf": job.rerun_of, "resumes": job.resumes}
    more["engine"] = _engine(job)
    more |= {"owner": owner_of(job), "team": job.team, "nodes": job.nodes or None, "priority": job.priority}
    more |= {"usage": _usage(job), "packagesSeconds": job.packages or None, "entered": list(job.entered)}
    # Who releases a job from its hold ends nothing of it: it has failed by itself.
    more["cancelledBy"] = "" if held_end(job.hold) else job.cancelled_by
    return {"id": job.id, **summary(job), **_without_nothing({**more, "sweep": _sweep(job)})}


def whole(job: Job) -> dict[str, Any]:
    """A job with its history, its problems and its receivers."""
    return {
        **line(job),
        **_without_nothing(
            {
                "remedy": remedy_of(job.last_error),
                **others(job.dependencies),
                "drop": _drop(job),
                "code": shown_code(job.code),
                "notify": [{"url": s.url, "secret": s.secret, "events": list(s.events)} for s in job.notify],
                "problems": list(job.problems),
                "received": job.received,
                "history": [_entry(entry) for entry in job.history],
            }
        ),
    }


def remedy_of(last_error: str) -> str:
    """What helps against an error of a job with one usual cause; "" for others."""
    if not (match := _NO_MODULE.search(last_error)):
        return next((remedy for cause, remedy in _REMEDIES if re.search(cause, last_error)), "")
    module = match[1].partition(".")[0]
    return (
        f"{module} is not where the job runs: list its package in requirements.txt of the folder that you "
        "run, or choose an image that has it (--image); a file of yours has to be in that folder"
    )


def _engine(job: Job) -> dict[str, Any] | None:
    """The names of the attempt: ours, and the cluster's."""
    if job.target is None:
        return None
    return job.target.model_dump(include=_SHOWN) | ({"id": job.handle} if job.handle else {})


def _usage(job: Job) -> dict[str, Any] | None:
    """Its usage, if it ran and has ended, and the cost, if the price is known."""
    used = job.usage
    if not job.state.terminal or not used.node_hours:
        return None
    hours = {"nodeHours": round(used.node_hours, 4), "gpuHours": round(used.gpu_hours, 4)}
    return hours | ({"cost": round(used.cost, 6), "currency": job.rate.currency} if job.rate else {})


def _sweep(job: Job) -> dict[str, Any] | None:
    """The job sweep that it belongs to, and its values there."""
    if job.sweep is None:
        return None
    return {"id": job.sweep.id, "index": job.sweep.index, "values": dict(job.sweep.values)}


def _waiting(job: Job) -> dict[str, Any] | None:
    if job.waiting is None or job.state.terminal:
        return None
    word, text, since = job.waiting.word, job.waiting.text, _time(job.waiting.since)
    place = {"position": job.waiting.position} if job.waiting.position else {}
    return {
        "word": word,
        "text": text,
        "since": since,
        **place,
        **({"never": True} if job.waiting.never else {}),
    }


def _idle(job: Job) -> dict[str, Any] | None:
    """The warning that it is idle: since when, and when its end is requested."""
    if job.idle is None or job.state.terminal:
        return None
    return {"cause": job.idle.cause, "since": _time(job.idle.since), "endsAfter": _time(job.idle.ends)}


def _held(job: Job) -> dict[str, Any] | None:
    """How a job failed whose node is kept, and until when."""
    held = held_end(job.hold)
    if held is None or job.state.terminal:
        return None
    code = {} if held.exit_code is None else {"exitCode": held.exit_code}
    return {**code, "message": held.message, "until": _time(held.until)}


def others(dependencies: Sequence[Dependency]) -> dict[str, Any]:
    """The other jobs that have to succeed before a job, and those that have to end otherwise."""
    members: dict[str, list[dict[str, Any]]] = {}
    for one in dependencies:
        shown = {"job": one.job, "name": one.name, "met": one.met}
        members.setdefault("after" if one.success else "afterFailure", []).append(shown)
    return members


def _drop(job: Job) -> dict[str, Any] | None:
    if job.drop is None:
        return None
    files = [
        {"name": name, "sha256": digest, "etag": job.drop.etags.get(name)}
        for name, digest in sorted(job.drop.files.items())
    ]
    late = {"late": job.drop.late} if job.drop.late else {}
    return {"container": job.drop.container, "folder": job.drop.folder, "files": files, **late}


def shown_code(code: Code | None) -> dict[str, Any] | None:
    """The code of a job or a job sweep, without the folder of its archive, which opens it."""
    shown = {"sha256", "bytes", "files", "at", "origin"}
    return None if code is None else code.model_dump(include=shown, exclude_none=True)


def _entry(entry: Entry) -> dict[str, Any]:
    return _without_nothing(
        {
            "sequence": entry.sequence,
            "state": entry.state.value,
            "at": _time(entry.at),
            "attempt": entry.attempt,
            "reason": entry.reason.value if entry.reason else None,
            "note": entry.note or entry.waits,
            "by": entry.by,
        }
    )


def _time(moment: datetime | None) -> str | None:
    return moment.isoformat().replace("+00:00", "Z") if moment else None


def _without_nothing(members: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in members.items() if value not in (None, "", {}, [])}
