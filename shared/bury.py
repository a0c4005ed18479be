"""bury: keep what no try could deliver or process, show it, and send it on its way again.

Two kinds are dead: a message that failed too often (a record of its own), and an event that some receiver
never took, or whose receipt could not be written (a row of the outbox). A message goes back through its door
under the identity that it had there, so that a job that it had started after all is joined and not run again.
"""

from __future__ import annotations

import base64
import hashlib
import json
import logging
from collections import OrderedDict
from typing import Any

from shared.dead import DEAD_ID, DeadMessage, dead_id
from shared.errors import Misuse, SlipwayError, Unavailable
from shared.events import Notice
from shared.message import unwrap
from shared.ports import Ports
from shared.redeliver import redeliver_event

log = logging.getLogger(__name__)

#: What says that a message stands for a dead one; it carries no body, for that may fill a message already.
_REDRIVE, _POINTER = "io.slipway.dead.redrive.v1", 200
#: Seconds until a poison message is looked at again, when not even the ledger answers.
_LATER = 300.0
#: Why the last try of a message failed, as far as this process knows.
_REASONS: OrderedDict[str, str] = OrderedDict()
_KNOWN = 1000


def failed(message_id: str, error: Exception) -> None:
    """Remember why a try failed. Only our own errors are quoted: other texts may hold what a person sent."""
    said = f": {error}" if isinstance(error, SlipwayError) else ""
    _REASONS[message_id] = f"{type(error).__name__}{said}"[:500]
    if len(_REASONS) > _KNOWN:
        _REASONS.popitem(last=False)


async def bury(ports: Ports, queue: str, message_id: str, body: bytes, tries: int) -> DeadMessage | None:
    """Keep a message that was tried that often. None for one that only points to a dead message."""
    if pointed_to(body) is not None:
        return None  # what it points to is kept already
    reason = _REASONS.get(message_id, "its function ended without an error that this process saw")
    return await _keep(ports, queue, message_id, body, f"tried {tries} times; {reason}")


async def bury_poison(ports: Ports, queue: str, poison_id: str, body: bytes) -> DeadMessage | None:
    """Keep a copy from a poison queue, which has lost the id that the message had at its door.

    Never gives up: while the ledger does not answer, the message waits on, where it cannot expire.
    """
    if pointed_to(body) is not None:
        return None
    try:
        reason = "the host gave it up, after more tries than it allows"
        return await _keep(ports, queue, f"{queue}-poison:{poison_id}", body, reason)
    except Unavailable as error:
        log.warning("message %s stays in %s-poison: %s", poison_id, queue, error)
        text = unwrap(body).decode("utf-8", "replace")
        await ports.queues.send(f"{queue}-poison", text, delay=_LATER)
        return None


async def _keep(ports: Ports, queue: str, message_id: str, body: bytes, reason: str) -> DeadMessage:
    identity, text = dead_id(queue, message_id), base64.b64encode(body).decode()
    sealed = ports.seal.available
    dead = DeadMessage(
        id=identity,
        queue=queue,
        message_id=message_id,
        body=ports.seal.seal(text, identity) if sealed else text,
        sealed=sealed,
        at=ports.clock(),
        reason=reason,
        digest=hashlib.sha256(body).hexdigest(),
    )
    await ports.dead.keep(dead)
    log.error("message %s of %s is kept as %s: %s", message_id, queue, identity, reason)
    return dead


def body_of(ports: Ports, dead: DeadMessage) -> bytes:
    """What was sent. Raises Misconfigured when the key that sealed it is gone."""
    return base64.b64decode(ports.seal.unseal(dead.body, dead.id) if dead.sealed else dead.body)


async def listed(ports: Ports) -> list[dict[str, Any]]:
    """All that is dead, messages first, as the API shows it; never what a message says."""
    messages = [
        {
            "id": dead.id,
            "kind": "message",
            "queue": dead.queue,
            "since": dead.at.isoformat(),
            "reason": dead.reason,
            "sha256": dead.digest,
        }
        for dead in await ports.dead.all()
    ]
    return messages + [_event(notice) for notice in await ports.outbox.dead()]


async def redrive(ports: Ports, identity: str) -> str:
    """Send one dead message or event on its way again; its kind. Raises Misuse (404).

    A message is forgotten only when its door has dealt with it.
    """
    if identity.startswith("evt_"):
        await redeliver_event(ports, identity)
        return "event"
    dead = await ports.dead.get(identity) if DEAD_ID.fullmatch(identity) else None
    if dead is None:
        raise Misuse(
            f"nothing dead has the id {identity[:80]!r}", status=404, remedy="list what is: GET /api/dead"
        )
    await ports.queues.send(dead.queue, json.dumps({"type": _REDRIVE, "dead": dead.id}))
    return "message"


def pointed_to(body: bytes) -> str | None:
    """The id of the dead message that a message wants to be taken for; None for any other message."""
    text = unwrap(body)
    if len(text) > _POINTER:
        return None
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return None
    wanted = isinstance(document, dict) and document.get("type") == _REDRIVE
    return str(document.get("dead", "")) if wanted else None


def _event(notice: Notice) -> dict[str, Any]:
    given_up = [target for target in notice.targets if target.state == "dead"]
    since = max((one.at for target in given_up for one in target.tries), default=notice.since)
    return {
        "id": notice.event_id,
        "kind": "event",
        "job": notice.job_id,
        "since": since.isoformat(),
        "reason": "; ".join(f"{target.url}: {target.last}" for target in given_up),
    }
