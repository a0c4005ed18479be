"""arrive: what came through the queue door or the blob trigger goes its way."""

from __future__ import annotations

import logging
from dataclasses import replace

from shared.accept import Accepted, Arrived, accept
from shared.drop import Looked, look
from shared.errors import Misuse
from shared.folder import ignored, parent
from shared.message import Arrival, Foreign, Look, Message, Request, digest, read_message
from shared.ports import Ports
from shared.refusals import refused
from shared.spec import read

log = logging.getLogger(__name__)


async def blob_arrived(ports: Ports, container: str, name: str) -> Looked:
    """A blob was written. Only the drop container counts; answers can trigger nothing."""
    if container != ports.policy.drop_container:
        log.info("ignored: %s is not the drop container", container[:63])
        return Looked()
    if ignored(name):
        return Looked()
    looked = await look(ports, parent(name))
    if looked.waits:
        log.info("folder %r: %s", parent(name), looked.waits)
    return looked


async def message_arrived(ports: Ports, body: bytes, message_id: str) -> list[Accepted]:
    """One queue message; bad ones become rejected records. Raises Unavailable."""
    accepted: list[Accepted] = []
    for index, message in enumerate(read_message(body, ports.policy.limits)):
        accepted += await _one(ports, message, f"{message_id}#{index}" if index else message_id)
    return accepted


async def request_arrived(
    ports: Ports, request: Request, *, door: str, scope: str, key: str, name: str = ""
) -> Accepted:
    """A request for a job through whichever door; its document is fetched when it is only named."""
    if request.document is None and request.envelope.spec_blob:
        request = await _fetched(ports, request)
    return await accept(
        ports, Arrived(door=door, scope=scope, key=request.key or key, request=request, name=name)
    )


async def _one(ports: Ports, message: Message, key: str) -> list[Accepted]:
    if isinstance(message, Foreign):
        log.info("ignored an event of type %s", message.type)
        return []
    if isinstance(message, Arrival):
        return list((await blob_arrived(ports, message.container, message.name)).accepted)
    if isinstance(message, Look):
        return list((await look(ports, message.folder, ordered_for=message.newest)).accepted)
    return [await request_arrived(ports, message, door="queue", scope="queue", key=f"message:{key}")]


async def _fetched(ports: Ports, request: Request) -> Request:
    """The request with the document that `specBlob` names."""
    reference = request.envelope.spec_blob or ""
    try:
        data = await ports.drops.read_reference(reference, limit=ports.policy.limits.max_bytes)
    except Misuse as error:
        problem = refused("SW106", "/specBlob", str(error), error.remedy)
        return replace(request, problems=(*request.problems, problem))
    if data is None:
        problem = refused("SW106", "/specBlob", f"there is no blob {reference[:200]}")
        return replace(request, problems=(*request.problems, problem))
    document, problems = read(data, ports.policy.limits)
    # The content belongs to the payload: the same message with another blob behind it is another request.
    payload = digest([request.payload, digest(document)])
    return replace(
        request, document=document, payload=payload, at="", problems=(*request.problems, *problems)
    )
