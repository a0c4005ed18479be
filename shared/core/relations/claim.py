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
