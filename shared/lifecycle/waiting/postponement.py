"""postponement: a submission that failed is repeated later, or parked until its cluster can take it."""

from __future__ import annotations

import logging
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from shared.admission.reason import NO_ANSWER, NOT_NOW, PARKED, waiting
from shared.core.conceal import without_secrets
from shared.core.engine import Why
from shared.core.errors import (
    Busy,
    Misconfigured,
    Rejected,
    Saturated,
    SlipwayError,
    Transient,
)
from shared.core.job import Job, JobState
from shared.core.pacing.backoff import full_jitter
from shared.core.pacing.wait_kinds import not_ahead
from shared.core.ports import Ports
from shared.core.trouble import OPERATOR_NEEDED
from shared.jobspec import JsonObject

log = logging.getLogger(__name__)

#: Seconds between the submissions of a parked job.
_SHORTEST_PARKED, _LONGEST_PARKED = 60.0, 600.0


def shown_error(ports: Ports, job: Job, document: JsonObject | None, error: Exception) -> str:
    """What an error says. A cluster that was sent the document may quote it; else the words are our own."""
    return without_secrets(ports, job, document, str(error))


def postponed(ports: Ports, job: Job, error: SlipwayError | TimeoutError, error_text: str) -> dict[str, Any]:
    """When to try again, and the message of the job until then."""
    now = ports.clock()
    if isinstance(error, Misconfigured):
        if ports.troubles.report("job", job.id, error_text):
            log.error("parked %s: %s", job.id, error_text, extra={"job": job.id, "action": "parked"})
        word, (wait, text) = PARKED, _parked(job, error_text, now)
    elif isinstance(error, Saturated):
        log.warning(
            "%s waits for capacity: %s", job.id, error_text, extra={"job": job.id, "action": "saturated"}
        )
        word, wait, text = "Saturated", 300.0, f"waits for capacity: {error_text}"
    elif isinstance(error, Rejected):
        word, wait = "Refused", 300.0
        text = f"refused, and an earlier submission without an answer may still land: {error_text}"
    else:
        busy = isinstance(error, Busy)
        word, how = (NOT_NOW, "cannot take it now") if busy else (NO_ANSWER, "did not answer")
        submissions = sum(1 for entry in job.history if entry.state is JobState.SUBMITTING)
        wait = max(1.0, full_jitter(submissions, 2.0, 600.0, ports.jitter()))
        why = "no answer in time" if isinstance(error, TimeoutError) else error_text[:200]
        text = f"the engine {how} ({why}); the call is repeated with the same name"
        text += ", and the job is cancelled then" if job.cancel else ""
    # A clock that went back starts the time anew for which some submission may still land.
    unknown = not_ahead(job.unknown_since, now) if job.unknown_since is not None else None
    since = unknown or (now if isinstance(error, (Transient, TimeoutError)) else None)
    # A wait has its own time, a message has none.
    waits = waiting(ports, job, Why(word, f"{OPERATOR_NEEDED}: {error_text}" if word == PARKED else text))
    due = now + timedelta(seconds=wait)
    return {"due": due, "message": text, "unknown_since": since, "waiting": waits}


class _Parked(NamedTuple):
    """Seconds until the next try, and what it waits for."""

    seconds: float
    text: str


def _parked(job: Job, error_text: str, now: datetime) -> _Parked:
    """Seconds until the next try, about as many as it has waited; and what it waits for, since when."""
    before = job.waiting
    since = before.since if before is not None and before.word == PARKED else now
    wait = min(max((now - since).total_seconds(), _SHORTEST_PARKED), _LONGEST_PARKED)
    return _Parked(wait, f"{OPERATOR_NEEDED} since {since.isoformat(timespec='seconds')}: {error_text}")
