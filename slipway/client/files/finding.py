"""What a job left, looked for so that a message says "yet" about a job that may still write, and no other."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from slipway.client.calls.patience import patiently
from slipway.client.jobs.words import ENDED
from slipway.client.service import Service

T = TypeVar("T")


@dataclass(frozen=True)
class Finding(Generic[T]):
    """What was found; and the state of a job that may still write, where something is missing."""

    what: T
    state: str = ""

    @property
    def proviso(self) -> str:
        """The end of a sentence about a missing file."""
        return f" yet: the job is {self.state}" if self.state else ""


async def look_for(
    api: Service, job_id: str, find: Callable[[], Awaitable[T]], is_whole: Callable[[T], bool]
) -> Finding[T]:
    """Find it; if something is missing of a job that has ended, once more: it may have been written last."""
    what = await find()
    if is_whole(what):
        return Finding(what)
    state = (await patiently(lambda: api.job(job_id)))["state"]
    if state not in ENDED and not api.attempt:
        return Finding(what, state)
    return Finding(await find())
