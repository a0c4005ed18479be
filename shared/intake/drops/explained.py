"""explained: what would happen to the runs of a dropped folder. Records nothing."""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass, replace

from shared.core.ports import Ports
from shared.intake.candidate import Candidate
from shared.intake.desk.draft import draft_of
from shared.intake.desk.fetch import with_document
from shared.intake.drops.contents import Whole, all_files, files_in, of_teams, too_many, with_cold
from shared.intake.drops.dropped import candidate_of_drop
from shared.intake.drops.folder import plans
from shared.intake.drops.freeze import Freezer
from shared.intake.drops.plan import Plan
from shared.intake.explanation.explain import explain
from shared.intake.explanation.explain_text import markdown
from shared.intake.receipt_path import receipt_path
from shared.jobspec import JsonObject
from shared.lifecycle.current_teams import readable_beside

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Explanations:
    """An explanation of each run of a folder, or what the folder waits for."""

    bodies: tuple[JsonObject, ...] = ()
    waits: str = ""


async def explain_folder(ports: Ports, folder: str, *, live: bool) -> Explanations:
    """Explain each run of a folder. Writes nothing."""
    files = await files_in(ports, folder)
    if files is None:
        return Explanations(waits=too_many(ports))
    folder_plans = await plans(ports, folder, files.blobs, deeper=files.deeper)
    every = await all_files(ports.drops, folder, files) if folder_plans.runs else Whole([])
    whole = of_teams(every, await readable_beside(ports, folder))
    runs = with_cold(folder_plans, whole.blobs).runs
    freezer = Freezer(ports, whole, runs)
    explained = [await _explained(ports, plan, freezer, live=live) for plan in runs]
    return Explanations(tuple(body for body in explained if body is not None), folder_plans.waits)


async def put_explanation(ports: Ports, plan: Plan, freezer: Freezer) -> str | None:
    """Write the explanation of a run into the container of receipts.

    Returns its folder; None when a file changed while it was read.
    """
    body = await _explained(ports, plan, freezer, live=True)
    if body is None:
        return None
    path = receipt_path(plan.folder, body["job"]["name"])
    text = json.dumps(body, indent=2, ensure_ascii=False) + "\n"
    await ports.drops.put_receipt_file(f"{path}/explain.json", text.encode(), replace=True)
    await ports.drops.put_receipt_file(f"{path}/explain.md", markdown(body).encode(), replace=True)
    log.info("explained %s", path)
    return path


async def _explained(ports: Ports, plan: Plan, freezer: Freezer, *, live: bool) -> JsonObject | None:
    memo = await ports.ledger.drop_memo(plan.path) if live else None
    candidate = await candidate_of_drop(ports, plan, "drop", memo)
    if candidate is None:
        return None
    if not live:  # the folder stands for the container, from which the rest is looked up
        candidate = replace(candidate, request=await with_document(ports, candidate))
    else:
        candidate = await with_its_document(ports, candidate)
    candidate = freezer.foreseen(plan, candidate)
    return await explain(ports, await draft_of(ports, candidate, live=live), live=live)


async def with_its_document(ports: Ports, candidate: Candidate) -> Candidate:
    """The candidate with the document of its `specBlob`, which may mount what it runs itself.

    Without one that can be read it stays as it is: the desk looks again, and says why.
    """
    request = await with_document(ports, candidate)
    return candidate if request.document is None else replace(candidate, request=request)
