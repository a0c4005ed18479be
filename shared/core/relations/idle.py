"""idle: a running job that was warned because it does not use its resources. Pure."""

from __future__ import annotations

from typing import Literal, TypeAlias

from pydantic import AwareDatetime

from shared.core.relations.contents import FrozenModel

#: The sign of idleness: all its GPUs are idle, or nothing is added to its standard output and error.
IdleCause: TypeAlias = Literal["gpus", "log"]
#: The label, with the value "true", by which a job opts out.
KEEP = "keep-idle"


class Idle(FrozenModel):
    """A warning, and whether the job's end was requested after it."""

    cause: IdleCause
    #: by the clock of its nodes or of its files: since when, and the last sign of it before the warning
    since: AwareDatetime
    latest: AwareDatetime
    #: by ours
    warned: AwareDatetime
    #: when its end is requested at the earliest, unless it works again
    ends: AwareDatetime
    is_ending: bool = False

    @property
    def clause(self) -> str:
        """The sign of idleness, as a clause."""
        since = self.since.isoformat(timespec="seconds")
        if self.cause == "gpus":
            return f"its GPUs have been idle since {since}"
        return f"nothing was added to its standard output and error since {since}"


def request_of(idle: Idle | None) -> Idle | None:
    """The warning if an end was requested after it; this survives any move of the job by the cluster."""
    return idle if idle is not None and idle.is_ending else None
