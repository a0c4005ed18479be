"""The observation of an attempt from the rows of lists, as long as nothing has changed. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shared.core.engine import Observation
from shared.core.job import JobState
from shared.engines.kubernetes.translation.wait_reasons import (
    CONTAINERS,
    begun_word,
    events_wait,
    queue_waits,
    word_waits,
)

#: Words of a Job, and of a pod, that mean no change.
_JOB_GOES_ON, _JOB_WAITS, POD_RUNS = "Running", "Suspended", "Running"
#: Words of pods that have not started.
_NOT_BEGUN = frozenset({"Pending", "SchedulingGated", *CONTAINERS})
#: How a table shows an empty cell.
_NONE = ("", "<none>")

Words = Mapping[str, str]


def steady(
    job: Words, pod: Words | None, failures: list[Mapping[str, Any]], workload: Mapping[str, Any] | None
) -> Observation | None:
    """The observation from the row of its Job, the row of its first pod, events and Workload.

    None if its objects have to be read: it started again, is ending, has ended, or was cancelled.
    """
    word, has_words = job.get("Status", ""), "Status" in job
    if (
        word == _JOB_WAITS
        and workload is not None
        and (workload.get("spec") or {}).get("active") is not False
    ):
        return Observation(JobState.QUEUED, why=queue_waits(workload, is_old=True))
    if has_words and word != _JOB_GOES_ON:
        return None
    if pod is not None:
        return _of_pod(pod)
    why = events_wait(failures) if has_words else None
    return Observation(JobState.QUEUED, why=why) if why is not None else None


def is_partly_there(job: Words, running: int) -> bool:
    """Whether some pods of a Job that goes on run, and others do not."""
    if job.get("Status", _JOB_GOES_ON) != _JOB_GOES_ON:
        return False
    ranks = job.get("Completions", "").rpartition("/")[2]
    return ranks.isdecimal() and 0 < running < int(ranks)


def _of_pod(pod: Words) -> Observation | None:
    word = pod.get("Status", "")
    if word == POD_RUNS:
        return Observation(JobState.RUNNING)
    if begun_word(word) in _NOT_BEGUN:
        node = pod.get("Node", "")
        return Observation(JobState.QUEUED, why=word_waits(word, "" if node in _NONE else node))
    return None
