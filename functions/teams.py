"""The part of the HTTP API for who may do what: the caller, the teams, their quotas."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
    from shared.answers.teams import ChangedTeams, TeamsDocument, TeamShare, TeamsUsage, TeamUse
    from shared.core.teams.use import TeamUse as Use
    from shared.operate.overview.shares import Counted
    from shared.operate.teams import TeamUsage

blueprint = func.Blueprint()  # type: ignore[no-untyped-call]


@operation(blueprint, "GET", "me")
async def get_me(req: func.HttpRequest) -> Reply[Identity]:
    """Get who calls, and what they may do.

    Their `id` (the name of a named key, null for another function key), `roles` and `teams`; a job
    that was submitted with a token or a named key has that id as `owner`.
    """
    from shared.answers.operate import Identity, OwnTeam

    who = caller()
    teams = tuple(OwnTeam(name=name, manager=manager) for name, manager in who.teams.items())
    return answer(Identity(id=who.id or None, roles=tuple(sorted(who.roles)), teams=teams))


@operation(blueprint, "GET", "teams", needs=ADMIN)
async def get_teams(req: func.HttpRequest) -> Reply[TeamsDocument]:
    """Get the teams.

    The document of [teams](../how-to/share-clusters.md), with its `version`, and how much of its quota
    the jobs of each team use (`use`), or why that is not known (`errors`).
    """
    from shared.answers.teams import TeamsDocument
    from shared.core.cost.usage import month_of
    from shared.core.teams.document import as_json
    from shared.operate.teams import teams

    app = ports()
    result = await teams(app)
    month = month_of(app.clock())
    uses = {team: _use(one, month) for team, one in result.use.items()}
    return answer(
        TeamsDocument(
            version=result.version, document=as_json(result.teams), use=uses, errors=dict(result.unknown)
        )
    )


@operation(
    blueprint,
    "GET",
    "usage",
    query=(
        Parameter("by", "also what each caller, or each experiment, used", {"enum": ["owner", "experiment"]}),
    ),
)
async def get_usage(req: func.HttpRequest) -> Reply[TeamsUsage]:
    """Get the use of quotas, and of teams without one.

    Of the caller's teams, or of all of them for callers who see every job: their `quota`, how much of it
    their jobs use (`use`; where that is not known, null with an `error`), and what they used in the last
    `months`. With `by`, the `shares` of callers or experiments in this month, of the jobs that the caller may
    see. What is counted by jobs may be five minutes old.
    """
    from shared.answers.teams import TeamsUsage
    from shared.core.cost.prices import currency_of
    from shared.core.cost.usage import month_of
    from shared.operate.overview.shares import MOST, counted, shares
    from shared.operate.teams import usage

    app, who, by = ports(), caller(), req.params.get("by")
    if by not in (None, "owner", "experiment"):
        raise Misuse(f"by={by[:40]!r} is neither owner nor experiment", remedy="write ?by=owner")
    month, jobs = month_of(app.clock()), await counted(app)
    teams = tuple(_share(one, month, jobs) for one in await usage(app, who))
    return answer(
        TeamsUsage(
            month=month,
            currency=currency_of(app.policy.prices),
            teams=teams,
            counted_since=jobs.month.since,
            shares=tuple(shares(jobs, by, who)[:MOST]) if by else None,
        )
    )


def _share(one: TeamUsage, month: str, jobs: Counted) -> TeamShare:
    from shared.answers.teams import MonthUsage, Quota, TeamShare

    if one.quota is None:
        count = jobs.of_team(one.team)
        return TeamShare(name=one.team, quota=None, use=count.use, months={month: count.ended})
    months = one.use.months.items() if one.use else ()
    return TeamShare(
        name=one.team,
        quota=Quota.model_validate(one.quota.model_dump(exclude_defaults=True)) if one.quota else None,
        use=_use(one.use, month) if one.use else None,
        months={name: MonthUsage.model_validate(used.as_json()) for name, used in months},
        error=one.unknown or None,
    )


def _use(use: Use, month: str) -> TeamUse:
    from shared.answers.teams import TeamUse

    total, used = use.held(month), use.used(month)
    return TeamUse(
        jobs=total.jobs,
        nodes=total.nodes,
        gpus=total.gpus,
        gpu_hours=round(total.gpu_hours, 4),
        cost=round(total.cost, 4),
        reserved_gpu_hours=round(total.gpu_hours - used.gpu_hours, 4),
        reserved_cost=round(total.cost - used.cost, 4),
        waiting=len(use.waiting),
        borrowed=len(use.loans),
        lent=len(use.lent),
    )


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
    from shared.answers.teams import ChangedTeams
    from shared.core.teams.document import as_json
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
    return answer(
        ChangedTeams(
            version=result.version,
            document=as_json(result.teams),
            changes=tuple(result.changes),
            dry_run=dry_run == "true",
        )
    )
