"""The jobs of a sweep, by the last value that each reported."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from glob import escape
from typing import Any, NamedTuple

from slipway.client.jobs.curves import Curves, answers
from slipway.client.jobs.words import ENDED
from slipway.client.service import Service
from slipway.failure import Failure

#: Jobs of a sweep, at most, and how many are asked at once for their metrics.
_MOST, _AT_ONCE = 1_000, 8


class Ranked(NamedTuple):
    """A job of a sweep, and the last value of the metric."""

    value: float
    job: Mapping[str, Any]


@dataclass(frozen=True)
class Ranking:
    """The jobs that reported a metric, the best first; and why others could not be queried, by id."""

    jobs: tuple[Ranked, ...]
    unread: Mapping[str, str]


async def ranking(api: Service, sweep: str, metric: str, *, most: bool) -> Ranking:
    """The jobs of a sweep by a metric, the lowest first, with `most` the highest; equal ones by their number.

    Raises Failure if no job could be queried.
    """
    jobs = (await api.jobs({"sweep": sweep}, _MOST)).jobs
    gate = asyncio.Semaphore(_AT_ONCE)
    unread: dict[str, str] = {}

    async def value(job: Mapping[str, Any]) -> Ranked | None:
        # No pattern: a metric may be called acc[1].
        curves = Curves([escape(metric)])
        async with gate:
            try:
                async for answer in answers(api, job["id"]):
                    curves.add(answer)
            except Failure as error:
                unread[job["id"]] = str(error)
        ends = [curve.points[-1][1] for curve in curves.all() if curve.points]
        return Ranked(ends[0], job) if ends else None

    began = [job for job in jobs if job.get("startedAt") or job["state"] in ENDED]
    values = await asyncio.gather(*map(value, sorted(began, key=_number)))
    if unread and len(unread) == len(began):
        raise Failure(f"no job of {sweep} could be queried: {next(iter(unread.values()))}")
    ranked = sorted((one for one in values if one is not None), key=lambda one: one.value, reverse=most)
    return Ranking(tuple(ranked), unread)


def _number(job: Mapping[str, Any]) -> int:
    """The job's number in its sweep."""
    return int(job["sweep"]["index"])
