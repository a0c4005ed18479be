"""claim: a job's part of its team's quota, from before its first submission until its end. Pure."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import AwareDatetime

from shared.core.relations.contents import FrozenModel

#: The reason code of a job that waits until its team's quota has room.
WAITS_FOR_QUOTA = "TeamQuota"
#: The reason code of a job that waits until another one of its person has ended.
WAITS_FOR_PERSON = "PersonQuota"
_NO_RECALL: dict[str, Any] = {"recalled": False, "spared_since": None}


class Claim(FrozenModel):
    """Nodes and GPUs of one job, as they were when it was accepted."""

    nodes: int
    #: of all its nodes together
    gpus: int
    #: the most it can use, if it runs as long as it may: GPU-hours, and money if the price is known
    gpu_hours: float = 0.0
    cost: float | None = None
    #: who asked for the job, shortened; "" in older records, which no limit for one person counts
    person: str = ""
    #: how often it was given back to a lender and had to be claimed again; only grows
    returns: int = 0
    #: whether its lender needs it: the current attempt is ended, and then it is given back
    recalled: bool = False
    #: since when the lender no longer needs it; a cancellation may still take effect for a while
    spared_since: AwareDatetime | None = None

    @property
    def is_needed_back(self) -> bool:
        """Whether its lender needs it now."""
        return self.recalled and self.spared_since is None

    @property
    def given_back(self) -> Claim:
        """The claim after it was given back."""
        return self.model_copy(update={"returns": self.returns + 1, **_NO_RECALL})

    @property
    def needed_back(self) -> Claim:
        """The claim when its lender needs it."""
        return self.model_copy(update={"recalled": True, "spared_since": None})

    def spared(self, since: datetime) -> Claim:
        """The claim when its lender no longer needs it."""
        return self.model_copy(update={"spared_since": since})

    @property
    def without_recall(self) -> Claim:
        """The claim after its recall was taken back."""
        return self.model_copy(update=_NO_RECALL)

    def is_of(self, other: Claim | None) -> bool:
        """Whether the other one is the same claim, not given back in between."""
        return other is not None and other.returns == self.returns
