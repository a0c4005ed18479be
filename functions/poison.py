"""Poison queues are drained: their copies die after a week, and nothing may be lost with them."""

from __future__ import annotations

import logging

import azure.functions as func

from functions.bindings import CONNECTION
from shared.message import unwrap
from shared.wiring import ports

log = logging.getLogger(__name__)
blueprint = func.Blueprint()  # type: ignore[no-untyped-call]

#: Where messages wait for a person, for good.
DEAD = "jobs-dead"


@blueprint.function_name("bury_message")
@blueprint.queue_trigger("message", queue_name="jobs-poison", connection=CONNECTION)
async def bury_message(message: func.QueueMessage) -> None:
    """A job message that no try could process: keep it where it never expires, and raise an alarm."""
    log.error("message %s could not be processed; it waits in the queue %s", message.id, DEAD)
    await ports().queues.send(DEAD, unwrap(message.get_body()).decode("utf-8", "replace"))


@blueprint.function_name("bury_wake_up")
@blueprint.queue_trigger("message", queue_name="job-events-poison", connection=CONNECTION)
async def bury_wake_up(message: func.QueueMessage) -> None:
    """A wake-up that no try could serve: the outbox row is the truth, and the sweep comes back to it."""
    log.error("wake-up %s could not be served; the sweep delivers", message.id)
