"""The part of the HTTP API that reads sweeps: the recent ones, and one of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import azure.functions as func

from functions.caller import caller
from functions.openapi.elements import Parameter, text
from functions.openapi.operation import operation
from functions.problem import Reply, answer
from functions.process import ports

if TYPE_CHECKING:
    from shared.answers.job_sweep import SweepDetail, SweepList

blueprint = func.Blueprint()  # type: ignore[no-untyped-call]


@operation(
    blueprint,
    "GET",
    "sweeps",
    query=(
        text("since", "sweeps that have ended since then, beside the active ones; 7d by default", "7d"),
        Parameter("limit", "sweeps in the answer", {"type": "integer", "minimum": 1, "maximum": 200}),
    ),
)
async def get_sweeps(req: func.HttpRequest) -> Reply[SweepList]:
    """List sweeps: how many of the jobs of each wait, work and have ended.

    Of those that the caller may see: the active ones, the newest first, then those that have ended since
    `since` and are not archived, the last end first. `more` says that there are, or may be, others.
    """
    from shared.core.job_sweeps.view import line
    from shared.operate.job_sweeps import job_sweeps

    listed = await job_sweeps(ports(), req.params, caller())
    return answer({"sweeps": [line(one) for one in listed.sweeps], "more": listed.more})


@operation(blueprint, "GET", "sweeps/{id}", refused=(404,))
async def get_sweep(req: func.HttpRequest) -> Reply[SweepDetail]:
    """Get a sweep: its parameters, and how many of its jobs wait, work and have ended."""
    from shared.core.job_sweeps.view import summary
    from shared.operate.job_sweeps import job_sweep

    stored = await job_sweep(ports(), req.route_params["id"], caller())
    return answer(summary(stored.sweep))
