"""`slipway sweep`: how far the jobs of a sweep are, which of them are the best, and the end of all."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from slipway.client.curves import Curves, answers
from slipway.client.service import Service
from slipway.commands.jobs import asking, show
from slipway.failure import Failure
from slipway.screen import table

#: Jobs of a sweep, at most; how many are shown; how many are asked at once for their metrics.
_MOST, _SHOWN, _AT_ONCE = 1_000, 10, 8


class Ranked(NamedTuple):
    """A job of a sweep, and the last value of the metric."""

    value: float
    job: Mapping[str, Any]


def show_sweep(
    sweep: str, url: str, key: str, best: str = "", *, most: bool = False, as_json: bool = False
) -> int:
    """Show a sweep, and with `best` its jobs by the last value of this metric. Raises Failure."""
    if most and not best:
        raise Failure("--max belongs to --best METRIC")

    async def ask(api: Service) -> int:
        answer = await api.sweep(sweep)
        if not best:
            show(answer, lines, as_json=as_json)
            return 0
        ranked = await ranking(api, sweep, best, most=most)
        if not ranked:
            raise Failure(f"no job of {sweep} has reported {best!r} so far; see `slipway metrics JOB`")
        chosen = [{"value": one.value, **one.job} for one in ranked]
        whole = {**answer, "best": chosen}
        show(whole, lambda _: [*lines(answer), "", *_best(ranked[:_SHOWN], best)], as_json=as_json)
        return 0

    return asking(ask, url, key)


def cancel(sweep: str, url: str, key: str, *, as_json: bool = False) -> int:
    """Ask for the end of every job of a sweep."""

    async def ask(api: Service) -> int:
        show(await api.cancel_sweep(sweep), lines, as_json=as_json)
        return 0

    return asking(ask, url, key)


def lines(sweep: Mapping[str, Any]) -> list[str]:
    """A sweep in lines: what it is, and how many of its jobs wait, work and have ended."""
    ending = ", and asked to end" if sweep.get("cancelRequested") and sweep["state"] != "ended" else ""
    ended = ", ".join(f"{number} {state}" for state, number in sweep["counts"].items())
    return [
        f"{sweep['sweepId']}  {sweep['name']}: {sweep['state']}{ending}",
        f"  {sweep['total']} jobs, at most {sweep['parallel']} at once",
        f"  {sweep['waiting']} waiting, {sweep['atWork']} at work",
        *([f"  {ended}"] if ended else []),
    ]


async def ranking(api: Service, sweep: str, metric: str, *, most: bool) -> list[Ranked]:
    """The jobs of a sweep that reported this metric, the best first."""
    jobs = (await api.jobs({"sweep": sweep}, _MOST)).jobs
    gate = asyncio.Semaphore(_AT_ONCE)

    async def value(job: Mapping[str, Any]) -> Ranked | None:
        curves = Curves([metric])
        async with gate:
            async for answer in answers(api, job["id"]):
                curves.add(answer)
        ends = [curve.points[-1][1] for curve in curves.all() if curve.points]
        return Ranked(ends[0], job) if ends else None

    began = [job for job in jobs if job.get("startedAt")]
    results = await asyncio.gather(*map(value, began))
    ranked = (one for one in results if one is not None)
    return sorted(ranked, key=lambda one: one.value, reverse=most)


def _best(ranked: Sequence[Ranked], metric: str) -> list[str]:
    names = list(ranked[0].job["sweep"]["values"])
    head = [metric, "job", "state", *names]
    rows = [
        [
            f"{one.value:g}",
            one.job["id"],
            one.job["state"],
            *(str(one.job["sweep"]["values"][name]) for name in names),
        ]
        for one in ranked
    ]
    return table([head, *rows])
