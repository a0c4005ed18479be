"""Two doors: a script dropped into the container, and a message on the queue `jobs`."""

from __future__ import annotations

import logging
import os

import azure.functions as func

from shared.arrive import blob_arrived, message_arrived
from shared.errors import Misuse
from shared.wiring import ports

log = logging.getLogger(__name__)
blueprint = func.Blueprint()  # type: ignore[no-untyped-call]

# A binding is fixed when the app is indexed, so these two are read here and not in `settings`.
_DROPS = os.environ.get("SLIPWAY_DROP_CONTAINER") or "scripts"
_SOURCE = (
    func.BlobSource.LOGS_AND_CONTAINER_SCAN
    if os.environ.get("SLIPWAY_BLOB_SOURCE", "").lower() == "logsandcontainerscan"
    else func.BlobSource.EVENT_GRID
)


@blueprint.function_name("accept_drop")
@blueprint.blob_trigger("blob", path=f"{_DROPS}/{{name}}", connection="SLIPWAY_STORAGE", source=_SOURCE)
async def accept_drop(blob: func.InputStream) -> None:
    """A blob was written into the drop container: look at its folder."""
    container, _, name = (blob.name or "").partition("/")
    await blob_arrived(ports(), container, name)


@blueprint.function_name("accept_message")
@blueprint.queue_trigger("message", queue_name="jobs", connection="SLIPWAY_STORAGE")
async def accept_message(message: func.QueueMessage) -> None:
    """A job message, a bare job.json, or a BlobCreated event; plain or base64."""
    try:
        await message_arrived(ports(), message.get_body(), message.id or "")
    except Misuse as error:
        # The sender's mistake cannot be mended by trying again, and there is nobody to answer.
        log.warning("message %s refused: %s", message.id, error)
