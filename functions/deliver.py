"""The queue `job-events`: retries and leftovers of deliveries."""

from __future__ import annotations

import json
import logging

import azure.functions as func

from functions.bindings import BYTES, CONNECTION
from functions.process import ports

log = logging.getLogger(__name__)
blueprint = func.Blueprint()  # type: ignore[no-untyped-call]


@blueprint.function_name("deliver")
@blueprint.queue_trigger("message", queue_name="job-events", connection=CONNECTION, data_type=BYTES)
async def deliver(message: func.QueueMessage) -> None:
    """Make the deliveries of one event that are due."""
    from shared.delivery.deliver import deliver as deliver_event
    from shared.intake.reading.unwrap import unwrap

    try:
        body = json.loads(unwrap(message.get_body()))
        job, sequence = str(body["job"]), int(body["sequence"])
    except (ValueError, KeyError, TypeError):
        log.warning("message %s names no event and is dropped; the outbox decides", message.id)
        return
    app = ports()
    if (message.dequeue_count or 1) > app.policy.message_tries:
        log.error("wake-up %s failed too often; the sweeper delivers its event", message.id)
        return
    await deliver_event(app, job, sequence)
