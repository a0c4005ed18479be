"""The HTTP API: submit jobs and sweeps, and query them. Every error is a problem document."""

from __future__ import annotations

import dataclasses
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

import azure.functions as func

from functions.caller import caller
from functions.problem import HEADERS, answer, api_route, body_of, problem
from functions.process import ports
from shared.core.caller import SUBMIT
from shared.core.errors import Misuse

if TYPE_CHECKING:
    from shared.core.job import Job
    from shared.intake.accept import Accepted


blueprint = func.Blueprint()  # type: ignore[no-untyped-call]
T = TypeVar("T")


async def _ask(req: func.HttpRequest, arrive: Callable[..., Awaitable[T]]) -> T:
    """The result of `arrive` for the document in a request, for a caller who may submit."""
    from functions.document import document_of, key_of

    app, who = ports(), caller()
    who.needs(SUBMIT)
    request = await document_of(req, app.policy.limits)
    key, name = key_of(req, request.key), req.params.get("name", "")
    request = dataclasses.replace(request.known_by(key), key=None)
    key = key or f"once:{app.token()}"
    return await arrive(app, request, door="http", source=who.source, key=key, name=name, who=who)


@blueprint.function_name("post_job")
@blueprint.route("jobs", methods=["POST"])
@api_route("name")
async def post_job(req: func.HttpRequest) -> func.HttpResponse:
    """Submit a job by envelope or bare job.json: 202 new, 200 a duplicate, 422 when it cannot run.

    ?name= is its name where the document has none.
    """
    from shared.intake.request_door import request_arrived

    return _accepted_answer(await _ask(req, request_arrived))


@blueprint.function_name("rerun_job")
@blueprint.route("jobs/{id}/rerun", methods=["POST"])
@api_route()
async def rerun_job(req: func.HttpRequest) -> func.HttpResponse:
    """Run a job again, by its receipt: answers like POST /api/jobs; 409 when a script has changed."""
    from functions.document import key_of
    from shared.core.pacing.off_loop import off_loop
    from shared.intake.rerun import rerun
    from shared.jobspec import read as parse

    app, who = ports(), caller()
    who.needs(SUBMIT)
    body, limits = body_of(req), app.policy.limits
    limits = dataclasses.replace(limits, max_bytes=4 * limits.max_bytes)
    receipt, problems = await off_loop(len(body), parse, body, limits)
    if receipt is None:
        raise Misuse(
            f"the receipt cannot be read: {problems[0].message}", remedy="send receipt.json as it is"
        )
    key = key_of(req, None) or f"once:{app.token()}"
    return _accepted_answer(await rerun(app, req.route_params["id"], receipt, who=who, key=key))


def _accepted_answer(accepted: Accepted) -> func.HttpResponse:
    from shared.core.job import JobState
    from shared.core.view import whole

    job = accepted.job
    if job.state is JobState.REJECTED:
        return _rejected(job)
    headers = {"Location": f"/api/jobs/{job.id}"}
    return answer({**whole(job), "notes": list(accepted.notes)}, 202 if accepted.created else 200, headers)


def _rejected(job: Job) -> func.HttpResponse:
    """The refusal of a document that cannot run, with the job that records it."""
    return problem(
        422,
        job.message,
        "correct the problems below and send it again",
        jobId=job.id,
        errors=list(job.problems),
        receipt=f"runs/{job.receipt}/receipt.json",
    )


@blueprint.function_name("get_jobs")
@blueprint.route("jobs", methods=["GET"])
@api_route(
    "state",
    "name",
    "experiment",
    "label",
    "cluster",
    "source",
    "owner",
    "team",
    "sweep",
    "since",
    "limit",
    "after",
)
async def get_jobs(req: func.HttpRequest) -> func.HttpResponse:
    """Jobs, newest first: ?state=active|succeeded,failed… &since=2h &limit=50 &after=<next>, and so on."""
    from shared.core.view import line
    from shared.operate import listing
    from shared.operate.waits import as_they_stand

    app = ports()
    page = await listing.jobs(app, req.params, caller())
    body = {"jobs": [line(job) for job in await as_they_stand(app, page.jobs)], "next": page.next}
    return answer({**body, "note": listing.CUT} if page.cut else body)


@blueprint.function_name("get_job")
@blueprint.route("jobs/{id}", methods=["GET"])
@api_route()
async def get_job(req: func.HttpRequest) -> func.HttpResponse:
    """One job with its problems and its history."""
    from shared.core.view import whole
    from shared.lifecycle import lookup
    from shared.operate.waits import as_it_stands

    app = ports()
    stored = await lookup.job(app, req.route_params["id"], caller())
    job = await as_it_stands(app, stored.job)
    return answer(whole(job))


@blueprint.function_name("cancel_job")
@blueprint.route("jobs/{id}/cancel", methods=["POST"])
@api_route()
async def cancel_job(req: func.HttpRequest) -> func.HttpResponse:
    """Cancel a job; 202, or 200 when it has ended already."""
    from shared.core.view import whole
    from shared.operate.cancel import cancel
    from shared.operate.waits import as_they_stand

    app = ports()
    stored = await cancel(app, req.route_params["id"], caller())
    (job,) = await as_they_stand(app, [stored.job])
    return answer(whole(job), 200 if job.state.terminal else 202)


@blueprint.function_name("post_sweep")
@blueprint.route("sweeps", methods=["POST"])
@api_route("name")
async def post_sweep(req: func.HttpRequest) -> func.HttpResponse:
    """Submit a job for each combination: 202 new, 200 a duplicate, 422 when they cannot run.

    ?name= is the name where the document has none.
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


@blueprint.function_name("get_sweep")
@blueprint.route("sweeps/{id}", methods=["GET"])
@api_route()
async def get_sweep(req: func.HttpRequest) -> func.HttpResponse:
    """One sweep: its parameters, and how many of its jobs wait, work and have ended."""
    from shared.core.job_sweeps.view import summary
    from shared.operate.job_sweeps import job_sweep

    stored = await job_sweep(ports(), req.route_params["id"], caller())
    return answer(summary(stored.sweep))


@blueprint.function_name("cancel_sweep")
@blueprint.route("sweeps/{id}/cancel", methods=["POST"])
@api_route()
async def cancel_sweep(req: func.HttpRequest) -> func.HttpResponse:
    """Cancel every job of a sweep; 202, or 200 when all have ended already."""
    from shared.core.job_sweeps.view import summary
    from shared.operate import job_sweeps

    sweep = await job_sweeps.cancel_sweep(ports(), req.route_params["id"], caller())
    return answer(summary(sweep), 200 if sweep.ended else 202)


@blueprint.function_name("validate")
@blueprint.route("validate", methods=["POST"])
@api_route()
async def validate(req: func.HttpRequest) -> func.HttpResponse:
    """The problems of a document, without running anything: always 200, with the result in `valid`."""
    from functions.document import document_of, key_of
    from shared.intake.request_door import request_validated
    from shared.jobspec import report

    app = ports()
    request = await document_of(req, app.policy.limits)
    draft = await request_validated(app, request.known_by(key_of(req, request.key)), caller())
    return answer(report.as_json(draft.problems, valid=draft.valid, notes=draft.notes))


@blueprint.function_name("explain")
@blueprint.route("explain", methods=["POST"])
@api_route("folder", "script", "format")
async def explain(req: func.HttpRequest) -> func.HttpResponse:
    """What would happen, without running anything: ?folder= &script= for a drop, ?format=markdown."""
    from functions.document import document_of, key_of
    from shared.core.job import Drop
    from shared.intake.explanation.explain_text import markdown
    from shared.intake.request_door import request_explained

    app, who = ports(), caller()
    if (form := req.params.get("format", "json")) not in ("json", "markdown"):
        raise Misuse(f"there is no format {form[:40]!r}", remedy="use json or markdown")
    request = await document_of(req, app.policy.limits)
    folder, script = req.params.get("folder", "").strip("/"), req.params.get("script", "")
    drop = None
    if folder:
        drop = Drop(
            container=app.policy.drop_container, folder=folder, job_file="job.json", files={}, etags={}
        )
    key = key_of(req, request.key)
    request = dataclasses.replace(request if folder else request.known_by(key), key=None)
    body = await request_explained(
        app, request, source=who.source, key=key, drop=drop, script=script, who=who
    )
    if form == "json":
        return answer(body)
    return func.HttpResponse(markdown(body), status_code=200, mimetype="text/markdown", headers=HEADERS)
