"""cluster_pass: compares the jobs of one cluster with its report, commits changes, submits and cancels."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from datetime import datetime

from shared.admission.due import is_due
from shared.admission.reason import waits_anew
from shared.core.engine import Observation
from shared.core.errors import Unreadable
from shared.core.job import JobState, Stored
from shared.core.ledger.entries import Active, Change
from shared.core.pacing.wait_kinds import WaitKind
from shared.core.policy import Policy
from shared.core.ports import Ports
from shared.delivery.deliver import deliver_now
from shared.delivery.receipt_files import put_news
from shared.lifecycle.clusters.calling import ClusterKey, Observations, ask, calling, left_alone
from shared.lifecycle.dispatch import repeat, submit_again
from shared.lifecycle.observe import decide, starts_later
from shared.lifecycle.steps import for_each, step
from shared.lifecycle.transition import count

log = logging.getLogger(__name__)
#: Records that change at once: their writes share transactions, so more of them cost fewer requests.
_BULK = 256


@dataclass(frozen=True)
class ClusterPass:
    """What one pass did with the jobs of one cluster. `moved`: the jobs that may have changed by that."""

    cluster: str
    reached: bool
    moved: tuple[str, ...]
    changed: int
    repeated: int
    cancelled: int


async def make_cluster_pass(ports: Ports, key: ClusterKey, rows: list[Active]) -> ClusterPass:
    """Make a pass over the jobs of one cluster. A cluster that hangs delays no other."""
    with_engine = [row for row in rows if _with_engine(row)]
    answer = await ask(ports, key, with_engine) if with_engine else {}
    # The status call is the probe: while the cluster does not answer, no record is read.
    reachable = not left_alone(ports, *key)
    observations = answer or {}
    news = [row for row in with_engine if _news(row, observations, ports.policy, ports.clock())]
    overdue = [row for row in rows if reachable and _is_overdue(ports, row)]
    changed, repeated, cancelled = await asyncio.gather(
        step("changes", commit(ports, news, observations)),
        for_each(ports, overdue, lambda row: repeat(ports, row.job_id)),
        for_each(ports, [r for r in with_engine if r.cancel and reachable], lambda row: _cancel(ports, row)),
    )
    moved = tuple(row.job_id for row in (*news, *overdue))
    return ClusterPass(key[1], answer is not None, moved, changed, repeated, cancelled)


def _is_overdue(ports: Ports, row: Active) -> bool:
    """Whether its submission has begun, and has to be repeated by now."""
    return row.state is JobState.SUBMITTING and is_due(ports.policy, row, ports.clock())


def _with_engine(row: Active) -> bool:
    return row.state in (JobState.QUEUED, JobState.RUNNING)


def _news(row: Active, observations: Observations, policy: Policy, now: datetime) -> bool:
    """Whether the record may change, because the engine's report differs from the index row."""
    if row.job_id not in observations:
        return False
    observation = observations[row.job_id]
    if observation is None:
        # Evidence with a distance: the next miss counts only after a part of the whole period.
        return row.misses == 0 or policy.is_over(WaitKind.EVIDENCE, row.due, now)
    if observation.state is not row.state or row.misses > 0:
        return True
    return starts_later(row, observation) or waits_anew(row, observation, now)


async def commit(ports: Ports, rows: list[Active], observations: Observations) -> int:
    """Commit the changes, and report what can be reported at once."""
    applied: list[Change] = []

    async def one(row: Active) -> None:
        await _change(ports, row, observations[row.job_id], applied)

    await for_each(ports, (row for row in rows if observations[row.job_id] is not None), one, at_once=_BULK)
    await for_each(
        ports, (row for row in rows if observations[row.job_id] is None), one
    )  # each calls the engine
    for change in applied:
        count(ports, change)
        job = change.transition.after
        log.info("%s is %s", job.id, job.state.value, extra={"job": job.id, "state": job.state.value})
    news = [c.transition.after for c in applied if c.transition.after.line != c.transition.before.line]
    await for_each(ports, news, lambda job: put_news(ports, job))
    notices = [change.notice for change in applied if change.notice is not None]
    await deliver_now(ports, *notices)
    return len(applied)


async def _change(ports: Ports, row: Active, word: Observation | None, applied: list[Change]) -> None:
    """Change one record, from its row or, if that is outdated, from a read."""
    for again in (False, True):
        stored = await ports.ledger.get(row.job_id) if again else _record_of(row)
        # After a long sleep, the report may be about an earlier attempt, so it does not count for this one.
        if stored is None or stored.job.target != row.target or stored.job.state is not row.state:
            continue
        change = await decide(ports, stored, word)
        if change is None:
            return
        (result,) = await ports.ledger.commit([change])
        if result is not None:
            applied.append(change)
            if result.job.misses:
                await submit_again(ports, result.job)
            return


def _record_of(row: Active) -> Stored | None:
    """The record in an index row; None if it cannot be read, which the ledger notes at the next read."""
    try:
        return row.stored
    except Unreadable:
        return None


async def _cancel(ports: Ports, row: Active) -> None:
    target = row.fixed_target
    async with calling(ports, target.engine, target.cluster, ports.policy.dispatch_deadline) as engine:
        await engine.cancel(target)
