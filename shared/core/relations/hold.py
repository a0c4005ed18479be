"""The hold of a job: after a failure of its own it keeps its node for a while, so that one can look. Pure."""

from __future__ import annotations

from datetime import timedelta

from pydantic import AwareDatetime

from shared.core.relations.contents import FrozenModel

#: The word of the reason that a held job shows.
HELD = "Held"


class Held(FrozenModel):
    """How a job ended whose node is kept, and until when."""

    #: of its command; None if the record of its run does not name one that is possible
    exit_code: int | None = None
    message: str = ""
    until: AwareDatetime


class Hold(FrozenModel):
    """For how long a job wants its node kept; and, once its command has failed, how it ended."""

    length: timedelta
    held: Held | None = None


def held_end(hold: Hold | None) -> Held | None:
    """How a job ended whose node is kept, or was; None for any other."""
    return hold.held if hold is not None else None
