"""`slipway sweep`: the progress of a sweep, its best jobs, and the cancellation of all."""

from collections.abc import Mapping, Sequence
from typing import Any

from slipway.client.service import Service
from slipway.commands.jobs import asking, show
from slipway.commands.sweeps.naming import sweep_id
from slipway.commands.sweeps.ranking import Ranked, ranking
from slipway.failure import Failure
from slipway.screen import remark, table

#: How many of its jobs are shown.
_SHOWN = 10


def show_sweep(
    sweep: str, url: str, key: str, best: str = "", *, most: bool = False, as_json: bool = False
) -> int:
    """Show a sweep, and with `best` its jobs by the last value of this metric. Raises Failure."""
    if most and not best:
        raise Failure("--max belongs to --best METRIC")

    async def ask(api: Service) -> int:
        identity = await sweep_id(api, sweep)
        answer = await api.sweep(identity)
        if not best:
            show(answer, lines, as_json=as_json)
            return 0
        ranked = await ranking(api, identity, best, most=most)
        for job, reason in sorted(ranked.unread.items()):
            remark(f"left out: {job}: {reason}")
        if not ranked.jobs:
            raise Failure(f"no job of {identity} has reported {best!r} so far; see `slipway metrics JOB`")
        chosen = [{"value": one.value, **one.job} for one in ranked.jobs]
        whole = {**answer, "best": chosen}
        show(whole, lambda _: [*lines(answer), "", *_best(ranked.jobs[:_SHOWN], best)], as_json=as_json)
        return 0

    return asking(ask, url, key)


def cancel(sweep: str, url: str, key: str, *, as_json: bool = False) -> int:
    """Ask for the end of every job of a sweep."""

    async def ask(api: Service) -> int:
        show(await api.cancel_sweep(await sweep_id(api, sweep)), lines, as_json=as_json)
        return 0

    return asking(ask, url, key)


def lines(sweep: Mapping[str, Any]) -> list[str]:
    """A sweep in lines: its name and state, and how many of its jobs wait, work and have ended."""
    ending = ", and asked to end" if sweep.get("cancelRequested") and sweep["state"] != "ended" else ""
    ended = ", ".join(f"{number} {state}" for state, number in sweep["counts"].items())
    return [
        f"{sweep['sweepId']}  {sweep['name']}: {sweep['state']}{ending}",
        f"  {sweep['total']} jobs, at most {sweep['parallel']} at once",
        f"  {sweep['waiting']} waiting, {sweep['atWork']} at work",
        *([f"  {ended}"] if ended else []),
    ]


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
