"""drop: a folder of the drop container becomes jobs once it is complete and quiet.

A blob's event, a delayed look and the inventory all end here; whoever comes first records the job, the others
join it. Files may arrive in any order.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from shared.accept import Accepted, accept
from shared.dropped import arrived_by_drop
from shared.explain import explain
from shared.explanation import markdown
from shared.folder import Plan, content_of, ignored, plans, waiting_path
from shared.message import look_message
from shared.ports import Blob, Ports, Seen
from shared.spec import JsonObject

log = logging.getLogger(__name__)

#: The queue for delayed looks, which is the queue of job messages.
QUEUE = "jobs"


@dataclass(frozen=True)
class Looked:
    """What a look at a folder found: jobs, or what it waits for."""

    accepted: tuple[Accepted, ...] = ()
    waits: str = ""
    #: folders of `runs` with an answer to a drop that is not to run
    explained: tuple[str, ...] = ()


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
    runs = [plan for plan in found if not plan.explains]
    accepted = await asyncio.gather(*(_accept(ports, plan, blobs, door) for plan in runs))
    explained = [await _answer(ports, plan) for plan in found if plan.explains]
    return Looked(
        tuple(one for one in accepted if one is not None),
        explained=tuple(place for place in explained if place is not None),
    )


async def explain_folder(ports: Ports, folder: str, *, look: bool) -> list[JsonObject] | str:
    """What each run of a folder would do, or what the folder waits for. Writes nothing."""
    blobs = [blob for blob in await ports.drops.list(folder, deep=False) if not ignored(blob.name)]
    found = await plans(ports, folder, blobs)
    if isinstance(found, str):
        return found
    explained = [await _explained(ports, plan, look=look) for plan in found]
    return [body for body in explained if body is not None]


async def _answer(ports: Ports, plan: Plan) -> str | None:
    """Explain a run instead of starting it. The ledger never hears of it, so nothing counts as done."""
    body = await _explained(ports, plan, look=True)
    if body is None:
        return None
    place = f"{plan.folder}{body['job']['name']}"
    text = json.dumps(body, indent=2, ensure_ascii=False) + "\n"
    await ports.drops.put_answer(f"{place}/explain.json", text.encode(), replace=True)
    await ports.drops.put_answer(f"{place}/explain.md", markdown(body).encode(), replace=True)
    log.info("explained %s", place)
    return place


async def _explained(ports: Ports, plan: Plan, *, look: bool) -> JsonObject | None:
    seen = await ports.ledger.seen(plan.path) if look else None
    arrived = await arrived_by_drop(ports, plan, "drop", seen)
    if arrived is None:
        return None
    return await explain(ports, arrived, look=look)


async def _accept(ports: Ports, plan: Plan, blobs: Sequence[Blob], door: str) -> Accepted | None:
    seen = await ports.ledger.seen(plan.path)
    content = content_of(blobs)
    if seen is not None and all(seen.etags.get(b.name) == b.etag for b in plan.own_files):
        stored = await ports.ledger.get(seen.job_id) if seen.job_id else None
        if stored is not None:
            if seen.content != content:
                await ports.ledger.remember(replace(seen, content=content))
            return Accepted(stored.job, created=False)
    arrived = await arrived_by_drop(ports, plan, door, seen)
    if arrived is None:
        return None  # a file changed while it was read: its own event, or the inventory, looks again
    accepted = await accept(ports, arrived)
    etags = {blob.name: blob.etag for blob in plan.files}
    job = accepted.job
    await ports.ledger.remember(
        Seen(plan.path, etags, job.id, job.generation, folder=plan.folder, content=content)
    )
    if accepted.created:
        await _no_longer_waiting(ports, plan.folder)
    return accepted


async def _no_longer_waiting(ports: Ports, folder: str) -> None:
    """Take the note away that said what the folder waits for."""
    waiting = await ports.ledger.seen(waiting_path(folder))
    if waiting is not None and waiting.waiting:
        await ports.drops.drop_answer(f"{folder}waiting.json")
        await ports.ledger.remember(replace(waiting, waiting=False))
