"""The parts of a job's record, except its history. Pure."""

from __future__ import annotations

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field


class FrozenModel(BaseModel):
    """Unknown members are kept: a newer version wrote them, and may run again.

    Stored records keep the names that they have always had, as aliases.
    """

    model_config = ConfigDict(
        frozen=True, extra="allow", validate_by_name=True, validate_by_alias=True, serialize_by_alias=True
    )


class Receiver(FrozenModel):
    """A receiver of a job. `url` is safe to show; an address with a path or a query is in `sealed`."""

    url: str
    secret: str | None = None
    sealed: str | None = None
    #: what the sealed address is bound to
    context: str = Field(default="", alias="place")
    events: tuple[str, ...] = ("succeeded", "failed", "cancelled", "lost", "rejected")


class Budget(FrozenModel):
    """New attempts that a job may have, or has had, by the cause of the last failure."""

    infrastructure: int = 0
    user: int = 0


class Drop(FrozenModel):
    """A script's arrival in the drop container."""

    container: str
    folder: str
    job_file: str
    #: blob name → SHA-256 of what was read
    files: dict[str, str]
    #: blob name → ETag that was read
    etags: dict[str, str]


class Target(FrozenModel):
    """The engine-side identity of one attempt. Fixed before the first submission, never changed."""

    engine: str
    cluster: str
    experiment: str
    name: str
    token: str


class Waiting(FrozenModel):
    """Why a job waits: the engine's word, or ours; a sentence; since when."""

    word: str
    text: str
    since: AwareDatetime
    #: whether it lasts until the job or the cluster changes
    never: bool = False
    #: its place in its team's line, from 1 on, computed when it is read; no record holds it
    position: int = 0
