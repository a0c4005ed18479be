"""The part of the HTTP API for operators: clusters, health, overview, pause, audit, trail."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING

import azure.functions as func

from functions.caller import caller
from functions.openapi.conditions import OVERVIEW_CONDITIONS
from functions.openapi.elements import AFTER, BYTES, Parameter, text
from functions.openapi.operation import operation
from functions.problem import HEADERS, Reply, answer, problem
from functions.process import ports
from shared.core.caller import ADMIN

if TYPE_CHECKING:
    from shared.answers.clusters import ClusterList
    from shared.answers.operate import AuditReport, ClientSettings, Health, PauseState
    from shared.answers.overview import Overview
    from shared.answers.trail import Trail
    from shared.core.ledger.entries import Pause
    from shared.core.ledger.node_history import NodeHistory

blueprint = func.Blueprint()  # type: ignore[no-untyped-call]


@operation(
    blueprint, "POST", "pause", needs=ADMIN, query=(text("reason", "shown with every job that waits"),)
)
async def pause(req: func.HttpRequest) -> Reply[PauseState]:
    """Pause submissions.

    Jobs are accepted, and wait. Repeat it to change the reason.
    """
    from shared.admission import pauses

    return answer(_state(await pauses.pause(ports(), caller().name, req.params.get("reason", ""))))


@operation(blueprint, "POST", "resume", needs=ADMIN)
async def resume(req: func.HttpRequest) -> Reply[PauseState]:
    """Resume submissions.

    `paused` stays true while the setting SLIPWAY_PAUSED is.
    """
    from shared.admission import pauses

    return answer(_state(await pauses.resume(ports(), caller().name)))


def _state(pause: Pause | None) -> PauseState:
    from shared.answers.operate import PauseState

    if pause is None:
        return PauseState(paused=False)
    return PauseState(paused=True, since=pause.since, by=pause.by, reason=pause.reason)


@operation(blueprint, "GET", "audit", needs=ADMIN)
async def audit(req: func.HttpRequest) -> Reply[AuditReport]:
    """Compare drops, ledger, clusters and deliveries.

    Every difference, and what could not be queried; `slipway audit` shows it.
    """
    from shared.answers.operate import AuditDifference, AuditReport
    from shared.operate.audit import audit as compare

    report = await compare(ports())
    differences = tuple(
        AuditDifference(kind=one.kind, what=one.what, message=one.message) for one in report.differences
    )
    return answer(AuditReport(counted=report.counted, differences=differences, unknown=tuple(report.unknown)))


@operation(blueprint, "GET", "health", public=True, head=True, refusals={503: "NotReady"})
async def health(req: func.HttpRequest) -> Reply[Health]:
    """Whether the app works, and which clusters answer.

    200 when storage answers and takes writes, passes succeed, and the host runs the sweeper and
    `accept_message`, so that the app accepts jobs and takes them further; else 503. A cluster never makes
    it 503: its own jobs wait. One word each for `storage` (`refuses writes` where it only answers reads:
    `detail` says which writes; they are tried once a minute, and leave nothing), `paused` and `sweeper`
    (`off` where a setting disables it); of `clusters` the number that are `ok`, that do not answer, and
    that are `misconfigured`, which refuse the settings, such as an expired token, or are not there, or are
    not described (`GET /api/clusters` names each with its reason); `settings` that are wrong, if storage or
    a cluster refuses them, they turn a function `off`, which is named, or they give nodes the container of
    drops where there are teams; the number of rows that cannot be read (`unreadable`) and of jobs that wait
    for a repair of the deployment (`parked`), as the passes of the last 15 minutes counted them. No other
    names and no reasons, because it needs no key.
    """
    from shared.operate.ready import ready

    readiness = await ready(ports())
    if not readiness.ready:
        trouble = readiness.trouble
        return problem(503, trouble.what, trouble.remedy, retry_after=10, **readiness.words)
    return answer({"status": "ok", **readiness.words})


@operation(blueprint, "GET", "settings")
async def get_settings(req: func.HttpRequest) -> Reply[ClientSettings]:
    """Get what clients need to send files.

    The `settings` with which a client sends files to this deployment: the addresses of its storage
    account, its containers of drops and receipts, and the prefix of outputs; no secrets. With them,
    `slipway run`, `drop` and `data` need nothing but `slipway login`, `az login` and a role on the
    account.
    """
    from shared.answers.operate import ClientSettings

    return answer(ClientSettings(settings=dict(ports().client_settings)))


@operation(
    blueprint,
    "GET",
    "clusters",
    query=(text("history", "also their nodes since then: a number with s, m, h, d or w, or a time", "6h"),),
)
async def get_clusters(req: func.HttpRequest) -> Reply[ClusterList]:
    """List clusters as they are now.

    Each with its nodes by state (`counts`), each node where the engine names them (`members`), [what
    its engine can do there](engines.md#what-each-can-do) (`capabilities`), or why the cluster cannot be
    queried (`error`), and `since` when passes get no answer either; `gpus` has how many GPUs are free, where
    the engine shows that. `slipway nodes` shows the same. With `history`, the nodes by state over that
    time, which the sweeper's timer notes at most once a minute, up to 480 points.
    """
    from shared.answers.clusters import ClusterList
    from shared.operate import listing, read

    app = ports()
    clusters = await read.clusters(app)
    histories: Mapping[str, NodeHistory] = {}
    if "history" in req.params:
        since = listing.moment("history", req.params["history"], app.clock())
        histories = await read.node_histories(app, since)
    return answer(ClusterList(clusters=tuple(read.shown(one, histories.get(one.name)) for one in clusters)))


@operation(
    blueprint,
    "GET",
    "overview",
    query=(
        Parameter(
            "scope",
            "the caller's own jobs, those of their teams, or all that they may see",
            {"enum": ["mine", "team", "all"]},
        ),
        text("since", "jobs that have ended since then are counted, to ten minutes; 24h by default", "24h"),
        *OVERVIEW_CONDITIONS,
    ),
)
async def get_overview(req: func.HttpRequest) -> Reply[Overview]:
    """Get an overview.

    Jobs by state; those that wait by reason, and those that failed by the signature of their error, each with
    their number; idle jobs; nodes of clusters by state; what teams used and reserved in the month. At most
    8 kB: `leftOut` says how many entries there are besides. It may be five seconds old, and the use of teams
    without a quota five minutes. With conditions as of a list, the jobs are those that fit; nodes and use are
    as without.
    """
    from shared.operate.overview.overview import overview
    from shared.operate.overview.search import search_of

    scope, since = req.params.get("scope", "all"), req.params.get("since", "24h")
    return answer(await overview(ports(), caller(), scope, since, search_of(req.params)))


@operation(
    blueprint,
    "GET",
    "trail",
    query=(
        text("by", "the id of the caller who did it", "ann"),
        text("operation", "the name of the operation in this document", "cancel_job"),
        text("about", "the id of a job, a sweep or an event", "j_3mz7kqv5n2xw4yt6hbcd4efg"),
        text("team", "exactly this team"),
        text("day", "of this day in UTC", "2026-11-25"),
        Parameter("limit", "acts in one answer", {"type": "integer", "minimum": 1, "maximum": 200}),
        AFTER,
    ),
)
async def get_trail(req: func.HttpRequest) -> Reply[Trail]:
    """Read who did what, the newest first.

    [All of it](../how-to/operate-a-deployment.md#who-did-what) (`acts`) for operators, the acts on jobs of
    their teams for managers, 403 for others. `about` is the id of a job, a sweep or an event. A page costs at
    most 25 requests to storage, so it may be short, or empty, and still have a `next`.
    """
    from shared.answers.trail import Trail, TrailAct
    from shared.operate.trail import trail

    page = await trail(ports(), req.params, caller())
    acts = tuple(TrailAct.model_validate(act.as_json()) for act in page.acts)
    return answer(Trail(acts=acts, unreadable=page.unreadable, next=page.next or None))


@operation(blueprint, "GET", "openapi.json", answers={200: BYTES})
async def get_openapi(req: func.HttpRequest) -> func.HttpResponse:
    """Get the OpenAPI 3.1 document of this API."""
    from functions.openapi import document

    text = await asyncio.to_thread(document.text)  # the first time it builds the models of all answers
    return func.HttpResponse(text, status_code=200, mimetype="application/json", headers=HEADERS)
