"""detail: all that is known of one job, with its attempts, and when it is expected to start. Read-only."""

from __future__ import annotations

from typing import Any

from shared.core.caller import Caller
from shared.core.job import Job, JobState
from shared.core.ports import Ports
from shared.core.view import whole
from shared.delivery.receipt import attempts
from shared.lifecycle import lookup
from shared.operate.common_waits import as_it_stands
from shared.operate.overview.expectation import expectation


async def detail(ports: Ports, job_id: str, who: Caller) -> dict[str, Any]:
    """A job as the API shows it alone. Raises Misuse: 404, also if the caller may not see it; 410."""
    stored = await lookup.job(ports, job_id, who)
    job = await as_it_stands(ports, stored.job)
    members = {**whole(job), **_error_lines(job)}
    if job.state is not JobState.REJECTED:
        members["attempts"] = attempts(job)
    if (expected := await expectation(ports, job)) is not None:
        members["expectedStart"] = expected.as_json()
        if "waiting" in members and expected.position:
            members["waiting"] = {"position": expected.position, **members["waiting"]}
    return members


def _error_lines(job: Job) -> dict[str, Any]:
    last = job.error_lines
    if last is None:
        return {}
    return {"errorLines": {"file": last.file, "offset": last.offset, "lines": list(last.lines)}}
