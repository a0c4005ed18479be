"""The receipt: the answer left for a drop, a projection of its record. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from shared.job import Job
from shared.spec import redact


def receipt(job: Job, document: Mapping[str, Any] | None) -> bytes:
    """`receipt.json`: what was accepted, what became of it, and the way there. Holds no secret."""
    body: dict[str, Any] = {
        "job": job.id,
        "name": job.name,
        "experiment": job.experiment,
        "cluster": job.cluster or None,
        "door": job.door,
        "state": job.state.value,
        "reason": job.reason.value if job.reason else None,
        "message": job.message or None,
        "exitCode": job.exit_code,
        "attempts": job.attempt,
        "generation": job.generation,
        "labels": dict(job.labels) or None,
        "engine": job.target.model_dump(exclude={"token"}) if job.target else None,
        "drop": job.drop.model_dump() if job.drop else None,
        "createdAt": job.created.isoformat(),
        "startedAt": job.started.isoformat() if job.started else None,
        "endedAt": job.ended.isoformat() if job.ended else None,
        "history": [
            {"state": e.state.value, "at": e.at.isoformat(), "attempt": e.attempt}
            for before, e in zip((None, *job.history), job.history, strict=False)
            if before is None or before.state is not e.state
        ],
        "problems": list(job.problems) or None,
        "accepted": redact(dict(document)) if document else None,
    }
    shown = {name: value for name, value in body.items() if value is not None}
    return json.dumps(shown, indent=2, ensure_ascii=False).encode() + b"\n"


def diagnostics(job: Job) -> bytes:
    """`diagnostics.txt`: every problem with its place and its remedy, for people."""
    lines = [f"{job.message}.", ""]
    for problem in job.problems:
        where = problem["pointer"] or "the document"
        lines += [f"{problem['severity']} {problem['code']} {where}: {problem['message']}"]
        if problem.get("remedy"):
            lines += [f"    {problem['remedy']}"]
    return ("\n".join(lines) + "\n").encode()
