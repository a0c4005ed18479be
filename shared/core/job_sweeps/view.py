"""A job sweep as people see it: in the API and in the one event of its end. Pure. Nothing here is secret."""

from __future__ import annotations

from datetime import datetime
from functools import partial
from typing import Any

from shared.core.job_sweeps.record import JobSweep
from shared.core.notify.cloudevents import cloud_event, event_id
from shared.core.notify.events import NOTICES, Delivery, Notice
from shared.core.view import shown_code


def line(sweep: JobSweep) -> dict[str, Any]:
    """What a job sweep is, and how far it is."""
    counts = {state.value: number for state, number in sweep.counts.items()}
    ended = sum(counts.values())
    members = {
        "sweepId": sweep.id,
        "name": sweep.name,
        "experiment": sweep.experiment,
        "cluster": sweep.cluster or None,
        "state": "ended" if sweep.ended else "active",
        "total": sweep.total,
        "parallel": sweep.parallel,
        "atWork": len(sweep.seats),
        "waiting": sweep.total - ended - len(sweep.seats),
        "counts": counts,
        "cancelRequested": sweep.cancel or None,
        "labels": dict(sweep.labels) or None,
        "createdAt": _time(sweep.created),
        "endedAt": _time(sweep.ended),
    }
    return {name: value for name, value in members.items() if value is not None}


def summary(sweep: JobSweep) -> dict[str, Any]:
    """The same with the parameters as they were written, and the code that each of its jobs runs."""
    code = {"code": shown_code(sweep.code)} if sweep.code is not None else {}
    return {**line(sweep), **code, "parameters": dict(sweep.parameters)}


def _time(moment: datetime | None) -> str | None:
    return moment.isoformat().replace("+00:00", "Z") if moment else None


ENDED = "io.slipway.sweep.ended.v1"


def notice_of_end(sweep: JobSweep, *, at: datetime, source: str, due: datetime, pull: bool) -> Notice | None:
    """The outbox row of the end, for every receiver of the sweep's jobs; None if there is no receiver."""
    deliveries = [
        Delivery(url=one.url, secret=one.secret, sealed=one.sealed, context=one.context, due=due)
        for one in sweep.notify
    ]
    deliveries += [Delivery(url=NOTICES, due=due)] if pull else []
    if not deliveries:
        return None
    identity = event_id(sweep.id, 1, ENDED)
    event = partial(
        cloud_event, id=identity, source=source, type=ENDED, subject=f"sweeps/{sweep.id}", time=at
    )
    try:
        body = event(data=summary(sweep))
    except ValueError:  # too large: drop the parameters, keep the counts
        body = event(data=line(sweep))
    return Notice(
        job_id=sweep.id,
        sequence=1,
        event_id=identity,
        type=ENDED,
        body=body.decode(),
        deliveries=tuple(deliveries),
        due=due,
        since=at,
    )
