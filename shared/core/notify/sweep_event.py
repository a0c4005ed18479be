"""The one event of a job sweep: all its jobs have ended. Pure."""

from __future__ import annotations

from datetime import datetime
from functools import partial

from shared.core.job_sweeps.record import JobSweep
from shared.core.job_sweeps.view import line, summary
from shared.core.notify.cloudevents import cloud_event, event_id
from shared.core.notify.events import NOTICES, Delivery, Notice

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
