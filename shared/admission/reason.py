"""reason: why a job waits, as its record has it; written only when the reason changes."""

from __future__ import annotations

import logging
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from shared.core.engine import NEVER, Observation, Why
from shared.core.errors import EngineError
from shared.core.job import Job, JobState, Waiting, plain
from shared.core.ledger.entries import Active
from shared.core.ports import Ports
from shared.core.relations.claim import WAITS_FOR_QUOTA
from shared.core.relations.hold import held_end
from shared.jobspec import redact

log = logging.getLogger(__name__)

#: Words for jobs whose submission was tried: the deployment has to be mended, or the engine did not answer.
PARKED, NO_ANSWER, NOT_NOW = "Parked", "NoAnswer", "NotNow"
_CANCELLING, _SAVING = "Cancelling", "Saving"
_ENDS = Why(_CANCELLING, "it was cancelled, and its cluster has to end it")
_ENDS_SOON = Why(
    _CANCELLING, "it was cancelled, which takes effect when the outcome of its submission is known"
)
#: Of a job whose claim went back to a lender, before it gets another one.
RECALLED = Why(WAITS_FOR_QUOTA, "waits for its turn: another team needs the quota that it had lent")
#: Characters of a word and of a sentence.
_WORD, _TEXT = 60, 240
#: For how long a job waits in its queue until it is recorded that others are before it.
_PASSING = timedelta(seconds=60)


def waiting(ports: Ports, job: Job, why: Why | None) -> Waiting | None:
    """As the record has it from now on; `since` stays as long as the word does."""
    if why is None:
        return None
    word, before = plain(why.word, _WORD), job.waiting
    is_same = before is not None and before.word == word
    since = before.since if before is not None and is_same else ports.clock()
    if why.lacks_capacity and not is_same:
        # An alert looks for this line (infra/alerts.bicep).
        log.warning(
            "%s waits for capacity: %s", job.id, sentence(why), extra={"job": job.id, "action": "saturated"}
        )
    return Waiting(word=word, text=sentence(why), since=since, never=why.never)


def never_starts(waits: Waiting) -> bool:
    """Whether it can never start until the job or the cluster changes."""
    # In the records of an older version only the sentence says so.
    return waits.never or waits.text.startswith(NEVER)


def sentence(why: Why | None) -> str:
    """The sentence as records have it; a cluster may quote addresses with signatures in its own words."""
    return _sentence(why.text) if why else ""


@lru_cache(1024)  # a pass looks at each job that waits, and most wait for the same
def _sentence(text: str) -> str:
    return plain(str(redact(text)), _TEXT)


def cancelling(ports: Ports, job: Job) -> Waiting | None:
    """What a job waits for whose end was asked for just now; one that runs may save until then."""
    if job.state is JobState.RUNNING:
        return waiting(ports, job, _saving(ports, job))
    return waiting(ports, job, _ENDS if job.state is JobState.QUEUED else _ENDS_SOON)


def _saving(ports: Ports, job: Job) -> Why:
    """Why a job runs whose end was asked for just now, and until when."""
    target, text = job.target, "it was asked to end, and may save"
    if held_end(job.hold):
        text = "its hold is over, and its node may be in use"
    with suppress(EngineError):  # its cluster may have left the settings
        if target is not None:
            until = ports.clock() + timedelta(seconds=ports.engines.get(target.engine).ending(target.cluster))
            text = f"{text} until {until:%H:%M:%S} UTC"
    return Why(_SAVING, text)


def why_queued(observation: Observation, *, cancel: bool) -> Why | None:
    """Why an attempt waits in its cluster's queue, or does nothing although it has begun."""
    return _ENDS if cancel and observation.state is JobState.QUEUED else observation.why


def at_first(observation: Observation, *, cancel: bool) -> Why | None:
    """The same when it comes into its queue: a passing reason may be over before a person reads it."""
    why = why_queued(observation, cancel=cancel)
    return None if why is not None and why.passes else why


def waits_anew(row: Active, observation: Observation, now: datetime) -> bool:
    """Whether it waits for something other than recorded; a passing reason must last to be worth a write."""
    if (row.cancel or row.hold == "held") and observation.state is JobState.RUNNING:
        return False  # it was recorded with the request, or with the hold
    why = why_queued(observation, cancel=row.cancel)
    if sentence(why) == row.waits or (why is not None and why.is_brief and row.waits):
        return False
    if why is None or not why.passes or row.waits:
        return True
    # As text, as the column is: what a damaged one holds stops no pass.
    return row.since <= (now - _PASSING).astimezone(UTC).isoformat(timespec="milliseconds")
