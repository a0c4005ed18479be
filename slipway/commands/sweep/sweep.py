"""`slipway sweep`: the progress of a sweep, its best jobs, and the cancellation of all."""

from collections.abc import Sequence

from slipway.client.jobs.naming import sweep_id
from slipway.client.jobs.ranking import Ranked, ranking
from slipway.client.jobs.words import sweep_lines
from slipway.client.service import Service
from slipway.commands.asking import asking, show
from slipway.failure import USAGE, Failure
from slipway.terminal.screen import remark, table

#: How many of its jobs are shown.
_SHOWN = 10


def show_sweep(
    sweep: str, url: str, key: str, best: str = "", *, most: bool = False, as_json: bool = False
) -> int:
    """Show a sweep, and with `best` its jobs by the last value of this metric. Raises Failure."""
    if most and not best:
        raise Failure("--max belongs to --best METRIC", USAGE)

    async def ask(api: Service) -> int:
        identity = await sweep_id(api, sweep)
        answer = await api.sweep(identity)
        if not best:
            show(answer, sweep_lines, as_json=as_json)
            return 0
        ranked = await ranking(api, identity, best, most=most)
        for job, reason in sorted(ranked.unread.items()):
            remark(f"left out: {job}: {reason}")
        if not ranked.jobs:
            raise Failure(f"no job of {identity} has reported {best!r} so far; see `slipway metrics JOB`")
        chosen = [{"value": one.value, **one.job} for one in ranked.jobs]
        whole = {**answer, "best": chosen}
        show(whole, lambda _: [*sweep_lines(answer), "", *_best(ranked.jobs[:_SHOWN], best)], as_json=as_json)
        return 0

    return asking(ask, url, key)


def cancel(sweep: str, url: str, key: str, *, as_json: bool = False) -> int:
    """Ask for the end of every job of a sweep."""

    async def ask(api: Service) -> int:
        show(await api.cancel_sweep(await sweep_id(api, sweep)), sweep_lines, as_json=as_json)
        return 0

    return asking(ask, url, key)


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
