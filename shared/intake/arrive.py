"""arrive: pass on what came through the queue door or the blob trigger."""

from __future__ import annotations

import hashlib
import logging
from dataclasses import replace
from pathlib import PurePosixPath

from shared.core.caller import KEY_HOLDER, Caller
from shared.core.errors import EngineError, Misuse, Unavailable
from shared.core.identity import blob_name, message_name
from shared.core.job import Drop
from shared.core.job_sweeps.record import sweep_id
from shared.core.ledger.dead import dead_id
from shared.core.messages import FolderLook, JobsEnded, SweepExpansion, SweepPart
from shared.core.ports import Ports
from shared.core.refusals import key_taken, refused
from shared.intake.accept import Accepted, Candidate, accept, key_of
from shared.intake.dead_letter import body_of, bury, bury_poison, hold, pointed_to, put_off, wait
from shared.intake.drop import FolderResult, look_at_folder
from shared.intake.explain import explain
from shared.intake.explain_sweep import explain_sweep
from shared.intake.facts import cluster_for
from shared.intake.fetch import fetched
from shared.intake.folder import ignored, parent, unusable
from shared.intake.job_sweep import AcceptedSweep, accept_sweep, expand
from shared.intake.message import BlobWritten, ForeignEvent, Message, Request, read_message
from shared.intake.prepare import Draft, prepare
from shared.jobspec import JsonObject, has_errors
from shared.lifecycle.parts import sweep_part
from shared.lifecycle.push import job_of_record, jobs_ended, record_written

log = logging.getLogger(__name__)

#: Errors of storage, of a cluster or of the settings: the message itself may be right.
_OUTAGE = (Unavailable, EngineError, TimeoutError)
#: What `accept` says of a key that another payload has (HTTP 422).
_KEY_TAKEN = 422
#: How the keys begin that no sender chose: nothing else has them.
_KEYS_OF_DOORS = ("once:", "message:", "taken:")
#: For what is never recorded.
_NO_KEY = hashlib.sha256(b"validate").hexdigest()


async def blob_arrived(ports: Ports, container: str, name: str) -> FolderResult:
    """A blob was written. Only the drop container counts; answers can trigger nothing.

    In any container, the record of a run has its job looked at, and does nothing else.
    """
    if (job := job_of_record(name)) is not None:
        await record_written(ports, job)
        return FolderResult()
    if container != ports.policy.drop_container:
        log.info("ignored: %s is not the drop container", container[:63])
        return FolderResult()
    if ignored(name):
        if unusable(name):
            log.warning(
                "dropped file %r has a name that storage clients cannot request; rename it",
                name[:200],
            )
        return FolderResult()
    result = await look_at_folder(ports, parent(name))
    if result.waits:
        log.info("folder %r: %s", parent(name), result.waits)
    return result


async def message_arrived(ports: Ports, body: bytes, message_id: str, tries: int = 1) -> list[Accepted]:
    """One queue message; bad ones become rejected records, those that fail too often are kept as dead.

    Raises Unavailable, and any other error that makes the host try again.
    """
    if tries > ports.policy.message_tries:
        return await _last_try(ports, body, message_id, tries)
    return await _try(ports, body, message_id)


async def poison_arrived(ports: Ports, poison_id: str, body: bytes) -> None:
    """A copy of a message, or of a blob's, that the host gave up, maybe for nothing but an outage.

    What names a blob is looked at, which may be repeated. Anything else has lost its id, and is kept as dead.
    """
    messages = read_message(body, ports.policy.limits)
    if not (messages and all(isinstance(message, BlobWritten) for message in messages)):
        await bury_poison(ports, "jobs", poison_id, body)
        return
    try:
        await _each_message(ports, body, poison_id)
    except _OUTAGE as error:
        await put_off(ports, "jobs", poison_id, body, error)
    except Exception:
        log.exception("poison message %s still fails", poison_id)
        await bury_poison(ports, "jobs", poison_id, body)


async def _last_try(ports: Ports, body: bytes, message_id: str, tries: int) -> list[Accepted]:
    """Try once more: all earlier tries may have met an outage, which is no reason to give up a message."""
    own = pointed_to(body) is None  # what any other one points to is kept already
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
    accepted = await _each_message(ports, body_of(ports, dead), dead.message_id)
    await ports.dead.forget(dead.id)
    return accepted


async def _each_message(ports: Ports, body: bytes, message_id: str) -> list[Accepted]:
    accepted: list[Accepted] = []
    for index, message in enumerate(read_message(body, ports.policy.limits)):
        accepted += await _handle(ports, message, f"{message_id}#{index}" if index else message_id)
    return accepted


async def request_arrived(
    ports: Ports,
    request: Request,
    *,
    door: str,
    source: str,
    key: str,
    name: str = "",
    who: Caller = KEY_HOLDER,
) -> Accepted:
    """Accept a request for a job at any door; fetch its document if the request only names it."""
    if request.envelope.sweep is not None:
        raise Misuse("this asks for a sweep of jobs", remedy="send it to POST /api/sweeps, or to the queue")
    candidate = await _candidate(ports, request, door=door, source=source, key=key, name=name, who=who)
    if not candidate.key.startswith(_KEYS_OF_DOORS):
        identity = sweep_id(key_of(source, candidate.key))
        if await ports.job_sweeps.get(identity) is not None:
            raise key_taken(f"the sweep {identity}")
    return await accept(ports, candidate)


async def sweep_requested(
    ports: Ports,
    request: Request,
    *,
    door: str,
    source: str,
    key: str,
    name: str = "",
    who: Caller = KEY_HOLDER,
) -> AcceptedSweep:
    """Accept a request for a job sweep; one that has problems becomes a rejected job."""
    candidate = await _candidate(ports, request, door=door, source=source, key=key, name=name, who=who)
    if candidate.request.envelope.sweep is not None:
        return await accept_sweep(ports, candidate)
    if not has_errors(candidate.request.problems):
        raise Misuse("there is no sweep in it", remedy='add "sweep", or send it to POST /api/jobs')
    return AcceptedSweep(None, await accept(ports, candidate))


async def _candidate(
    ports: Ports, request: Request, *, door: str, source: str, key: str, name: str, who: Caller
) -> Candidate:
    request = await fetched(ports, request, who=who)
    name = name or _blob_name(request)
    return Candidate(door=door, source=source, key=request.key or key, request=request, name=name)


async def request_validated(ports: Ports, request: Request, who: Caller = KEY_HOLDER) -> Draft:
    """The problems of a request. Does nothing else."""
    request = await fetched(ports, request, who=who)
    return prepare(ports, request, key=_NO_KEY, cluster=await cluster_for(ports, request))


async def request_explained(
    ports: Ports,
    request: Request,
    *,
    source: str,
    key: str | None,
    drop: Drop | None = None,
    script: str = "",
    who: Caller = KEY_HOLDER,
) -> JsonObject:
    """What a request would do. With `drop`, what the document would do as the job file of that folder."""
    request = await fetched(ports, request, folder=drop.folder if drop else "", who=who)
    key = request.key or key
    candidate = Candidate(
        door="drop" if drop else "http",
        source="drop" if drop else source,
        key=key or "",
        request=request,
        name=PurePosixPath(script or drop.folder).stem if drop else _blob_name(request),
        experiment=drop.folder.partition("/")[0] if drop else "",
        drop=drop,
        script=script or None,
    )
    if request.envelope.sweep is not None:
        return await explain_sweep(ports, candidate, keyed=key is not None)
    # The id of a dropped job follows from the content of its scripts, which this message does not have.
    return await explain(ports, candidate, keyed=key is not None and drop is None)


async def _handle(ports: Ports, message: Message, key: str) -> list[Accepted]:
    if isinstance(message, ForeignEvent):
        log.info("ignored an event of type %s", message.type)
        return []
    if isinstance(message, BlobWritten):
        return list((await blob_arrived(ports, message.container, message.name)).accepted)
    if isinstance(message, JobsEnded):
        await jobs_ended(ports, message.job_ids)
        return []
    if isinstance(message, SweepPart):
        await sweep_part(ports, message)
        return []
    if isinstance(message, FolderLook):
        return list((await look_at_folder(ports, message.folder, sent_for=message.newest)).accepted)
    if isinstance(message, SweepExpansion):
        await expand(ports, message.sweep_id)
        return []
    return await _by_queue(ports, message, key)


async def _by_queue(ports: Ports, request: Request, key: str) -> list[Accepted]:
    """No caller waits for an answer here, so a key that is taken becomes a rejected record with a receipt."""
    # Another message with the same key is the same job, so it has to get the same name on the cluster.
    name = _blob_name(request) or ("" if request.key else message_name(key))
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
    except Misuse as error:
        if error.status != _KEY_TAKEN:
            raise
        problem = refused("SW108", "/idempotencyKey", str(error), error.remedy)
        envelope = request.envelope.model_copy(update={"sweep": None})
        again = replace(request, key=None, envelope=envelope, problems=(*request.problems, problem))
        other_key = f"taken:{key}:{request.payload}"
        return [await request_arrived(ports, again, door="queue", source="queue", key=other_key, name=name)]


def _blob_name(request: Request) -> str:
    return blob_name(request.envelope.spec_blob or "")
