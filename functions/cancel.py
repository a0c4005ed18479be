"""The part of the HTTP API that ends jobs, and holds of nodes: of one, of all that fit, of a sweep."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import azure.functions as func

from functions.caller import caller
from functions.openapi.conditions import CANCELLATION
from functions.openapi.elements import KEY
from functions.openapi.operation import operation
from functions.problem import Reply, answer, problem
from functions.process import ports

if TYPE_CHECKING:
    from shared.answers.cancelled import CancelledJobs
    from shared.answers.job import JobDetail
    from shared.answers.job_sweep import SweepDetail
    from shared.core.job import Stored

blueprint = func.Blueprint()  # type: ignore[no-untyped-call]


@operation(blueprint, "POST", "jobs/{id}/cancel", answered=(202, 200), refused=(404, 410))
async def cancel_job(req: func.HttpRequest) -> Reply[JobDetail]:
    """Cancel a job.

    202, or 200 if it has ended.
    """
    from shared.operate.ends.cancel import cancel

    return await _asked_to_end(await cancel(ports(), req.route_params["id"], caller()))


@operation(blueprint, "POST", "jobs/{id}/release", answered=(202, 200), refused=(404, 409, 410))
async def release_job(req: func.HttpRequest) -> Reply[JobDetail]:
    """Give back the nodes that a failed job keeps.

    202, or 200 if it has ended; 409 for a job that does not
    [keep its nodes](../how-to/keep-a-failed-job.md). Its end is that of its command, as after a cancellation.
    """
    from shared.operate.ends.release import release

    return await _asked_to_end(await release(ports(), req.route_params["id"], caller()))


async def _asked_to_end(stored: Stored) -> Reply[JobDetail]:
    """A job whose end was asked for: 200 if it has ended, or 202."""
    from shared.core.view import whole
    from shared.operate.common_waits import as_they_stand

    (job,) = await as_they_stand(ports(), [stored.job])
    return answer(whole(job), 200 if job.state.terminal else 202)


@operation(
    blueprint,
    "POST",
    "jobs/cancel",
    answered=(202, 200),
    refusals={409: "OtherNumber"},
    refused=(413,),
    headers=(KEY,),
    body=CANCELLATION,
)
async def cancel_jobs(req: func.HttpRequest) -> Reply[CancelledJobs]:
    """Cancel all jobs that fit.

    409 with the `number` of those that fit, if another one is `expected`, or if it is more than 500. The
    answer has the `jobs` whose ends were asked for, and the `refused` ones with the reason; each needs the
    rights of `cancel_job`. With the same `Idempotency-Key`, a repetition counts the jobs of the first try,
    too. 202, or 200 if all have ended.
    """
    from functions.document import document_in, key_of
    from shared.operate.ends import cancel_jobs as many

    app, who = ports(), caller()
    request = many.request_of(await document_in(req, app.policy.limits))
    selection = await many.select(app, request, who, request.code(who, key_of(req, None)))
    if (number := len(selection.jobs)) > many.MOST:
        detail = f"{number} jobs fit, and one request cancels at most {many.MOST}"
        return problem(409, detail, many.FEWER, number=number)
    if not selection.agrees(request.expected):
        return _other_number(number, request.expected)
    result = await many.end(app, selection, who)
    reply = answer(many.shown(result), 200 if all(job.state.terminal for job in result.jobs) else 202)
    reply.subject, reply.teams = f"{request}: {len(result.jobs)} jobs", result.teams
    return reply


def _other_number(number: int, expected: int) -> Reply[Any]:
    remedy = "list them again (GET /api/jobs), and send their number"
    return problem(409, f"{number} jobs fit, and {expected} were expected", remedy, number=number)


@operation(blueprint, "POST", "sweeps/{id}/cancel", answered=(202, 200), refused=(404,))
async def cancel_sweep(req: func.HttpRequest) -> Reply[SweepDetail]:
    """Cancel all jobs of a sweep.

    202, or 200 if all have ended. Jobs for which one request has no time end by the timer.
    """
    from shared.core.job_sweeps.view import summary
    from shared.operate import job_sweeps

    sweep = await job_sweeps.cancel_sweep(ports(), req.route_params["id"], caller())
    return answer(summary(sweep), 200 if sweep.ended else 202)
