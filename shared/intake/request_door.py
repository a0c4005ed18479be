"""request_door: accepts, validates or explains one request from any door."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import PurePosixPath

from shared.core.caller import KEY_HOLDER, Caller
from shared.core.errors import Misuse
from shared.core.identity import blob_name
from shared.core.job import Drop
from shared.core.job_sweeps.record import sweep_id
from shared.core.ports import Blob, Ports
from shared.core.refusals import key_taken
from shared.intake.accept import Accepted, job_to_join, record
from shared.intake.candidate import Candidate
from shared.intake.desk.draft import Draft, draft_of
from shared.intake.desk.prepare import Prepared
from shared.intake.drops.explained import with_its_document
from shared.intake.drops.freeze import foreseen_alone
from shared.intake.drops.named_folder import freeze_folder, with_folder
from shared.intake.explanation.explain import explain
from shared.intake.explanation.explain_sweep import explain_sweep
from shared.intake.job_sweep import AcceptedSweep, record_sweep, sweep_to_join
from shared.intake.message import Request, as_dropped
from shared.jobspec import JsonObject, has_errors

#: The prefixes of keys that no sender chose; no other key begins like them.
_KEYS_OF_DOORS = ("once:", "message:", "taken:")


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
    """Accept a request for a job from any door; fetch its document if the request only names it."""
    if request.envelope.sweep is not None:
        raise Misuse("this asks for a sweep of jobs", remedy="send it to POST /api/sweeps, or to the queue")
    candidate = _candidate(request, door=door, source=source, key=key, name=name, who=who)
    if not candidate.key.startswith(_KEYS_OF_DOORS):
        identity = sweep_id(candidate.place.key)
        if await ports.job_sweeps.get(identity) is not None:
            raise key_taken(f"the sweep {identity}")
    looked = await with_folder(ports, candidate)
    draft = await draft_of(ports, looked.candidate)
    if _freezes(draft) and (joined := await job_to_join(ports, draft.candidate)) is not None:
        return joined
    return await record(ports, await _with_frozen_code(ports, draft, looked.files))


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
    candidate = _candidate(request, door=door, source=source, key=key, name=name, who=who)
    is_sweep = request.envelope.sweep is not None
    # The content of a blob is a part of the payload, so it is read first.
    is_complete = is_sweep and not request.envelope.spec_blob
    if is_complete and (joined := await sweep_to_join(ports, candidate)) is not None:
        return joined
    looked = await with_folder(ports, candidate)
    draft = await draft_of(ports, looked.candidate)
    if is_sweep:
        if _freezes(draft) and (joined := await sweep_to_join(ports, draft.candidate)) is not None:
            return joined
        return await record_sweep(ports, await _with_frozen_code(ports, draft, looked.files))
    if not has_errors(draft.candidate.request.problems):
        raise Misuse("there is no sweep in it", remedy='add "sweep", or send it to POST /api/jobs')
    return AcceptedSweep(None, await record(ports, draft))


async def _draft(ports: Ports, candidate: Candidate) -> Draft:
    return await draft_of(ports, (await with_folder(ports, candidate)).candidate)


def _freezes(draft: Draft) -> bool:
    """Whether it may run, and its code is a folder, which is read and stored before it is recorded."""
    code = draft.candidate.request.code
    return draft.prepared.valid and code is not None and code.origin == "folder"


async def _with_frozen_code(ports: Ports, draft: Draft, files: Mapping[str, Blob]) -> Draft:
    if not _freezes(draft):
        return draft
    return replace(draft, candidate=await freeze_folder(ports, draft.candidate, files))


def _candidate(request: Request, *, door: str, source: str, key: str, name: str, who: Caller) -> Candidate:
    name = name or name_of_blob(request)
    return Candidate(door=door, source=source, key=request.key or key, request=request, who=who, name=name)


async def request_validated(ports: Ports, request: Request, who: Caller = KEY_HOLDER) -> Prepared:
    """The problems of a request. Has no other effect."""
    candidate = Candidate(door="http", source=who.source, key="", request=request, who=who)
    return (await _draft(ports, candidate)).prepared


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
    """Explain a request. With `drop`, explain the document as the job file of that folder."""
    request = as_dropped(request) if drop else request
    key = request.key or key
    candidate = Candidate(
        door="drop" if drop else "http",
        source="drop" if drop else source,
        key=key or "",
        request=request,
        who=who,
        name=PurePosixPath(script or drop.folder).stem if drop else name_of_blob(request),
        experiment=drop.folder.partition("/")[0] if drop else "",
        drop=drop,
        script=script or None,
    )
    if drop is not None:
        candidate = foreseen_alone(ports, await with_its_document(ports, candidate))
    draft = await _draft(ports, candidate)
    if request.envelope.sweep is not None:
        return await explain_sweep(ports, draft, keyed=key is not None)
    # The id of a dropped job follows from the content of its scripts, which this message does not have.
    return await explain(ports, draft, keyed=key is not None and drop is None)


def name_of_blob(request: Request) -> str:
    """The name that a request for a stored document gets from its blob, or ""."""
    return blob_name(request.envelope.spec_blob or "")
