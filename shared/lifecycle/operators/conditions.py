"""conditions: what operators act on, as one pass finds it. Costs no call.

A condition begins when it has lasted for a while, and ends when its opposite is known: a cluster that is not
asked, because it does not have jobs, neither falls silent nor answers.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from shared.admission.sentences import describe_pause
from shared.core.errors import Unreadable
from shared.core.job import Job, JobState, Waiting
from shared.core.ledger.entries import Active, Pause, Silent
from shared.core.trouble import OPERATOR_NEEDED

#: How long a cluster is silent, a job waits for an operator, or jobs lack capacity before a message says so.
_SILENT, _PARKED, _SCARCE = timedelta(minutes=5), timedelta(minutes=5), timedelta(minutes=15)
#: The words of jobs for which quota or machines are lacking.
_WORDS = frozenset({"Quota", "NoCapacity", "Saturated"})
#: Sentences differ in their ends, such as a number of nodes; and the most whose records are unpacked.
_ALIKE, _MOST = 24, 100
_WITH_ENGINE = (JobState.QUEUED, JobState.RUNNING)


@dataclass(frozen=True)
class Condition:
    """One condition that holds. `title`: what begins; `over`: what its end is called."""

    key: str
    title: str
    over: str
    message: str
    since: datetime


@dataclass(frozen=True)
class Conditions:
    """The conditions that hold, and the keys of those that do not; of others a pass does not know it."""

    hold: Mapping[str, Condition]
    over: Collection[str]


def conditions_of(
    rows: Collection[Active],
    silent: Mapping[str, Silent],
    pause: Pause | None,
    clusters: Iterable[str],
    now: datetime,
) -> Conditions:
    """The conditions by key. `silent` and `clusters`: by engine/cluster."""
    every = [
        *_silent(silent, now),
        *_paused(pause),
        *_parked(rows, now),
        *(one for one in _scarce(rows) if abs(now - one.since) >= _SCARCE),
    ]
    with_jobs = {_path(row) for row in rows if row.state in _WITH_ENGINE}
    scarce = {one.key for one in _scarce(rows)}
    hold = {one.key: one for one in every}
    over = {"paused", "parked", *(f"silent|{one}" for one in with_jobs - silent.keys())}
    over |= {f"scarce|{one.partition('/')[2]}" for one in clusters} - scarce
    return Conditions(hold, over - hold.keys())


def _path(row: Active) -> str:
    return f"{row.target.engine}/{row.target.cluster}" if row.target is not None else ""


def _silent(silent: Mapping[str, Silent], now: datetime) -> Iterator[Condition]:
    for path, one in silent.items():
        if abs(now - one.since) >= _SILENT:
            name = path.partition("/")[2]
            title, over = f"The cluster {name} does not answer", f"The cluster {name} answers again"
            yield Condition(f"silent|{path}", title, over, one.why, one.since)


def _paused(pause: Pause | None) -> Iterator[Condition]:
    if pause is not None:
        yield Condition(
            "paused",
            "Submissions are paused",
            "Submissions go on",
            f"{describe_pause(pause)}; jobs are accepted, and wait",
            pause.since,
        )


def _parked(rows: Iterable[Active], now: datetime) -> Iterator[Condition]:
    parked = [row for row in rows if row.waits.startswith(OPERATOR_NEEDED)]
    since = datetime.fromisoformat(min(row.since for row in parked)) if parked else now
    if abs(now - since) >= _PARKED:
        title, over = "Jobs wait for the deployment to be mended", "The deployment is mended"
        yield Condition("parked", title, over, f"{_jobs(len(parked))}: {parked[0].waits}", since)


def _scarce(rows: Iterable[Active]) -> Iterator[Condition]:
    """Clusters for whose jobs quota or machines are lacking, by the oldest of these jobs."""
    alike: dict[tuple[str, str], list[Active]] = {}
    for row in rows:
        if row.waits and not row.waits.startswith(OPERATOR_NEEDED):
            alike.setdefault((_path(row), row.waits[:_ALIKE]), []).append(row)
    oldest: dict[str, tuple[Waiting, int]] = {}
    for group in list(alike.values())[:_MOST]:
        job = _record(min(group, key=lambda row: row.since))
        if job is None or job.waiting is None or job.waiting.word not in _WORDS:
            continue
        before, number = oldest.get(job.cluster, (job.waiting, 0))
        oldest[job.cluster] = (min(before, job.waiting, key=lambda one: one.since), number + len(group))
    for cluster, (waiting, number) in oldest.items():
        title, over = f"Jobs lack capacity on {cluster}", f"Jobs have capacity on {cluster} again"
        message = f"{_jobs(number)}: {waiting.text}"
        yield Condition(f"scarce|{cluster}", title, over, message, waiting.since)


def _record(row: Active) -> Job | None:
    """The record in a row; a damaged one is noted where it is read next."""
    try:
        return row.stored.job
    except Unreadable:
        return None


def _jobs(number: int) -> str:
    return f"{number} {'jobs' if number > 1 else 'job'}"
