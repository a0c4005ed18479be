"""Two doors: a script dropped into the container, and a message on the queue `jobs`."""

from __future__ import annotations

import azure.functions as func

from functions.bindings import BYTES, CONNECTION, DROPS, SOURCE
from functions.process import ports

blueprint = func.Blueprint()  # type: ignore[no-untyped-call]


@blueprint.function_name("accept_drop")
@blueprint.blob_trigger("blob", path=f"{DROPS}/{{name}}", connection=CONNECTION, source=SOURCE)
async def accept_drop(blob: func.InputStream) -> None:
    """A blob was written into the drop container: look at its folder."""
    from shared.intake.arrive import blob_arrived

    container, _, name = (blob.name or "").partition("/")
    await blob_arrived(ports(), container, name)


@blueprint.function_name("accept_message")
@blueprint.queue_trigger("message", queue_name="jobs", connection=CONNECTION, data_type=BYTES)
async def accept_message(message: func.QueueMessage) -> None:
    """A job message, a bare job.json, or a BlobCreated event; plain or base64."""
    from shared.intake.arrive import message_arrived

    await message_arrived(ports(), message.get_body(), message.id or "", message.dequeue_count or 1)
