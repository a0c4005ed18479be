"""Two timers: the sweeper, for all that has not ended, and the inventory of the drop container."""

from __future__ import annotations

import asyncio
import logging

import azure.functions as func

from functions.bindings import INVENTORY, SWEEPER
from functions.process import ports

log = logging.getLogger(__name__)
blueprint = func.Blueprint()  # type: ignore[no-untyped-call]


@blueprint.function_name("sweeper")
@blueprint.timer_trigger("timer", schedule=SWEEPER, run_on_startup=False)
async def sweeper(timer: func.TimerRequest) -> None:
    """Compare every active job with its engine's report, count the nodes."""
    from shared.lifecycle.clusters.count_nodes import count_nodes
    from shared.lifecycle.sweeper import make_pass

    counts, _ = await asyncio.gather(make_pass(ports()), count_nodes(ports()))
    if counts.changed or counts.dispatched or counts.delivered or counts.unreachable:
        log.info("sweeper: %s", counts)


@blueprint.function_name("inventory")
@blueprint.timer_trigger("timer", schedule=INVENTORY, run_on_startup=False)
async def inventory(timer: func.TimerRequest) -> None:
    """Accept drops whose event never came."""
    from shared.intake.drops.inventory import inventory as count_drops

    counted = await count_drops(ports())
    if counted.looked:
        log.info("inventory: %s", counted)
