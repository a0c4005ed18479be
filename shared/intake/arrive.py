"""arrive: handle messages from the queue and the blob trigger."""

from __future__ import annotations

import logging
from dataclasses import replace

from shared.core.errors import EngineError, Unavailable
from shared.core.identity import message_name
from shared.core.ledger.dead import dead_id
from shared.core.messages import FolderLook, JobsEnded, SweepExpansion
from shared.core.pacing.off_loop import off_loop
from shared.core.ports import Ports
from shared.core.refusals import KeyTaken, refused
from shared.intake.accept import Accepted
from shared.intake.dead_letter import body_of, bury, bury_poison, hold, pointed_to, put_off, wait
from shared.intake.drops.drop import FolderResult, file_arrived, look_as_ordered
from shared.intake.drops.folder import parent, unusable
from shared.intake.drops.renamed import folder_renamed
from shared.intake.job_sweep import expand
from shared.intake.message import ForeignEvent, Message, Request, read_message
from shared.intake.reading.event import REJECTION
from shared.intake.reading.wakeups import BlobWritten, FolderRenamed
from shared.intake.request_door import name_of_blob, request_arrived, sweep_requested
from shared.jobspec import is_ignored, name_flaw
from shared.lifecycle.push import job_of_record, jobs_ended, record_written

log = logging.getLogger(__name__)

#: Errors of storage, of a cluster or of the settings: the message itself may be right.
_OUTAGE = (Unavailable, EngineError, TimeoutError)


async def blob_arrived(ports: Ports, container: str, name: str) -> FolderResult:
    """A blob was written. Only the drop container counts; receipts trigger nothing.

    In any container, the record of a run causes a look at its job, and nothing else.
    """
    if (job := job_of_record(name)) is not None:
        await record_written(ports, job)
        return FolderResult()
    if container != ports.policy.drop_container:
        log.info("ignored: %s is not the drop container", container[:63])
        return FolderResult()
    if is_ignored(name):
        if unusable(name):
            log.warning("dropped file %r is left alone, because its name %s", name[:200], name_flaw(name))
        return FolderResult()
    result = await file_arrived(ports, name)
    if result.waits:
        log.info("folder %r: %s", parent(name), result.waits)
    return result


async def message_arrived(ports: Ports, body: bytes, message_id: str, tries: int = 1) -> list[Accepted]:
    """Process one queue message.

    A bad one becomes a rejected record; one that fails too often is kept as a dead letter. Raises
    Unavailable, or any other error that makes the host try again.
    """
    if tries > ports.policy.message_tries:
        return await _last_try(ports, body, message_id, tries)
    return await _try(ports, body, message_id)


async def poison_arrived(ports: Ports, poison_id: str, body: bytes) -> None:
    """Process a copy of a queue or blob message that the host gave up, perhaps only because of an outage.

    If it names a blob, look at the blob: that may be repeated. Any other message has lost its id and is kept
    as a dead letter.
    """
    messages = await off_loop(len(body), read_message, body, ports.policy.limits)
    if not (messages and all(isinstance(message, BlobWritten | FolderRenamed) for message in messages)):
        await bury_poison(ports, "jobs", poison_id, body)
        return
    try:
        await _each_message(ports, body, poison_id)
    except _OUTAGE as error:
        await put_off(ports.queues, "jobs", poison_id, body, error)
    except Exception:
        log.exception("poison message %s still fails", poison_id)
        await bury_poison(ports, "jobs", poison_id, body)


async def _last_try(ports: Ports, body: bytes, message_id: str, tries: int) -> list[Accepted]:
    """Try once more: all earlier tries may have met an outage, which does not justify giving a message up."""
    own = pointed_to(body) is None  # any other pointer names a message that is kept already
    if own and not await hold(ports, "jobs", message_id, body):
        return []
    try:
        accepted = await _try(ports, body, message_id)
    except _OUTAGE as error:
        if own:
            await wait(ports, "jobs", message_id, body, error)
        raise
    except Exception as error:
        log.exception("message %s is given up", message_id)
        if own:
            await bury(ports, "jobs", message_id, body, tries, error)
        return []
    if own:
        await ports.dead.forget(dead_id("jobs", message_id))
    return accepted


async def _try(ports: Ports, body: bytes, message_id: str) -> list[Accepted]:
    pointed = pointed_to(body)
    return await (_redriven(ports, pointed) if pointed else _each_message(ports, body, message_id))


async def _redriven(ports: Ports, dead_id: str) -> list[Accepted]:
    """Process a dead message again under its old id, so that it joins a job that it had started after all."""
    dead = await ports.dead.get(dead_id)
    if dead is None:
        log.info("%s was already processed", dead_id[:80])
        return []
    accepted = await _each_message(ports, body_of(ports.seal, dead), dead.message_id)
    await ports.dead.forget(dead.id)
    return accepted


async def _each_message(ports: Ports, body: bytes, message_id: str) -> list[Accepted]:
    accepted: list[Accepted] = []
    messages = await off_loop(len(body), read_message, body, ports.policy.limits)
    for index, message in enumerate(messages):
        accepted += await _handle(ports, message, f"{message_id}#{index}" if index else message_id)
    return accepted


async def _handle(ports: Ports, message: Message, key: str) -> list[Accepted]:
    if isinstance(message, ForeignEvent):
        if message.type == REJECTION:
            log.warning("an event of Slipway's own came back to the queue: send %s elsewhere", message.type)
        else:
            log.info("ignored an event of type %s", message.type)
        return []
    if isinstance(message, BlobWritten):
        return list((await blob_arrived(ports, message.container, message.name)).accepted)
    if isinstance(message, FolderRenamed):
        await folder_renamed(ports, message)
        return []
    if isinstance(message, JobsEnded):
        await jobs_ended(ports, message.job_ids)
        return []
    if isinstance(message, FolderLook):
        return list((await look_as_ordered(ports, message.folder, message.ticket, message.newest)).accepted)
    if isinstance(message, SweepExpansion):
        await expand(ports, message.sweep_id)
        return []
    return await _by_queue(ports, message, key)


async def _by_queue(ports: Ports, request: Request, key: str) -> list[Accepted]:
    """Accept a request from the queue.

    No caller waits for an answer here, so a taken key becomes a rejected record with a receipt.
    """
    request = request.known_by(request.key)
    # Another message with the same key is the same job, so it has to get the same name on the cluster.
    name = name_of_blob(request) or ("" if request.key else message_name(key))
    try:
        if request.envelope.sweep is not None:
            sweep = await sweep_requested(
                ports, request, door="queue", source="queue", key=f"message:{key}", name=name
            )
            return [sweep.rejected] if sweep.rejected is not None else []
        return [
            await request_arrived(
                ports, request, door="queue", source="queue", key=f"message:{key}", name=name
            )
        ]
    except KeyTaken as error:
        problem = refused("SW108", "/idempotencyKey", str(error), error.remedy)
        envelope = request.envelope.model_copy(update={"sweep": None})
        again = replace(request, key=None, envelope=envelope, problems=(*request.problems, problem))
        other_key = f"taken:{key}:{request.payload}"
        return [await request_arrived(ports, again, door="queue", source="queue", key=other_key, name=name)]
