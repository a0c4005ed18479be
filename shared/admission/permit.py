"""permit: leave to submit one attempt of one job. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from shared.admission.gates import Pass, Wait, World, judge
from shared.core.job import JobState, Stored


@dataclass(frozen=True)
class Permit:
    """Leave to submit a job on the record that was judged, at its version; only `permitted` makes one.

    A write to the record meanwhile, as when its claim goes back to a lender, makes the permit void: the
    submission begins by a write on this version.
    """

    stored: Stored


def permitted(stored: Stored, world: World) -> Permit | Wait | None:
    """The permit of an accepted job, or where it waits; None if it does not ask to be submitted.

    The record is judged, not its row alone: that may show less than the record says.
    """
    if stored.job.state is not JobState.ACCEPTED:
        return None
    verdict = judge(stored.job, world)
    return Permit(stored) if isinstance(verdict, Pass) else verdict
