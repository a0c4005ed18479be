"""writable: whether storage takes the app's writes.

It does not where a role only reads, a lock is set, or the account is full, and answers reads all the while.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable

from shared.core.errors import SlipwayError, quoted
from shared.core.messages import QUEUE
from shared.core.ports import Ports

log = logging.getLogger(__name__)

#: Seconds for the answers; and for which an answer is reused, without a refusal and with one.
_PATIENCE, _GOOD, _REFUSED = 4.0, 60.0, 5.0


async def unwritable(ports: Ports) -> tuple[str, ...]:
    """The places that refuse writes. Never raises; the log has the reasons.

    Each is tried by one small request that leaves nothing, once a minute in each process.
    """
    return await ports.memo.get_or_last("writes", ports.clock(), _good_for, lambda: _refusing(ports), ())


def _good_for(places: tuple[str, ...]) -> float:
    return _REFUSED if places else _GOOD


async def _refusing(ports: Ports) -> tuple[str, ...]:
    places = {
        "the table of records": ports.ledger.try_write(),
        "the container of receipts": ports.drops.try_write(),
        "the queue of jobs": ports.queues.try_write(QUEUE),
        "the container of the archive": ports.archive.try_write(),
    }
    answers = await asyncio.gather(*(_takes(place, attempt) for place, attempt in places.items()))
    return tuple(place for place, takes in zip(places, answers, strict=True) if not takes)


async def _takes(place: str, attempt: Awaitable[None]) -> bool:
    try:
        async with asyncio.timeout(_PATIENCE):
            await attempt
    except (SlipwayError, TimeoutError) as error:
        log.warning("not ready: storage takes no write: %s: %s", place, quoted(error))
        return False
    except Exception:  # a defect of one adapter counts as a refusal
        log.exception("not ready: storage takes no write: %s", place)
        return False
    return True
