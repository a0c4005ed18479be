"""Two timers: the sweep over everything that has not ended, and the inventory of the drop container."""

from __future__ import annotations

import asyncio
import logging

import azure.functions as func

from functions.bindings import INVENTORY, SWEEP
from functions.process import ports

log = logging.getLogger(__name__)
blueprint = func.Blueprint()  # type: ignore[no-untyped-call]


@blueprint.function_name("sweep")
@blueprint.timer_trigger("timer", schedule=SWEEP, run_on_startup=False)
async def sweep(timer: func.TimerRequest) -> None:
    """Compare every active job with its engine's report, count the nodes."""
    from shared.lifecycle.clusters.count_nodes import count_nodes
    from shared.lifecycle.sweep import sweep as sweep_all

    swept, _ = await asyncio.gather(sweep_all(ports()), count_nodes(ports()))
    if swept.changed or swept.dispatched or swept.delivered or swept.unreachable:
        log.info("swept: %s", swept)


@blueprint.function_name("inventory")
@blueprint.timer_trigger("timer", schedule=INVENTORY, run_on_startup=False)
async def inventory(timer: func.TimerRequest) -> None:
    """Accept drops whose event never came."""
    from shared.intake.drops.inventory import inventory as count_drops

    counted = await count_drops(ports())
    if counted.looked:
        log.info("inventory: %s", counted)
