"""The rows from which lists of jobs are read, as pure translations.

`l|<reverse time>|<id>` every job, newest first · `g|<group>|<reverse time>|<id>` jobs that have ended, by
state, experiment, cluster and sweep; in the group `d` by the time of their end, for the archiver as well, in
the others by that of their creation · `t|<reverse time>|<id>` the slot of a job, if it had to wait for one.
`Shown` has all that a list shows of a job: each transition writes it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, NamedTuple

from shared.adapters.storage.rows import LISTED_UNTIL, Entity, listed, listing_key, row_of
from shared.adapters.storage.table import joined, split
from shared.core.cost.usage import seconds_between
from shared.core.job import Job
from shared.core.ledger.failures import error_of
from shared.core.ledger.listing import brief

#: The columns of a job's usage, and the characters of its error that are kept beside what a list shows.
NUMBERS, _ERROR = ("NodeHours", "GpuHours", "Cost"), 300
#: The part of a list row's key after the kind and the group.
LISTING_KEY = re.compile(r"\d{15}\|j_[a-z0-9]{1,40}", re.ASCII)
#: How many characters of a covered key are the job's own, eight of its id among them; and its length.
_OWN, _LONGEST = 15 + len("|j_") + 8, 15 + len("|j_") + 40
#: The key prefixes of the rows of all jobs, and of those that have ended, the last end first.
EVERY, BY_END = "l|", "g|d|"


def listed_rows(job: Job, shards: int) -> list[Entity]:
    """Every row of the job in the lists, and the row of its slot if it has to wait for one."""
    entities = shown_rows(job, shards)
    if job.slot is not None:
        key = f"t|{listed(job.slot)}|{job.id}"
        entities.append({**row_of(job.id, key, shards), "Source": job.source})
    return entities


def shown_rows(job: Job, shards: int) -> list[Entity]:
    """The rows that show a job: among all jobs and, once it has ended, in its groups."""
    groups = [EVERY, *(_groups(job) if job.state.terminal else ())]
    text = brief(job).model_dump_json(exclude_defaults=True)
    shown = {"Source": job.source, **split("Shown", text)}
    entities = [{**row_of(job.id, f"{group}{listing_key(job)}", shards), **shown} for group in groups]
    if job.state.terminal:
        key = f"{BY_END}{listed(job.stage.at)}|{job.id}"
        entities.append({**row_of(job.id, key, shards), **shown, **_ended_columns(job)})
    return entities


def leads_to_archive(row: Entity) -> bool:
    """Whether the archiver finds the job of a row by it."""
    return str(row["RowKey"]).startswith(BY_END)


def _ended_columns(job: Job) -> Entity:
    """What overviews read of a job that has ended, beside its source."""
    _, *numbers = job.usage
    texts = {"State": job.state.value, "Team": job.team, "Experiment": job.experiment, "Name": job.name}
    ran = job.ran_before + seconds_between(job.started, job.ended)
    return {**texts, "Error": error_of(job)[:_ERROR], "Ran": ran, **dict(zip(NUMBERS, numbers, strict=True))}


def _groups(job: Job) -> Iterator[str]:
    """The key prefixes of the groups of a job."""
    yield by_state(job.state.value)
    if job.experiment:
        yield by_experiment(job.experiment)
    if job.cluster:
        yield by_cluster(job.cluster)
    if job.sweep:
        yield by_sweep(job.sweep.id)


def by_state(state: str) -> str:
    """The key prefix of a state's rows."""
    return f"g|s|{state}|"


def by_experiment(name: str) -> str:
    """The key prefix of an experiment's rows: a digest has no character that a key may not have."""
    return f"g|e|{_digest(name)}|"


def by_cluster(name: str) -> str:
    """The key prefix of a cluster's rows."""
    return f"g|c|{_digest(name)}|"


def by_sweep(sweep_id: str) -> str:
    """The key prefix of the rows of a job sweep."""
    return f"g|w|{sweep_id}|"


def shown_of(entity: Mapping[str, Any]) -> Job:
    """The job as the row shows it."""
    return Job.model_validate_json(joined("Shown", entity))


def listed_key(entity: Mapping[str, Any]) -> str:
    """The sort key of a list row or a slot. Raises ValueError for any other row."""
    key = "|".join(str(entity["RowKey"]).rsplit("|", 2)[-2:])
    if not LISTING_KEY.fullmatch(key):
        raise ValueError("no key of a list")
    return key


def covered(key: str) -> str:
    """A place right behind that of a job in a list, which does not reveal the job's id."""
    return key[:_OWN].ljust(_LONGEST, "z")


def moment_of(key: str) -> datetime:
    """The moment of a sort key of a list: all of later moments come before it."""
    return datetime.fromtimestamp((LISTED_UNTIL - int(key[:15])) / 1000, UTC)


class ListEntry(NamedTuple):
    """A row of the list of all jobs, or of a slot."""

    source: str
    job_id: str
    at: datetime


def turn_of(entity: Mapping[str, Any]) -> ListEntry:
    """Source, job and moment of a row of the list of all jobs, or of a slot."""
    key = listed_key(entity)
    return ListEntry(entity["Source"], key[16:], moment_of(key))


@lru_cache(maxsize=1024)
def _digest(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()[:16]
