"""Failures of jobs: the error that people read of one, and what equal errors have in common. Pure."""

from __future__ import annotations

import re

from shared.core.job import Job
from shared.core.states import JobState

#: The states of jobs that people look for when something went wrong.
FAILURES = frozenset({JobState.FAILED, JobState.LOST, JobState.REJECTED})
#: Characters of a signature: the rest of a long error differs by chance.
_LONGEST = 160
#: What differs from job to job in errors with one cause: ids, addresses in memory, digests, numbers.
_VARIES = re.compile(
    r"\b[js]_[a-z2-7]{24}\b"
    r"|\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"
    r"|\b0x[0-9a-f]+\b"
    r"|\b(?=[a-f]{0,63}[0-9])[0-9a-f]{6,64}\b"
    r"|[0-9]+(?:[.,:][0-9]+)*",
    re.ASCII | re.IGNORECASE,
)


#: The first problem of a rejected document: its place, the rule, and the member.
_BROKEN_RULE = re.compile(
    r"(?:[^\n]{0,200}?:[0-9]+(?::[0-9]+)?: )?(SW[0-9]{3} [^\s:]{1,100})(?::|$)", re.ASCII
)


def error_of(job: Job) -> str:
    """Why a job failed, was lost or was rejected, in the best words that its record has; "" for others."""
    return (job.last_error or job.message) if job.state in FAILURES else ""


def signature(error: str) -> str:
    """An error with `#` for what varies, so that errors with one cause are equal.

    Of a rejected document it is the rule and the member that breaks it: its values differ.
    """
    if broken := _BROKEN_RULE.match(error):
        return broken[1]
    return _VARIES.sub("#", error)[:_LONGEST].rstrip()
