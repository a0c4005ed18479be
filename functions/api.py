"""The HTTP API of jobs: submit, list, get; and of sweeps: submit. Every error is a problem document."""

from __future__ import annotations

import dataclasses
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar

import azure.functions as func

from functions.caller import caller
from functions.openapi.conditions import JOB_CONDITIONS
from functions.openapi.elements import (
    ENTRY,
    JOB_DOCUMENT,
    JOB_HEADERS,
    KEY,
    LIVE,
    RECEIPT_DOCUMENT,
    Parameter,
    text,
)
from functions.openapi.operation import operation
from functions.problem import Reply, answer, body_of, problem
from functions.process import ports
from shared.core.caller import SUBMIT
from shared.core.errors import Misuse

if TYPE_CHECKING:
    from shared.answers.entry import JobEntry
    from shared.answers.job import AcceptedJob, JobDetail, JobPage
    from shared.answers.job_sweep import AcceptedSweep
    from shared.answers.output import LiveJob
    from shared.core.job import Job
    from shared.intake.accept import Accepted

blueprint = func.Blueprint()  # type: ignore[no-untyped-call]
T = TypeVar("T")


async def _ask(req: func.HttpRequest, arrive: Callable[..., Awaitable[T]]) -> T:
    """The result of `arrive` for the document in a request."""
    from functions.document import document_of, key_of

    app, who = ports(), caller()
    request = await document_of(req, app.policy.limits)
    key, name = key_of(req, request.key), req.params.get("name", "")
    request = dataclasses.replace(request.known_by(key), key=None)
    key = key or f"once:{app.token()}"
    return await arrive(app, request, door="http", source=who.source, key=key, name=name, who=who)


@operation(
    blueprint,
    "POST",
    "jobs",
    needs=SUBMIT,
    answered=(202, 200),
    refused=(409, 413, 422, 429),
    query=(text("name", "the job's name where the document has none", "digits"),),
    headers=JOB_HEADERS,
    body=JOB_DOCUMENT,
)
async def post_job(req: func.HttpRequest) -> Reply[AcceptedJob]:
    """Submit a job.

    An envelope or a bare job.json, which gets the `name` if it has none of its own; 202 for a new job,
    200 for a duplicate of the same `Idempotency-Key`, 422 with every problem.
    """
    from shared.intake.request_door import request_arrived

    return _accepted_answer(await _ask(req, request_arrived))


@operation(
    blueprint,
    "POST",
    "jobs/{id}/rerun",
    needs=SUBMIT,
    answered=(202, 200),
    refused=(404, 409, 410, 413, 422, 429),
    query=(Parameter("resume", "go on from what the job saved", {"enum": ["true", "false"]}),),
    headers=(KEY,),
    body=RECEIPT_DOCUMENT,
)
async def rerun_job(req: func.HttpRequest) -> Reply[AcceptedJob]:
    """Run a job again, exactly as it ran, with the code that it ran.

    A receipt.json of the job is compared with what ran. 409 if a script has changed that it mounted; 403 if
    it has secrets of a team for which the caller may not submit. A job of a team that the caller is not in
    becomes one of their own team, and `notes` say so. Without an `Idempotency-Key` each request is a new job.
    With `resume`, it begins with a copy of what the job
    [saved](../how-to/go-on-from-a-checkpoint.md#in-another-job); 409 while that is active, or has nothing.
    """
    from functions.document import key_of
    from shared.core.pacing.off_loop import off_loop
    from shared.intake.rerun import rerun
    from shared.jobspec import read as parse

    app, who = ports(), caller()
    body, limits = body_of(req, optional=True), app.policy.limits
    limits = dataclasses.replace(limits, max_bytes=4 * limits.max_bytes)
    receipt, problems = await off_loop(len(body), parse, body, limits) if body else (None, ())
    if body and receipt is None:
        raise Misuse(
            f"the receipt cannot be read: {problems[0].message}", remedy="send receipt.json as it is"
        )
    key, resume = key_of(req, None) or f"once:{app.token()}", req.params.get("resume", "false")
    if resume not in ("true", "false"):
        raise Misuse(f"resume={resume[:20]!r} is neither true nor false", remedy="write ?resume=true")
    job_id, resumes = req.route_params["id"], resume == "true"
    return _accepted_answer(await rerun(app, job_id, receipt, who=who, key=key, resumes=resumes))


def _accepted_answer(accepted: Accepted) -> Reply[AcceptedJob]:
    from shared.core.job import JobState
    from shared.core.view import whole

    job = accepted.job
    if job.state is JobState.REJECTED:
        return _rejected(job)
    headers = {"Location": f"/api/jobs/{job.id}"}
    return answer({**whole(job), "notes": list(accepted.notes)}, 202 if accepted.created else 200, headers)


def _rejected(job: Job) -> Reply[Any]:
    """The refusal of a document that cannot run, with the job that records it."""
    return problem(
        422,
        job.message,
        "correct the problems below and send it again",
        jobId=job.id,
        errors=list(job.problems),
        receipt=f"runs/{job.receipt}/receipt.json",
    )


@operation(blueprint, "GET", "jobs", query=JOB_CONDITIONS)
async def get_jobs(req: func.HttpRequest) -> Reply[JobPage]:
    """List jobs, newest first.

    Those that the caller may see and that meet every condition; `next` leads to the next page of
    [the list](api.md#lists-of-jobs).
    """
    from shared.operate import listing
    from shared.operate.overview.lines import lines

    app = ports()
    page = await listing.jobs(app, req.params, caller())
    body = {"jobs": await lines(app, page.jobs), "next": page.next}
    return answer(body if page.searched_to is None else {**body, **listing.cut_at(page.searched_to)})


@operation(blueprint, "GET", "jobs/{id}", refused=(404, 410))
async def get_job(req: func.HttpRequest) -> Reply[JobDetail]:
    """Get a job with its history.

    Of one that waits also its `position` in line and its `expectedStart`, which may be half a minute old.
    """
    from shared.operate.detail import detail

    return answer(await detail(ports(), req.route_params["id"], caller()))


@operation(
    blueprint,
    "GET",
    "jobs/{id}/live",
    refused=(404, 410),
    query=LIVE,
)
async def get_live(req: func.HttpRequest) -> Reply[LiveJob]:
    """Get a job with the end of its log and its new numbers.

    For those who watch it: one request instead of three. With `after`, what was written since. Standard
    output comes with the standard error of the same process. Ask [at most every five
    seconds](api.md#watch-a-job); an answer that is the same is 304.
    """
    from shared.operate.files.live import live

    query = req.params
    after, file, attempt = (query.get(name, "") for name in ("after", "file", "attempt"))
    points = query.get("points", "")
    job_id = req.route_params["id"]
    return answer(await live(ports(), job_id, after, caller(), file=file, attempt=attempt, points=points))


@operation(blueprint, "POST", "jobs/{id}/entry", refused=(404, 409, 410, 413), body=ENTRY)
async def enter_job(req: func.HttpRequest) -> Reply[JobEntry]:
    """Learn where a process of a running job is, to enter it.

    Coordinates for a tool and rights of one's own, as `slipway shell` uses them. For those who may cancel the
    job. The job's history, its receipt and the trail say who asked. 409 where no process of it runs, and
    [where nothing may be entered](../how-to/enter-a-running-job.md).
    """
    from functions.document import visitor_of
    from shared.operate.entry import enter

    app = ports()
    rank, public_key = await visitor_of(req, app.policy.limits)
    entered = await enter(app, req.route_params["id"], rank, caller(), public_key)
    reply = answer(entered.answer)
    reply.detail = entered.detail
    return reply


@operation(
    blueprint,
    "POST",
    "sweeps",
    needs=SUBMIT,
    answered=(202, 200),
    refused=(409, 413, 422),
    query=(text("name", "the sweep's name where the document has none", "tune"),),
    headers=JOB_HEADERS,
    body=JOB_DOCUMENT,
)
async def post_sweep(req: func.HttpRequest) -> Reply[AcceptedSweep]:
    """Submit a sweep: a job of each combination of parameters.

    An envelope with [`sweep`](../how-to/run-a-sweep.md); 202, 200 for a duplicate, 422 with every problem.
    """
    from shared.core.job_sweeps.view import summary
    from shared.intake.request_door import sweep_requested

    result = await _ask(req, sweep_requested)
    if result.rejected is not None:
        return _rejected(result.rejected.job)
    sweep = result.accepted
    headers = {"Location": f"/api/sweeps/{sweep.id}"}
    body = {**summary(sweep), "notes": list(result.notes)}
    return answer(body, 202 if result.created else 200, headers)
