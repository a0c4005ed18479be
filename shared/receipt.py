"""The receipt: the answer left for a drop, a projection of its record. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from shared.job import Job
from shared.spec import redact
from shared.view import whole


def receipt(job: Job, document: Mapping[str, Any] | None) -> bytes:
    """`receipt.json`: what was accepted, what became of it, and the way there. Holds no secret."""
    body = whole(job)
    if document:
        body["accepted"] = redact(dict(document))
    return json.dumps(body, indent=2, ensure_ascii=False).encode() + b"\n"


def diagnostics(job: Job) -> bytes:
    """`diagnostics.txt`: every problem with its place and its remedy, for people."""
    lines = [f"{job.message}.", ""]
    for problem in job.problems:
        where = problem["pointer"] or "the document"
        lines += [f"{problem['severity']} {problem['code']} {where}: {problem['message']}"]
        if problem.get("remedy"):
            lines += [f"    {problem['remedy']}"]
    return ("\n".join(lines) + "\n").encode()
