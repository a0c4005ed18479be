"""The part of the HTTP API that changes jobs while they wait: their priority, and whether they may start."""

from __future__ import annotations

from typing import TYPE_CHECKING

import azure.functions as func

from functions.caller import caller
from functions.openapi.elements import PRIORITY, text
from functions.openapi.operation import operation
from functions.problem import Reply, answer
from functions.process import ports

if TYPE_CHECKING:
    from shared.answers.job import JobDetail
    from shared.core.job import Stored

blueprint = func.Blueprint()  # type: ignore[no-untyped-call]


@operation(
    blueprint,
    "POST",
    "jobs/{id}/priority",
    refused=(404, 409, 410, 413),
    body=PRIORITY,
)
async def set_job_priority(req: func.HttpRequest) -> Reply[JobDetail]:
    """Change the priority of a job that waits.

    It counts [in its team's line](../how-to/change-a-waiting-job.md), and from its next attempt
    on its cluster. 409 for a job that a cluster has in its queue, that runs or has ended, and where the
    cluster does not have that priority.
    """
    from functions.document import document_in
    from shared.operate.waiting.priority import priority_of, set_priority

    app = ports()
    priority = priority_of(await document_in(req, app.policy.limits))
    return await _as_it_stands(await set_priority(app, req.route_params["id"], priority, caller()))


@operation(
    blueprint,
    "POST",
    "jobs/{id}/pause",
    refused=(404, 409, 410),
    query=(text("reason", "shown with the job"),),
)
async def pause_job(req: func.HttpRequest) -> Reply[JobDetail]:
    """Pause a job that waits.

    It is not submitted until it is resumed, and meanwhile has no part of its team's quota. 409 for a job that
    a cluster has in its queue, that runs or has ended. One that is paused stays as it is.
    """
    from shared.operate.waiting.pause import pause_job as pause

    reason = req.params.get("reason", "")
    return await _as_it_stands(await pause(ports(), req.route_params["id"], reason, caller()))


@operation(blueprint, "POST", "jobs/{id}/resume", refused=(404, 410))
async def resume_job(req: func.HttpRequest) -> Reply[JobDetail]:
    """Resume a job that was paused.

    The next pass submits it, if nothing else holds it. One that is not paused stays as it is.
    """
    from shared.operate.waiting.pause import resume_job as resume

    return await _as_it_stands(await resume(ports(), req.route_params["id"], caller()))


async def _as_it_stands(stored: Stored) -> Reply[JobDetail]:
    from shared.core.view import whole
    from shared.operate.common_waits import as_they_stand

    (job,) = await as_they_stand(ports(), [stored.job])
    return answer(whole(job))
