"""A sweep of jobs in Python, asynchronous."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from pydantic import ValidationError

from shared.answers.job_sweep import SweepDetail
from shared.core.identity import is_sweep_id
from slipway.client.calls.patience import patiently, pause, time_limit
from slipway.client.jobs.ranking import ranking
from slipway.client.service import service
from slipway.failure import Failure
from slipway.library.job import AsyncJob

#: Seconds between two looks at a sweep, and its jobs at most.
_EVERY, _MOST = 2.0, 1_000


class RankedJob(NamedTuple):
    """A job of a sweep, and the last value of a metric."""

    value: float
    job: AsyncJob


class AsyncSweep:
    """A sweep of jobs at a deployment."""

    def __init__(self, id: str, url: str, key: str) -> None:  # noqa: A002 - as the API names it
        if not is_sweep_id(id):
            raise Failure(f"{id[:80]!r} is not the id of a sweep, s_ and 24 characters")
        self.id = id
        self._url, self._key = url, key

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.id!r})"

    async def details(self) -> SweepDetail:
        """The sweep as it is now: how many of its jobs wait, work and have ended."""
        async with service(self._url, self._key) as api:
            return _detail(await api.sweep(self.id))

    async def wait(self, timeout: float | None = None) -> SweepDetail:  # noqa: ASYNC109 - as without await
        """Wait until all its jobs have ended, however they end; the record then.

        Raises TimeoutError after so many seconds.
        """
        async with service(self._url, self._key) as api, time_limit(timeout, self.id):
            record = await api.sweep(self.id)
            while record["state"] != "ended":
                await pause(_EVERY)
                record = await patiently(lambda: api.sweep(self.id))
            return _detail(record)

    async def jobs(self, /, **conditions: str) -> list[AsyncJob]:
        """Its jobs, newest first, by the conditions of `GET /api/jobs`: state="failed"."""
        async with service(self._url, self._key) as api:
            listed = (await api.jobs({**conditions, "sweep": self.id}, _MOST)).jobs
            return [self._job(one) for one in listed]

    async def best(self, metric: str, *, most: bool = False) -> list[RankedJob]:
        """Its jobs by the last value of a metric, the lowest first; the highest first with `most`.

        Jobs that have not reported it, or cannot be asked, are left out.
        """
        async with service(self._url, self._key) as api:
            ranked = (await ranking(api, self.id, metric, most=most)).jobs
            return [RankedJob(one.value, self._job(one.job)) for one in ranked]

    async def cancel(self) -> SweepDetail:
        """Ask for the end of every job of it."""
        async with service(self._url, self._key) as api:
            return _detail(await api.cancel_sweep(self.id))

    def _job(self, line: Mapping[str, Any]) -> AsyncJob:
        return AsyncJob(line["id"], self._url, self._key)


def _detail(record: Mapping[str, Any]) -> SweepDetail:
    try:
        return SweepDetail.model_validate(record)
    except ValidationError:
        raise Failure("the service's answer is not a sweep; is it of another version?") from None
