"""Lists of jobs: the conditions, and the part of a record that a list shows. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from shared.core.caller import Caller
from shared.core.job import Budget, Job, JobState


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
    #: created then or later
    since: datetime | None = None
    #: the owner in the jobs' records
    owner: str = ""
    team: str = ""
    #: the caller, for only the jobs that they may see; None for all
    seen_by: Caller | None = None
    #: the id of a job sweep
    sweep: str = ""

    def fits(self, job: Job) -> bool:
        """Whether a job fulfils all conditions."""
        return (
            (not self.states or job.state in self.states)
            and self._has_name(job.name)
            and self.experiment in ("", job.experiment)
            and self.cluster in ("", job.cluster)
            and self._labelled(job)
            and (not self.doors or job.door in self.doors)
            and (self.since is None or job.created >= self.since)
            and self.owner in ("", job.source)
            and self.team in ("", job.team)
            and (self.seen_by is None or self.seen_by.sees(job))
            and self.sweep in ("", job.sweep.id if job.sweep else None)
        )

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
    """Some jobs, newest first, as lists show them, and the start of the next page.

    `cut`: the bound of one request was reached before the page was full.
    """

    jobs: tuple[Job, ...]
    next: str | None = None
    cut: bool = False


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
