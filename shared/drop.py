"""drop: a folder of the drop container becomes jobs once it is complete and quiet.

A blob's event, a delayed look and the inventory all end here; whoever comes first records the job, the others
join it. Files may arrive in any order.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import PurePosixPath

from shared.accept import Accepted, Arrived, accept
from shared.folder import Plan, ignored, plans
from shared.job import Drop
from shared.message import Request, digest, look_message
from shared.ports import Blob, Ports, Seen
from shared.spec import Envelope, read, read_envelope

#: The queue for delayed looks, which is the queue of job messages.
QUEUE = "jobs"


@dataclass(frozen=True)
class Looked:
    """What a look at a folder found: jobs, or what it waits for."""

    accepted: tuple[Accepted, ...] = ()
    waits: str = ""


async def look(
    ports: Ports, folder: str, *, ordered_for: datetime | None = None, door: str = "drop"
) -> Looked:
    """Accept what is complete in a folder (its name ends with a slash, or is empty at the top).

    A folder that is not quiet orders a delayed look for its youngest file. `ordered_for` is set by such
    a look: when it finds a still younger file, that file's own look will come.
    """
    blobs = [blob for blob in await ports.drops.list(folder, deep=False) if not ignored(blob.name)]
    found = await plans(ports, folder, blobs)
    if isinstance(found, str):
        return Looked(waits=found)
    if not found:
        return Looked()
    newest = max(blob.modified for plan in found for blob in plan.files)
    # Last-Modified has whole seconds: a file may be up to a second younger than it says.
    wait = (newest + timedelta(seconds=ports.policy.settle + 1) - ports.clock()).total_seconds()
    if wait > 0:
        if ordered_for is None or newest <= ordered_for:
            await ports.queues.send(QUEUE, look_message(folder, newest), delay=min(wait, 3600.0))
        return Looked(waits=f"settles for {ports.policy.settle:g} s")
    accepted = await asyncio.gather(*(_accept(ports, plan, blobs, door) for plan in found))
    return Looked(tuple(one for one in accepted if one is not None))


async def _accept(ports: Ports, plan: Plan, blobs: Sequence[Blob], door: str) -> Accepted | None:
    seen = await ports.ledger.seen(plan.path)
    etags = {blob.name: blob.etag for blob in (*blobs, *plan.files)}
    if seen is not None and all(seen.etags.get(b.name) == b.etag for b in plan.files):
        stored = await ports.ledger.get(seen.job_id) if seen.job_id else None
        if stored is not None:
            if dict(seen.etags) != etags:
                await ports.ledger.remember(replace(seen, etags=etags))
            return Accepted(stored.job, created=False)
    hashes = await _hashes(ports, plan)
    if hashes is None:
        return None  # a file changed while it was read: its own event, or the inventory, looks again
    arrived = await _arrived(ports, plan, hashes, door, seen.generation if seen else 1)
    accepted = await accept(ports, arrived)
    await ports.ledger.remember(Seen(plan.path, etags, accepted.job.id, accepted.job.generation))
    if seen is not None and seen.waiting:
        await ports.drops.drop_answer(f"{plan.folder}waiting.json")
    return accepted


async def _arrived(ports: Ports, plan: Plan, hashes: dict[str, str], door: str, generation: int) -> Arrived:
    folder = plan.folder.rstrip("/")
    parts = folder.split("/") if folder else ["default"]
    # The envelope is no part of the key: who adds it late does not start a second run.
    content = {b.name: hashes[b.name] for b in (plan.job.blob, *plan.scripts)}
    key = "|".join([ports.policy.drop_container, folder, *(f"{n}={content[n]}" for n in sorted(content))])
    request = Request(
        Envelope(), plan.job.document, digest(content), problems=(*plan.job.problems, *plan.problems)
    )
    if plan.envelope is not None:
        request = await _with_envelope(ports, plan.envelope, request)
    script = PurePosixPath(plan.script.name) if plan.script else None
    return Arrived(
        door=door,
        scope="drop",
        key=key,
        request=request,
        generation=generation,
        name=script.stem if script else parts[-1],
        experiment=parts[0],
        drop=Drop(
            container=ports.policy.drop_container,
            folder=folder,
            job_file=plan.job.blob.name,
            files=hashes,
            etags={b.name: b.etag for b in plan.files},
        ),
        script=script.name if script else None,
        modified=max(blob.modified for blob in plan.files),
    )


async def _with_envelope(ports: Ports, blob: Blob, request: Request) -> Request:
    """The request with `slipway.json` read into it; its problems name the file."""
    content = await ports.drops.read(blob.name, etag=blob.etag, limit=ports.policy.max_document)
    document, problems = read(content[0], ports.policy.limits) if content else (None, ())
    envelope = None
    if document is not None:
        envelope, problems = read_envelope(document, drop=True)
    placed = tuple(replace(p, message=f"{PurePosixPath(blob.name).name}: {p.message}") for p in problems)
    return replace(request, envelope=envelope or Envelope(), problems=(*request.problems, *placed))


async def _hashes(ports: Ports, plan: Plan) -> dict[str, str] | None:
    """SHA-256 of every file that makes the run, each as listed; None when one changed meanwhile."""

    async def one(blob: Blob) -> tuple[str, str] | None:
        if blob is plan.job.blob:
            return blob.name, hashlib.sha256(plan.job.raw).hexdigest()
        content = await ports.drops.read(blob.name, etag=blob.etag, limit=ports.policy.max_script)
        return (blob.name, hashlib.sha256(content[0]).hexdigest()) if content else None

    pairs = await asyncio.gather(*(one(blob) for blob in plan.files))
    known = [pair for pair in pairs if pair is not None]
    return dict(known) if len(known) == len(plan.files) else None
