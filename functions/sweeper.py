"""The timer: the sweeper, for all that has not ended, and by its clock what no job waits for."""

from __future__ import annotations

import asyncio
import logging

import azure.functions as func

from functions.bindings import SWEEPER
from functions.process import ports

log = logging.getLogger(__name__)
blueprint = func.Blueprint()  # type: ignore[no-untyped-call]


@blueprint.function_name("sweeper")
@blueprint.timer_trigger("timer", schedule=SWEEPER, run_on_startup=False)
async def sweeper(timer: func.TimerRequest) -> None:
    """Compare every active job with its engine's report, count the nodes; then do what no job waits for."""
    from shared.lifecycle.clusters.count_nodes import count_nodes
    from shared.lifecycle.sweeper import make_pass

    try:
        counts, _ = await asyncio.gather(make_pass(ports()), count_nodes(ports()))
        if counts.changed or counts.dispatched or counts.delivered or counts.unreachable:
            log.info("sweeper: %s", counts)
    finally:
        from shared.intake.upkeep import upkeep  # what it imports, no pass has to wait for

        await upkeep(ports())
