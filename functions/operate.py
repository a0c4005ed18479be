"""The part of the HTTP API for whoever runs the deployment: is it ready, stop submissions, let them go on."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import azure.functions as func

from functions.caller import caller
from functions.here import ports
from functions.problem import answer, problem, told, told_anyone
from shared.caller import ADMIN

if TYPE_CHECKING:
    from shared.ports import Pause

blueprint = func.Blueprint()  # type: ignore[no-untyped-call]


@blueprint.function_name("pause")
@blueprint.route("pause", methods=["POST"])
@told
async def pause(req: func.HttpRequest) -> func.HttpResponse:
    """Stop submissions, not acceptance: ?reason=. Say it again to change the reason."""
    from shared import admit

    by = _operator()
    return answer(_switch(await admit.pause(ports(), by, req.params.get("reason", ""))))


@blueprint.function_name("resume")
@blueprint.route("resume", methods=["POST"])
@told
async def resume(req: func.HttpRequest) -> func.HttpResponse:
    """Let submissions go on; `paused` stays true while the setting SLIPWAY_PAUSED says so."""
    from shared import admit

    by = _operator()
    return answer(_switch(await admit.resume(ports(), by)))


@blueprint.function_name("audit")
@blueprint.route("audit", methods=["GET"])
@told
async def audit(req: func.HttpRequest) -> func.HttpResponse:
    """Whether drops, ledger, clusters and deliveries say the same: every difference."""
    from shared.audit import audit as compare

    caller().needs(ADMIN)
    return answer(dataclasses.asdict(await compare(ports())))


@blueprint.function_name("health")
@blueprint.route("health", methods=["GET"], auth_level=func.AuthLevel.ANONYMOUS)
@told_anyone
async def health(req: func.HttpRequest) -> func.HttpResponse:
    """Whether storage and clusters answer; no details, because anybody may ask. 503 when one does not."""
    from shared.ready import ready

    found = await ready(ports())
    parts = {"storage": _word(found.storage), "engine": _word(found.engine), "paused": found.paused}
    if not found.ready:
        return problem(503, "not ready", "ask again in a minute", retry_after=10, **parts)
    return answer({"status": "ok", **parts})


def _operator() -> str:
    """Who turns the switch. Raises Misuse (403) for who may not."""
    who = caller()
    who.needs(ADMIN)
    return who.id or "the holder of a function key"


def _word(answers: bool) -> str:
    return "ok" if answers else "does not answer"


def _switch(pause: Pause | None) -> dict[str, Any]:
    if pause is None:
        return {"paused": False}
    return {"paused": True, "since": pause.since.isoformat(), "by": pause.by, "reason": pause.reason}
