"""Drains the poison queues: their messages expire after a week, and no request may be lost with them."""

from __future__ import annotations

import logging

import azure.functions as func

from functions.bindings import BYTES, CONNECTION
from functions.process import ports

log = logging.getLogger(__name__)
blueprint = func.Blueprint()  # type: ignore[no-untyped-call]


@blueprint.function_name("bury_message")
@blueprint.queue_trigger("message", queue_name="jobs-poison", connection=CONNECTION, data_type=BYTES)
async def bury_message(message: func.QueueMessage) -> None:
    """A job message that the host gave up: keep the host's copy."""
    from shared.intake.arrive import poison_arrived

    await poison_arrived(ports(), message.id or "", message.get_body())


@blueprint.function_name("bury_drop")
@blueprint.queue_trigger(
    "message", queue_name="webjobs-blobtrigger-poison", connection=CONNECTION, data_type=BYTES
)
async def bury_drop(message: func.QueueMessage) -> None:
    """A blob for which every try of `accept_drop` failed: look at it once more, and keep it if that fails.

    The host makes this queue in the account of the blob, whichever it keeps its own things in.
    """
    from shared.intake.arrive import poison_arrived

    await poison_arrived(ports(), message.id or "", message.get_body())


@blueprint.function_name("bury_wake_up")
@blueprint.queue_trigger("message", queue_name="job-events-poison", connection=CONNECTION, data_type=BYTES)
async def bury_wake_up(message: func.QueueMessage) -> None:
    """A wake-up for which every try failed: the outbox row is the truth, and the sweeper returns to it."""
    log.error("wake-up %s failed; the sweeper delivers its event", message.id)
