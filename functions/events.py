"""The HTTP API of events and dead letters: list them, send them again, and test an address."""

from __future__ import annotations

from typing import TYPE_CHECKING

import azure.functions as func

from functions.caller import caller
from functions.document import key_of
from functions.openapi.elements import RECEIVER
from functions.openapi.operation import operation
from functions.problem import Reply, answer
from functions.process import ports
from shared.core.caller import ADMIN, SUBMIT
from shared.core.errors import Misuse

if TYPE_CHECKING:
    from shared.answers.events import (
        DeadList,
        DisabledReceivers,
        JobEvents,
        ReceiverStates,
        ReceiverTested,
        Redelivered,
        Redriven,
    )

blueprint = func.Blueprint()  # type: ignore[no-untyped-call]


@operation(blueprint, "GET", "jobs/{id}/events", refused=(404, 410))
async def get_events(req: func.HttpRequest) -> Reply[JobEvents]:
    """List a job's events, with every delivery: receiver, time, answer."""
    from shared.answers.events import JobEvents
    from shared.operate import redeliver

    events = await redeliver.events_of(ports(), req.route_params["id"], caller())
    return answer(JobEvents(events=tuple(redeliver.shown(notice) for notice in events)))


@operation(blueprint, "POST", "jobs/{id}/events/redeliver", answered=(202,), refused=(404, 409, 410))
async def redeliver_job(req: func.HttpRequest) -> Reply[Redelivered]:
    """Send every event of a job again.

    With the same ids and bytes; writes a missing receipt, too. 409 if every address is disabled, because
    nothing would be sent.
    """
    from shared.answers.events import Redelivered
    from shared.operate import redeliver

    again = await redeliver.redeliver_job(ports(), req.route_params["id"], caller())
    return answer(Redelivered(events=tuple(notice.event_id for notice in again)), 202)


@operation(
    blueprint,
    "POST",
    "events/{id}/redeliver",
    needs=SUBMIT,
    answered=(202,),
    refused=(404, 409, 410),
)
async def redeliver_event(req: func.HttpRequest) -> Reply[Redelivered]:
    """Send one event again.

    With the same ids and bytes; writes a missing receipt, too. 409 if every address is disabled, because
    nothing would be sent.
    """
    from shared.answers.events import Redelivered
    from shared.operate import redeliver

    notice = await redeliver.redeliver_event(ports(), req.route_params["id"], caller())
    headers = {"Location": f"/api/jobs/{notice.job_id}"}
    return answer(Redelivered(events=(notice.event_id,)), 202, headers)


@operation(blueprint, "POST", "receivers/test", needs=ADMIN, refused=(413,), body=RECEIVER)
async def test_receiver(req: func.HttpRequest) -> Reply[ReceiverTested]:
    """Send a test event to an address.

    `{"url": …, "secret": name}`: the answer of the address to one signed event; 2xx enables an address that
    was disabled. With the same `Idempotency-Key`, the same event is sent again.
    """
    from functions.document import document_in
    from shared.answers.events import ReceiverTested
    from shared.operate import redeliver

    app = ports()
    document = await document_in(req, app.policy.limits)
    url, secret = document.get("url"), document.get("secret", "")
    if not isinstance(url, str) or not isinstance(secret, str) or document.keys() - {"url", "secret"}:
        raise Misuse("the body has `url` and, optionally, `secret`", remedy='send {"url": "https://…"}')
    posted = await redeliver.send_test(app, url, secret, key_of(req, None) or app.token())
    return answer(
        ReceiverTested(
            outcome=posted.outcome, status=posted.status, detail=posted.detail, ms=posted.milliseconds
        )
    )


@operation(blueprint, "GET", "receivers", needs=ADMIN)
async def get_receivers(req: func.HttpRequest) -> Reply[ReceiverStates]:
    """List receivers that have not taken all their events, and the disabled ones.

    `state` (`failing`, `dead`, `disabled` or `waiting`), `since`, the `next` try, the
    `last` answer, how many events are `pending` and `dead`, and the `breaker` (`open` or `half-open`,
    `since`, `until`) as the process that answers has learnt it.
    """
    from shared.answers.events import ReceiverStates
    from shared.operate.receivers import receivers

    return answer(ReceiverStates(receivers=tuple(await receivers(ports()))))


@operation(blueprint, "GET", "receivers/disabled", needs=ADMIN)
async def get_disabled(req: func.HttpRequest) -> Reply[DisabledReceivers]:
    """List the addresses that are disabled because they answered 410."""
    from shared.answers.events import DisabledReceiver, DisabledReceivers

    receivers = await ports().outbox.disabled()
    listed = tuple(DisabledReceiver(url=one.url, since=one.since, why=one.why) for one in receivers)
    return answer(DisabledReceivers(receivers=listed))


@operation(blueprint, "GET", "dead", needs=ADMIN)
async def get_dead(req: func.HttpRequest) -> Reply[DeadList]:
    """List dead messages and events.

    An event is dead if a receiver never accepted it, or its receipt could not be written. Ids and reasons,
    no contents.
    """
    from shared.answers.events import DeadList
    from shared.operate.redrive import listed

    return answer(DeadList(dead=tuple(await listed(ports()))))


@operation(blueprint, "POST", "dead/{id}/redrive", needs=ADMIN, answered=(202,), refused=(404, 409))
async def redrive(req: func.HttpRequest) -> Reply[Redriven]:
    """Send a dead message or event on its way again.

    Through its door, or to its receivers; writes a missing receipt, too.
    """
    from shared.answers.events import Redriven
    from shared.operate import redrive

    identity = req.route_params["id"]
    return answer(Redriven(id=identity, kind=await redrive.redrive(ports(), identity)), 202)
