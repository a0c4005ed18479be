"""Lists of jobs: the conditions, and the part of a record that a list shows. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from shared.core.caller import Caller
from shared.core.job import Budget, Job, JobState
from shared.core.ledger.failures import error_of, signature


class Label(NamedTuple):
    """A label that jobs have, and its value; None for any."""

    name: str
    value: str | None


@dataclass(frozen=True)
class Query:
    """Conditions that all have to hold; an empty one always does."""

    states: frozenset[JobState] = frozenset()
    #: the whole name, or its beginning followed by *
    name: str = ""
    experiment: str = ""
    cluster: str = ""
    label: Label | None = None
    doors: frozenset[str] = frozenset()
    #: words, all of which are in its name, its id or its error
    contains: str = ""
    #: a part of its error, or of the signature of that
    error: str = ""
    #: created then or later, and before then; by their ends where `by_end`
    since: datetime | None = None
    until: datetime | None = None
    #: only jobs that have ended, the last end first
    by_end: bool = False
    #: the owner in the jobs' records
    owner: str = ""
    team: str = ""
    #: the caller, for only the jobs that they may see; None for all
    seen_by: Caller | None = None
    #: the id of a job sweep
    sweep: str = ""
    #: the code of a request that asked for the ends of many jobs
    cancel_request: str = ""

    def fits(self, job: Job) -> bool:
        """Whether a job fulfils all conditions."""
        return (
            (not self.states or job.state in self.states)
            and self._has_name(job.name)
            and self.experiment in ("", job.experiment)
            and self.cluster in ("", job.cluster)
            and self._labelled(job)
            and (not self.doors or job.door in self.doors)
            and self._in_time(job)
            and self.owner in ("", job.source)
            and self.team in ("", job.team)
            and (self.seen_by is None or self.seen_by.sees(job))
            and self.sweep in ("", job.sweep.id if job.sweep else None)
            and self.cancel_request in ("", job.cancel_request)
            and self._has_words(job)
        )

    def _in_time(self, job: Job) -> bool:
        if self.by_end and not job.state.terminal:
            return False
        # By our clock: a cluster's may be wrong.
        moment = job.stage.at if self.by_end else job.created
        return (self.since is None or moment >= self.since) and (self.until is None or moment < self.until)

    def _has_words(self, job: Job) -> bool:
        """Whether it has the texts that are looked for, in any case of their letters."""
        if not self.contains and not self.error:
            return True
        error = error_of(job)
        if self.error and self.error.casefold() not in f"{error}\n{signature(error)}".casefold():
            return False
        text = f"{job.name}\n{job.id}\n{error}".casefold()
        return all(word in text for word in self.contains.casefold().split())

    def _has_name(self, name: str) -> bool:
        if self.name.endswith("*"):
            return name.startswith(self.name[:-1])
        return self.name in ("", name)

    def _labelled(self, job: Job) -> bool:
        if self.label is None:
            return True
        name, value = self.label
        return name in job.labels and value in (None, job.labels[name])


@dataclass(frozen=True)
class Page:
    """Some jobs in the order of the list, as lists show them, and the start of the next page.

    `searched_to`: the bound of one request was reached there, before the page was full.
    """

    jobs: tuple[Job, ...]
    next: str | None = None
    searched_to: datetime | None = None

    @property
    def cut(self) -> bool:
        """Whether the page has less than the list has for it."""
        return self.searched_to is not None


#: The fields that no list shows, without what they hold.
_NOT_SHOWN = {
    "key": "",
    "payload": "",
    "notify": (),
    "dependencies": (),
    "drop": None,
    "retry": Budget(),
    "spent": Budget(),
    "problems": (),
    "error_lines": None,
    "received": "",
    "misses": 0,
    "missed_at": None,
    "unknown_since": None,
    "slot": None,
}


def brief(job: Job) -> Job:
    """The part of a record that a list shows: the same until that changes, and bounded in size.

    Of the history it has the entry that set the current state.
    """
    stage = job.stage.model_copy(update={"token": "", "note": ""})
    target = job.target.model_copy(update={"token": ""}) if job.target else None
    shown = {"target": target, "history": (stage,), "sequence": stage.sequence, "due": job.created}
    return job.model_copy(update=_NOT_SHOWN | shown)
