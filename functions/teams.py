"""The part of the HTTP API for who may do what: the caller, the teams, their quotas."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import azure.functions as func

from functions.caller import caller
from functions.openapi.elements import TEAMS, Parameter, text
from functions.openapi.operation import operation
from functions.problem import Reply, answer, body_of, problem
from functions.process import ports
from shared.core.caller import ADMIN
from shared.core.errors import Misuse

if TYPE_CHECKING:
    from shared.answers.operate import Identity
    from shared.answers.teams import ChangedTeams, TeamsDocument, TeamsUsage
    from shared.core.teams.use import TeamUse
    from shared.operate.teams import TeamsResult

blueprint = func.Blueprint()  # type: ignore[no-untyped-call]


@operation(blueprint, "GET", "me")
async def get_me(req: func.HttpRequest) -> Reply[Identity]:
    """Get who calls, and what they may do.

    Their `id` (the name of a named key, null for another function key), `roles` and `teams`; a job
    that was submitted with a token or a named key has that id as `owner`.
    """
    who = caller()
    teams = [{"name": name, "manager": manager} for name, manager in who.teams.items()]
    return answer({"id": who.id or None, "roles": sorted(who.roles), "teams": teams})


@operation(blueprint, "GET", "teams", needs=ADMIN)
async def get_teams(req: func.HttpRequest) -> Reply[TeamsDocument]:
    """Get the teams.

    The document of [teams](../how-to/share-clusters.md), with its `version`, and how much of its quota
    the jobs of each team use (`use`), or why that is not known (`errors`).
    """
    from shared.core.cost.usage import month_of
    from shared.operate.teams import teams

    app = ports()
    result = await teams(app)
    month = month_of(app.clock())
    uses = {team: _use(one, month) for team, one in result.use.items()}
    return answer({**_shown(result), "use": uses, "errors": dict(result.unknown)})


@operation(blueprint, "GET", "usage")
async def get_usage(req: func.HttpRequest) -> Reply[TeamsUsage]:
    """Get the use of quotas.

    Of the caller's teams, or of all of them for callers who see every job: their `quota`, how much of it
    their jobs use (`use`; where that is not known, null with an `error`), and what they used in the last
    `months`.
    """
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


@operation(
    blueprint,
    "PUT",
    "teams",
    needs=ADMIN,
    refused=(412, 413, 422),
    query=(
        text(
            "version",
            "412 where the teams have changed; without it, any version is replaced, readable or not",
        ),
        Parameter("dryRun", "show the changes and write nothing", {"enum": ["true", "false"]}),
    ),
    body=TEAMS,
)
async def put_teams(req: func.HttpRequest) -> Reply[ChangedTeams]:
    """Replace the teams.

    Returns the `changes`; 422 with every problem, 412 if another `version` is there, and the document is not
    this one already; with `dryRun`, nothing is written.
    """
    from shared.operate.teams import replace_teams

    version, dry_run = req.params.get("version", ""), req.params.get("dryRun", "false")
    if dry_run not in ("true", "false"):
        raise Misuse(f"dryRun={dry_run[:20]!r} is neither true nor false", remedy="write ?dryRun=true")
    result = await replace_teams(
        ports(), body_of(req), by=caller().name, version=version, dry_run=dry_run == "true"
    )
    if result.problems:
        errors = [one.as_dict() for one in result.problems]
        return problem(422, "these teams cannot be", "correct the problems below", errors=errors)
    return answer({**_shown(result), "changes": list(result.changes), "dryRun": dry_run == "true"})


def _shown(result: TeamsResult) -> dict[str, object]:
    from shared.core.teams.document import as_json

    return {"version": result.version, "document": as_json(result.teams)}
