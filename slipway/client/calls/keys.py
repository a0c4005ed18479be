"""The idempotency key of a submission: it makes one job of a request that is sent several times."""

import asyncio
import uuid
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from slipway.client.calls.patience import chosen_patience
from slipway.client.calls.refusal import Unanswered, Unreached
from slipway.failure import Failure

#: The header, by draft-ietf-httpapi-idempotency-key-header.
_HEADER = "Idempotency-Key"


def key_for(document: bytes, key: str = "") -> str:
    """The chosen key, else a new one; "" for a document with a key of its own, which stays in force."""
    from shared.intake.message import read_request  # the whole reader of jobs
    from shared.jobspec import Limits

    if key:
        return key
    return "" if read_request(document, Limits()).key else new_key()


def new_key() -> str:
    """A key that no other request has."""
    return str(uuid.uuid4())


def keyed(key: str) -> Mapping[str, str]:
    """The headers of a request in JSON with this key. Raises Failure for one that no header carries."""
    return {"Content-Type": "application/json"} | ({_HEADER: checked(key)} if key else {})


def checked(key: str) -> str:
    """The key. Raises Failure for one that no header carries."""
    if key != key.strip() or not key.isprintable():
        raise Failure(
            f"the idempotency key {key[:80]!r} cannot be sent: a header carries no control characters, and "
            "no space at its ends; use up to 256 visible ASCII characters, such as a UUID"
        )
    return key


@asynccontextmanager
async def repeatable(key: str) -> AsyncIterator[None]:
    """Say how to send the same again without a second job, where no answer comes or the wait is ended."""
    how = (
        f"send it again with --idempotency-key {key} (in Python, idempotency_key)"
        if key
        else "send the same document again"
    )
    hint = f"it may have been accepted all the same: {how}, which joins what was accepted"
    try:
        yield
    except asyncio.CancelledError:
        chosen_patience().tell(hint)
        raise
    except Unreached:  # nothing was sent
        raise
    except Unanswered as lost:
        hinted = Unanswered(f"{lost}\n{hint}")
        hinted.spent, hinted.remedy = lost.spent, how
        raise hinted from lost
