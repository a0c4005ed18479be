"""The part of the HTTP API for operators: clusters, health, pause, audit, trail, rights, teams."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import azure.functions as func

from functions.caller import caller
from functions.problem import HEADERS, answer, api_route, body_of, problem, public_route
from functions.process import ports
from shared.core.caller import ADMIN
from shared.core.errors import Misuse

if TYPE_CHECKING:
    from shared.core.engine import ClusterView
    from shared.core.ledger.node_history import NodeHistory
    from shared.core.ledger.records import Pause
    from shared.core.teams.use import TeamUse
    from shared.operate.teams import TeamsResult

blueprint = func.Blueprint()  # type: ignore[no-untyped-call]


@blueprint.function_name("pause")
@blueprint.route("pause", methods=["POST"])
@api_route("reason")
async def pause(req: func.HttpRequest) -> func.HttpResponse:
    """Stop submissions, not acceptance: ?reason=. Repeat it to change the reason."""
    from shared.admission import pauses

    by = _operator()
    return answer(_switch(await pauses.pause(ports(), by, req.params.get("reason", ""))))


@blueprint.function_name("resume")
@blueprint.route("resume", methods=["POST"])
@api_route()
async def resume(req: func.HttpRequest) -> func.HttpResponse:
    """Resume submissions; `paused` stays true while the setting SLIPWAY_PAUSED is."""
    from shared.admission import pauses

    by = _operator()
    return answer(_switch(await pauses.resume(ports(), by)))


@blueprint.function_name("audit")
@blueprint.route("audit", methods=["GET"])
@api_route()
async def audit(req: func.HttpRequest) -> func.HttpResponse:
    """Every difference between drops, ledger, clusters and deliveries."""
    from shared.operate.audit import audit as compare

    caller().needs(ADMIN)
    return answer(dataclasses.asdict(await compare(ports())))


@blueprint.function_name("health")
@blueprint.route("health", methods=["GET", "HEAD"], auth_level=func.AuthLevel.ANONYMOUS)
@public_route()
async def health(req: func.HttpRequest) -> func.HttpResponse:
    """Whether storage and clusters work, without details, because it needs no key. 503 if one does not."""
    from shared.operate.ready import ready

    readiness = await ready(ports())
    if not readiness.ready:
        trouble = readiness.trouble
        return problem(503, trouble.what, trouble.remedy, retry_after=10, **readiness.words)
    return answer({"status": "ok", **readiness.words})


@blueprint.function_name("get_me")
@blueprint.route("me", methods=["GET"])
@api_route()
async def get_me(req: func.HttpRequest) -> func.HttpResponse:
    """The caller and their rights, so that a page offers only permitted actions."""
    who = caller()
    teams = [{"name": name, "manager": manager} for name, manager in who.teams.items()]
    return answer({"id": who.id or None, "roles": sorted(who.roles), "teams": teams})


@blueprint.function_name("get_settings")
@blueprint.route("settings", methods=["GET"])
@api_route()
async def get_settings(req: func.HttpRequest) -> func.HttpResponse:
    """The settings with which a client sends files to this deployment."""
    return answer({"settings": ports().client_settings})


@blueprint.function_name("get_teams")
@blueprint.route("teams", methods=["GET"])
@api_route()
async def get_teams(req: func.HttpRequest) -> func.HttpResponse:
    """The document of teams with its version, and the use of each quota."""
    from shared.core.cost.usage import month_of
    from shared.operate.teams import teams

    caller().needs(ADMIN)
    app = ports()
    result = await teams(app)
    month = month_of(app.clock())
    uses = {team: _use(one, month) for team, one in result.use.items()}
    return answer({**_shown(result), "use": uses, "errors": dict(result.unknown)})


@blueprint.function_name("get_usage")
@blueprint.route("usage", methods=["GET"])
@api_route()
async def get_usage(req: func.HttpRequest) -> func.HttpResponse:
    """The caller's teams with their quotas, their current use, and their use in the last months."""
    from shared.core.cost.prices import currency_of
    from shared.core.cost.usage import month_of
    from shared.operate.teams import usage

    app = ports()
    month = month_of(app.clock())
    teams = [
        {
            "name": one.team,
            "quota": one.quota.model_dump(mode="json", by_alias=True, exclude_defaults=True)
            if one.quota
            else None,
            "use": _use(one.use, month) if one.use else None,
            "months": _months(one.use) if one.use else {},
        }
        | ({"error": one.unknown} if one.unknown else {})
        for one in await usage(app, caller())
    ]
    return answer({"month": month, "currency": currency_of(app.policy.prices), "teams": teams})


def _use(use: TeamUse, month: str) -> dict[str, Any]:
    total = use.held(month)
    hours, cost = round(total.gpu_hours, 4), round(total.cost, 4)
    at_once = {"jobs": total.jobs, "nodes": total.nodes, "gpus": total.gpus}
    loans = {"borrowed": len(use.loans), "lent": len(use.lent)}
    return {**at_once, "gpuHours": hours, "cost": cost, "waiting": len(use.waiting), **loans}


def _months(use: TeamUse) -> dict[str, Any]:
    return {month: used.as_json() for month, used in use.months.items()}


@blueprint.function_name("put_teams")
@blueprint.route("teams", methods=["PUT"])
@api_route("version", "dryRun")
async def put_teams(req: func.HttpRequest) -> func.HttpResponse:
    """Replace the document: 422 with every problem of it, 412 if ?version= is another now; ?dryRun=true."""
    from shared.operate.teams import replace_teams

    by = _operator()
    version, dry_run = req.params.get("version", ""), req.params.get("dryRun", "false")
    if dry_run not in ("true", "false"):
        raise Misuse(f"dryRun={dry_run[:20]!r} is neither true nor false", remedy="write ?dryRun=true")
    result = await replace_teams(ports(), body_of(req), by=by, version=version, dry_run=dry_run == "true")
    if result.problems:
        errors = [one.as_dict() for one in result.problems]
        return problem(422, "these teams cannot be", "correct the problems below", errors=errors)
    return answer({**_shown(result), "changes": list(result.changes), "dryRun": dry_run == "true"})


def _shown(result: TeamsResult) -> dict[str, object]:
    from shared.core.teams.document import as_json

    return {"version": result.version, "document": as_json(result.teams)}


@blueprint.function_name("get_trail")
@blueprint.route("trail", methods=["GET"])
@api_route("by", "operation", "about", "team", "day", "limit", "after")
async def get_trail(req: func.HttpRequest) -> func.HttpResponse:
    """Who did what, the newest first: all for operators, the acts on jobs of their teams for managers."""
    from shared.operate.trail import trail

    page = await trail(ports(), req.params, caller())
    acts = [act.as_json() for act in page.acts]
    return answer({"acts": acts, "unreadable": page.unreadable, "next": page.next or None})


@blueprint.function_name("get_openapi")
@blueprint.route("openapi.json", methods=["GET"])
@api_route()
async def get_openapi(req: func.HttpRequest) -> func.HttpResponse:
    """The OpenAPI 3.1 document of all routes."""
    from functions.openapi.document import text

    return func.HttpResponse(text(), status_code=200, mimetype="application/json", headers=HEADERS)


def _operator() -> str:
    """The caller who changes the deployment. Raises Misuse (403) for one without the right."""
    who = caller()
    who.needs(ADMIN)
    return who.id or "the holder of a function key"


def _switch(pause: Pause | None) -> dict[str, Any]:
    if pause is None:
        return {"paused": False}
    return {"paused": True, "since": pause.since.isoformat(), "by": pause.by, "reason": pause.reason}


@blueprint.function_name("get_clusters")
@blueprint.route("clusters", methods=["GET"])
@api_route("history")
async def get_clusters(req: func.HttpRequest) -> func.HttpResponse:
    """Every configured cluster in its current state; with ?history=6h, also its nodes since then."""
    from shared.operate import listing, read

    app = ports()
    body = [
        {"name": cluster.name, "error": cluster.error}
        | ({"since": cluster.since.isoformat()} if cluster.since else {})
        if cluster.view is None
        else _view(cluster.view)
        for cluster in await read.clusters(app)
    ]
    if "history" in req.params:
        since = listing.moment("history", req.params["history"], app.clock())
        histories = await read.node_histories(app, since)
        body = [one | {"history": _history(histories[one["name"]])} for one in body]
    return answer({"clusters": body})


def _view(view: ClusterView) -> dict[str, Any]:
    """A cluster as the API shows it, without the facts about scaling, which only explain needs."""
    from shared.core.facts import facts_as_json

    members = dataclasses.asdict(view) | {"facts": facts_as_json(view.facts)}
    return {name: value for name, value in members.items() if name != "supply"}


def _history(history: NodeHistory) -> dict[str, Any]:
    """The counted states, and for each point its Unix time and the nodes in each state."""
    from shared.core.ledger.node_history import NODE_STATES

    unknown = (None,) * len(NODE_STATES)
    points = [[round(point.at.timestamp()), *(point.nodes or unknown)] for point in history.points]
    return {"states": NODE_STATES, "points": points}
