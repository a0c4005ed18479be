"""From a plan of a folder to the candidate for `accept`: contents are read, the key and the name follow."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any

from shared.core.errors import Misuse
from shared.core.identity import job_id
from shared.core.job import Drop
from shared.core.ledger.entries import DropMemo
from shared.core.messages import digest
from shared.core.policy import Policy
from shared.core.ports import Blob, Ports
from shared.core.refusals import refused
from shared.intake.candidate import Candidate, key_of
from shared.intake.drops.plan import Plan
from shared.intake.message import Request, as_dropped, unused_key
from shared.jobspec import Problem, Source, read_envelope, read_through, sound_members

_SOURCE = "drop"


async def candidate_of_drop(
    ports: Ports, plan: Plan, door: str, memo: DropMemo | None, contents: dict[str, bytes] | None = None
) -> Candidate | None:
    """The candidate, each file at the version that was listed; None when one changed meanwhile.

    `contents` gets what was read.
    """
    contents = {} if contents is None else contents
    contents[plan.job.blob.name] = plan.job.raw
    if plan.envelope is not None and plan.around is not None:
        contents[plan.envelope.name] = plan.around
    hashes: dict[str, str] = {}
    too_large: list[Problem] = []
    crlf: set[str] = set()
    for blob in plan.files:  # one after the other: a script may be large
        try:
            content = contents.get(blob.name)
            if content is None:
                content = await _read(ports, plan, blob)
        except Misuse as error:
            hashes[blob.name] = f"etag:{blob.etag}"
            too_large.append(refused("SW107", "", str(error), error.remedy))
            continue
        if content is None:
            return None
        contents[blob.name] = content
        if b"\r\n" in content:
            crlf.add(blob.name)
        hashes[blob.name] = hashlib.sha256(content).hexdigest()
    candidate = _candidate(ports, plan, contents, hashes, tuple(too_large), door, memo)
    return replace(candidate, request=replace(candidate.request, crlf=frozenset(crlf)))


async def _read(ports: Ports, plan: Plan, blob: Blob) -> bytes | None:
    limit = ports.policy.max_document if blob is plan.envelope else ports.policy.max_script
    content = await ports.drops.read(blob.name, etag=blob.etag, limit=limit)
    return content.data if content else None


def _candidate(
    ports: Ports,
    plan: Plan,
    contents: dict[str, bytes],
    hashes: dict[str, str],
    too_large: tuple[Problem, ...],
    door: str,
    memo: DropMemo | None,
) -> Candidate:
    folder = plan.folder.rstrip("/")
    parts = folder.split("/") if folder else ["default"]
    # The envelope is not part of the key: adding it late starts no second run. Nor is a template: editing it
    # must not run every drop below it again.
    own = {blob.name: hashes[blob.name] for blob in plan.own_files}
    key = "|".join([ports.policy.drop_container, folder, *(f"{name}={own[name]}" for name in sorted(own))])
    request = as_dropped(plan.job.request)
    problems = (*request.problems, *plan.problems, *too_large)
    request = replace(request, payload=digest(own), problems=problems)
    if plan.envelope is not None and plan.envelope.name in contents:
        request = _with_envelope(ports.policy, plan.envelope, contents[plan.envelope.name], request)
    script = PurePosixPath(plan.script.name) if plan.script else None
    # The cache counts the generations of a path; they belong to this key only if the ids agree.
    hashed = key_of(_SOURCE, key)
    is_repeated = memo is not None and memo.job_id == job_id(hashed, memo.generation)
    return Candidate(
        door=door,
        source=_SOURCE,
        key=key,
        request=request,
        generation=memo.generation if memo is not None and is_repeated else 1,
        name=script.stem if script else parts[-1],
        experiment=parts[0],
        drop=Drop(
            container=ports.policy.drop_container,
            folder=folder,
            job_file=plan.job.blob.name,
            files=hashes,
            etags=plan.etags,
        ),
        script=script.name if script else None,
        modified=max(blob.modified for blob in plan.own_files),
    )


def _with_envelope(policy: Policy, blob: Blob, content: bytes, request: Request) -> Request:
    """The request with the envelope from `slipway.json`, which wins over a job.json that is a message itself.

    Its problems name the file.
    """
    around = Source(content, blob.name)
    document, problems = read_through(around, policy.limits)
    members: dict[str, Any] = {}
    if document is not None:
        envelope, envelope_problems = read_envelope(document, drop=True, limits=policy.limits)
        problems = (*problems, *envelope_problems)
        envelope = envelope or sound_members(document, envelope_problems)
        members = {name: getattr(envelope, name) for name in envelope.model_fields_set}
        if members.pop("idempotency_key", None) is not None:
            problems = (*problems, unused_key(""))
    file = PurePosixPath(blob.name).name
    located = (replace(one, message=f"{file}: {one.message}") for one in around.locate(problems))
    problems = (*request.problems, *located)
    envelope = request.envelope.model_copy(update=members)
    return replace(request, envelope=envelope, problems=problems, around=around)
