"""One transition of one record, committed with its event; what every use case does after it decided."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

from shared.core.cost.usage import Rate
from shared.core.engine import Observation
from shared.core.job import Job, JobState, Stored, Transition
from shared.core.ledger.entries import Change
from shared.core.notify.events import Notice, announcement_of, notice_of
from shared.core.ports import Ports
from shared.core.relations.contents import Idle
from shared.jobspec import redact


def move(ports: Ports, stored: Stored, state: JobState, **changes: Any) -> Change:
    """The change that moves a record to another state, with its outbox row if the event has a receiver."""
    transition = stored.job.move(state, now=ports.clock(), token=ports.token(), **_redacted(changes))
    return Change(stored, transition, _notice(ports, transition))


def note(ports: Ports, stored: Stored, **changes: Any) -> Change:
    """A change that leaves the state as it is."""
    return Change(stored, stored.job.note(now=ports.clock(), token=ports.token(), **_redacted(changes)))


def allotted(job: Job, observation: Observation) -> dict[str, Any]:
    """What it has of its nodes, once its scheduler reports that; before, it counts with what was requested.

    Its claim on its team's quota stays as it is until its end. A job that does not share has whole nodes,
    even if they are smaller than the largest of its partition. A part without its GPUs, as they are not
    reported, is not less than the one before.
    """
    if observation.allotted is None:
        return {}
    gpus, part = observation.allotted
    changes: dict[str, Any] = {} if gpus is None else {"gpus": gpus}
    if part is not None and gpus is None and job.gpus:
        part = max(part, job.part)
    if part is None or part == job.part or not job.shares:
        return changes
    if job.rate is not None:
        price = job.rate.per_hour / job.part * part
        changes["rate"] = Rate(per_hour=price, currency=job.rate.currency)
    return changes | {"part": part}


def warn(ports: Ports, stored: Stored, idle: Idle, text: str) -> Change:
    """A change that warns of the job's end, with the outbox row of the warning if that has a receiver."""
    return announce(ports, stored, "idle", idle=idle, message=text)


def announce(ports: Ports, stored: Stored, word: str, **changes: Any) -> Change:
    """A change that has an event of its own, with the outbox row of that if it has a receiver."""
    change = note(ports, stored, **changes)
    notice = announcement_of(
        change.transition.after,
        word,
        source=ports.policy.source,
        due=ports.clock() + timedelta(seconds=ports.policy.deliver_grace),
        pull=ports.policy.notices,
    )
    return replace(change, notice=notice)


async def apply(ports: Ports, change: Change) -> Stored | None:
    """Commit one change; None when the record moved on meanwhile (read it again)."""
    (result,) = await ports.ledger.commit([change])
    if result is not None:
        count(ports, change)
    return result


def count(ports: Ports, change: Change) -> None:
    """Tell the meter of a change that was committed: of ends, warnings, and attempts that lenders ended."""
    before, job = change.transition.before, change.transition.after
    if job.idle is not None and before.idle is None:
        ports.meter.add("slipway.jobs.warned", cause=job.idle.cause)
    is_returned = job.claim is not None and not job.claim.is_of(before.claim)
    if is_returned and before.is_recalled and job.attempt > before.attempt:
        ports.meter.add("slipway.loans.recalled", team=job.team)
    if job.state.terminal:
        reason = job.reason.value if job.reason else ""
        ports.meter.add("slipway.jobs.ended", state=job.state.value, reason=reason)


def _redacted(changes: dict[str, Any]) -> dict[str, Any]:
    """What a cluster says may quote addresses with signatures, and everyone who sees the job reads it."""
    if message := changes.get("message"):
        return {**changes, "message": redact(message)}
    return changes


def _notice(ports: Ports, transition: Transition) -> Notice | None:
    after = transition.after
    return notice_of(
        after,
        transition.before.state,
        entry=after.history[-1],
        source=ports.policy.source,
        due=ports.clock() + timedelta(seconds=ports.policy.deliver_grace),
        pull=ports.policy.notices,
        receipt=ports.policy.receipts,
    )
