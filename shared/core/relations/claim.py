"""claim: what a job takes of its team's quota, from before its first submission until its end. Pure."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

#: The reason code of a job that waits until its team's quota has room.
WAITS = "TeamQuota"


class Claim(BaseModel):
    """Nodes and GPUs of one job, as they were when it was accepted."""

    # Members that a newer version wrote stay, as in the record around them.
    model_config = ConfigDict(frozen=True, extra="allow")

    nodes: int
    #: of all its nodes together
    gpus: int
    #: what it uses at most, if it runs as long as it may: GPU-hours, and money where the price is known
    gpu_hours: float = 0.0
    cost: float | None = None
    #: how often it was given back to a lender, and has to be claimed anew; grows only
    returns: int = 0
    #: whether its lender needs it: the present attempt is ended, and then it is given back
    recalled: bool = False

    @property
    def given_back(self) -> Claim:
        """The claim after it was given back."""
        return self.model_copy(update={"returns": self.returns + 1, "recalled": False})

    def is_of(self, other: Claim | None) -> bool:
        """Whether the other one is the same claim, which was not given back in between."""
        return other is not None and other.returns == self.returns
