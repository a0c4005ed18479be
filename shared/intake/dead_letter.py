"""bury: keep messages and events that every try has failed, list them, and send them again.

There are two kinds of dead letters: a message that failed too often (a record of its own), and an event that
a receiver never accepted, or whose receipt could not be written (a row of the outbox). A message goes back
through its door under its old identity, so that it joins a job that it had started after all, and does not
run it again.
"""

from __future__ import annotations

import base64
import hashlib
import json
import logging
import re
from contextlib import suppress

from shared.core.errors import SlipwayError, Unavailable, quoted
from shared.core.ledger.dead import DeadMessage, dead_id
from shared.core.notify.queues import Queues
from shared.core.ports import Ports, Seal
from shared.intake.reading.unwrap import unwrap

log = logging.getLogger(__name__)

#: Marks a message that stands for a dead one. It carries no body, because a body may fill a message by
#: itself.
REDRIVE, _POINTER = "io.slipway.dead.redrive.v1", 200
#: Seconds until a poison message is looked at again, when not even the ledger answers.
_LATER = 300.0
#: The reasons recorded for a message that is held for one more try, and for one that is tried again after an
#: outage.
_TRIED = "of its tries did not end: the process died, or storage stopped answering"
_AGAIN = "is tried again: "
#: How many tries in a row may stop without an end. One proves nothing: storage may fail again after a long
#: outage.
_UNENDED = 3


async def hold(ports: Ports, queue: str, message_id: str, body: bytes) -> bool:
    """Keep a message for one more try, so that a process that dies during the try leaves the message here.

    False when that has happened too often: the message is dead, and stays here. Raises Unavailable, because
    an outage ends no message.
    """
    dead = await ports.dead.get(dead_id(queue, message_id))
    unended = 0
    if dead is not None and not dead.reason.startswith(_AGAIN):
        match = re.fullmatch(rf"([0-9]+) {_TRIED}", dead.reason)
        unended = int(match[1]) if match else _UNENDED
    tries_left = unended < _UNENDED
    if tries_left:
        await _keep(ports, queue, message_id, body, f"{unended + 1} {_TRIED}")
    return tries_left


async def wait(ports: Ports, queue: str, message_id: str, body: bytes, error: Exception) -> None:
    """Record that the try failed through no fault of the message, so that there will be another one."""
    with suppress(SlipwayError):
        await _keep(ports, queue, message_id, body, f"{_AGAIN}{quoted(error)[:500]}")


async def bury(ports: Ports, queue: str, message_id: str, body: bytes, tries: int, error: Exception) -> None:
    """Keep a message whose last try failed through its own fault."""
    dead = await _keep(ports, queue, message_id, body, f"tried {tries} times; {quoted(error)[:500]}")
    log.error("message %s of %s is kept as %s: %s", message_id, queue, dead.id, dead.reason)


async def bury_poison(ports: Ports, queue: str, poison_id: str, body: bytes) -> None:
    """Keep a copy from a poison queue, which has lost the id that the message had at its door.

    Never gives up: while the ledger does not answer, the message goes on waiting where it cannot expire.
    """
    if pointed_to(body) is not None:
        return
    try:
        reason = "the host gave it up, after more tries than it allows"
        dead = await _keep(ports, queue, f"{queue}-poison:{poison_id}", body, reason)
    except Unavailable as error:
        await put_off(ports.queues, queue, poison_id, body, error)
    else:
        log.error("message %s of %s-poison is kept as %s", poison_id, queue, dead.id)


async def put_off(queues: Queues, queue: str, poison_id: str, body: bytes, error: Exception) -> None:
    """Look at a poison message later: another copy of it waits, where it cannot expire."""
    log.warning("message %s stays in %s-poison: %s", poison_id, queue, error)
    await queues.send(f"{queue}-poison", unwrap(body).decode("utf-8", "replace"), delay=_LATER)


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
    return dead


def body_of(seal: Seal, dead: DeadMessage) -> bytes:
    """The message as it was sent. Raises Misconfigured when the key that sealed it is gone."""
    return base64.b64decode(seal.unseal(dead.body, dead.id) if dead.sealed else dead.body)


def pointed_to(body: bytes) -> str | None:
    """The id of the dead message that a message stands for; None for any other message."""
    body = unwrap(body)
    if len(body) > _POINTER:
        return None
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        return None
    is_redrive = isinstance(document, dict) and document.get("type") == REDRIVE
    return str(document.get("dead", "")) if is_redrive else None
