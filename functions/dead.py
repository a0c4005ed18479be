"""The HTTP API of dead letters: messages that failed too often, events that a receiver never accepted."""

from __future__ import annotations

import azure.functions as func

from functions.caller import caller
from functions.problem import answer, api_route
from functions.process import ports
from shared.core.caller import ADMIN

blueprint = func.Blueprint()  # type: ignore[no-untyped-call]


@blueprint.function_name("get_dead")
@blueprint.route("dead", methods=["GET"])
@api_route()
async def get_dead(req: func.HttpRequest) -> func.HttpResponse:
    """All dead letters, each with its id and the reason; never the content of a message."""
    from shared.operate.redrive import listed

    caller().needs(ADMIN)
    return answer({"dead": await listed(ports())})


@blueprint.function_name("redrive")
@blueprint.route("dead/{id}/redrive", methods=["POST"])
@api_route()
async def redrive(req: func.HttpRequest) -> func.HttpResponse:
    """Send one again; 202."""
    from shared.operate import redrive

    caller().needs(ADMIN)
    identity = req.route_params["id"]
    return answer({"id": identity, "kind": await redrive.redrive(ports(), identity)}, 202)
