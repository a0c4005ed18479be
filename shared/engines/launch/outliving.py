"""The members of a plan for what outlives a run: its saved directory, and uploads to a container. Pure."""

from __future__ import annotations

from typing import Any

from shared.core.engine import Order
from shared.core.relations.contents import saved_id
from shared.engines.launch.site import Site
from shared.engines.launch.steps import Steps
from shared.engines.node.saved.program import FILL, FINISH_SAVED, WRITE_BACK


def saved(steps: Steps, order: Order) -> dict[str, Any] | None:
    """The directory that outlives the attempts; where each node has one, how it is filled and saved."""
    site, attempt = steps.site, order.target.token.rpartition(".")[2]
    if not site.generations:
        return {"path": site.saved} if site.saved else None
    return {
        "path": site.saved,
        "id": saved_id(order.document["properties"]),
        "attempt": int(attempt) if attempt.isdecimal() else len(order.earlier),
        "fill": [steps.saving(FILL)],
        "finish": [steps.saving(FINISH_SAVED)],
    }


def write_back(steps: Steps) -> list[dict[str, Any]]:
    """The step that writes the saved directory of each node back while the job runs; none without one."""
    return [steps.saving(WRITE_BACK, service=True)] if steps.site.generations else []


def uploads(site: Site, steps: Steps) -> dict[str, Any]:
    """How what a run wrote is uploaded at its end; empty where nodes share a directory."""
    if not site.keep:
        return {}
    uploads = {
        "keep": steps.keeping("finish"),
        "journals": steps.keeping("logs", first=True),
        "shares": list(site.shares),
        "remove": steps.removing(),
    }
    return {"uploads": uploads}
