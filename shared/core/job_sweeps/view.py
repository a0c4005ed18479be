"""A job sweep as people see it: in the API and in its event. Pure. Nothing here is secret."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from shared.core.job_sweeps.record import JobSweep


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
    """The same with the parameters as they were written."""
    return {**line(sweep), "parameters": dict(sweep.parameters)}


def _time(moment: datetime | None) -> str | None:
    return moment.isoformat().replace("+00:00", "Z") if moment else None
