"""The delayed look at a folder that has been ordered: later events of the folder join it.

A row says when its message becomes visible. The process that handles the message removes the row, and then
lists the folder: so an event that finds the row has its file listed, and one that finds none looks by itself.
The time bounds how long a message counts that was lost. Nothing depends on the row but the number of lists.
"""

from __future__ import annotations

import math
from datetime import datetime, timedelta

from shared.core.ledger.entries import DropMemo
from shared.core.messages import QUEUE, look_message
from shared.core.policy import Policy
from shared.core.ports import Ports

#: The longest delay of a message in seconds, and by how much the clocks of storage and app may differ.
_LONGEST, _CLOCKS = 3600.0, timedelta(minutes=1)
_SECOND = timedelta(seconds=1)


async def is_ordered(ports: Ports, folder: str) -> bool:
    """Whether a look at a folder is to come, in one point read."""
    memo = await ports.ledger.drop_memo(_path(folder))
    if memo is None or memo.until is None:
        return False
    longest = timedelta(seconds=_longest(ports.policy)) + _CLOCKS
    return ports.clock() < memo.until <= ports.clock() + longest  # later, a wrong clock wrote it


async def order(ports: Ports, folder: str, newest: datetime, wait: float) -> None:
    """Order a look in `wait` seconds, at most the time for which a folder has to be quiet.

    The message is sent first: a row without one would hide files. It comes up to a second early, since a
    queue knows whole seconds, and waits for the rest itself, for as long as its row says.
    """
    delay, ticket = min(wait, _longest(ports.policy)), ports.token()
    until = ports.clock() + timedelta(seconds=delay)
    await ports.queues.send(QUEUE, look_message(folder, newest, ticket), delay=math.floor(delay))
    await ports.ledger.remember(DropMemo(_path(folder), {}, "", 1, folder=folder, ticket=ticket, until=until))


async def begin(ports: Ports, folder: str, ticket: str, newest: datetime) -> None:
    """Wait for the rest of its delay, and note that this look begins: from now on, no event may join it."""
    memo = await ports.ledger.drop_memo(_path(folder))
    own = memo if memo is not None and ticket and memo.ticket == ticket else None
    if own is not None and own.until is not None:
        rest = own.until - ports.clock()
        # Further from its time it came by another clock: it looks now, and orders another look.
        if timedelta() < rest < _SECOND:
            await ports.pause(rest.total_seconds())
    ports.memo.put(_memory(folder), ports.clock(), {newest.isoformat(): True})
    if own is not None:
        await ports.ledger.forget(own.path)


def has_waited(ports: Ports, folder: str, newest: datetime) -> bool:
    """Whether a look that was ordered for this file has come: so long the folder was quiet, by any clock."""
    return newest.isoformat() in ports.memo.latest(_memory(folder))


def _memory(folder: str) -> str:
    return f"waited|{folder}"


def _longest(policy: Policy) -> float:
    return min(policy.settle + 1, _LONGEST)


def _path(folder: str) -> str:
    return f"{folder}|look"
