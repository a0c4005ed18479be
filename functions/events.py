"""The HTTP API of events: list them, send them again, and test an address."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import azure.functions as func

from functions.caller import caller
from functions.document import key_of
from functions.problem import answer, api_route, body_of
from functions.process import ports
from shared.core.caller import ADMIN
from shared.core.errors import Misuse

if TYPE_CHECKING:
    from shared.core.pacing.breaker import Opened
    from shared.operate.receivers import ReceiverState

blueprint = func.Blueprint()  # type: ignore[no-untyped-call]


@blueprint.function_name("get_events")
@blueprint.route("jobs/{id}/events", methods=["GET"])
@api_route()
async def get_events(req: func.HttpRequest) -> func.HttpResponse:
    """Every event of a job that has a receiver, with each delivery: receiver, time, answer."""
    from shared.core.notify.events import view
    from shared.operate import redeliver

    events = await redeliver.events_of(ports(), req.route_params["id"], caller())
    return answer({"events": [view(notice) for notice in events]})


@blueprint.function_name("redeliver_job")
@blueprint.route("jobs/{id}/events/redeliver", methods=["POST"])
@api_route()
async def redeliver_job(req: func.HttpRequest) -> func.HttpResponse:
    """Send every event of a job again, with the same ids and bytes."""
    from shared.operate import redeliver

    again = await redeliver.redeliver_job(ports(), req.route_params["id"], caller())
    return answer({"events": [notice.event_id for notice in again]}, 202)


@blueprint.function_name("redeliver_event")
@blueprint.route("events/{id}/redeliver", methods=["POST"])
@api_route()
async def redeliver_event(req: func.HttpRequest) -> func.HttpResponse:
    """Send one event again to every receiver, with the same id and bytes."""
    from shared.operate import redeliver

    notice = await redeliver.redeliver_event(ports(), req.route_params["id"], caller())
    headers = {"Location": f"/api/jobs/{notice.job_id}"}
    return answer({"events": [notice.event_id]}, 202, headers)


@blueprint.function_name("test_receiver")
@blueprint.route("receivers/test", methods=["POST"])
@api_route()
async def test_receiver(req: func.HttpRequest) -> func.HttpResponse:
    """Send a test to {"url": …, "secret": name}; 2xx from there enables an address that was disabled.

    The same Idempotency-Key sends the same event again.
    """
    from shared.core.pacing.off_loop import off_loop
    from shared.jobspec import read as parse
    from shared.operate import redeliver

    app = ports()
    caller().needs(ADMIN)
    body = body_of(req)
    document, problems = await off_loop(len(body), parse, body, app.policy.limits)
    if document is None:
        raise Misuse(problems[0].message, remedy='send {"url": "https://…"}')
    url, secret = document.get("url"), document.get("secret", "")
    if not isinstance(url, str) or not isinstance(secret, str) or document.keys() - {"url", "secret"}:
        raise Misuse("the body has `url` and, optionally, `secret`", remedy='send {"url": "https://…"}')
    posted = await redeliver.send_test(app, url, secret, key_of(req, None) or app.token())
    return answer(
        {
            "outcome": posted.outcome,
            "status": posted.status,
            "said": posted.detail,
            "ms": posted.milliseconds,
        }
    )


@blueprint.function_name("get_receivers")
@blueprint.route("receivers", methods=["GET"])
@api_route()
async def get_receivers(req: func.HttpRequest) -> func.HttpResponse:
    """The receivers with undelivered events, and the disabled ones: since when, and the next try."""
    from shared.operate.receivers import receivers

    caller().needs(ADMIN)
    return answer({"receivers": [_receiver(one) for one in await receivers(ports())]})


def _receiver(one: ReceiverState) -> dict[str, Any]:
    times = {"since": one.since, "next": one.next}
    return {
        "url": one.url,
        "state": one.state,
        **{name: time.isoformat() for name, time in times.items() if time},
        "last": one.last,
        "pending": one.pending,
        "dead": one.dead,
        "deadEvents": one.dead_events,
        **({"breaker": _breaker(one.breaker)} if one.breaker else {}),
    }


def _breaker(one: Opened) -> dict[str, str]:
    return {"state": one.state, "since": one.since.isoformat(), "until": one.until.isoformat()}


@blueprint.function_name("get_disabled")
@blueprint.route("receivers/disabled", methods=["GET"])
@api_route()
async def get_disabled(req: func.HttpRequest) -> func.HttpResponse:
    """The addresses to which no more events are sent, because they answered 410."""
    caller().needs(ADMIN)
    receivers = await ports().outbox.disabled()
    listed = [{"url": one.url, "since": one.since.isoformat(), "why": one.why} for one in receivers]
    return answer({"receivers": listed})
