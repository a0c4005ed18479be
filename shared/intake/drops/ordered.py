"""The delayed look at a folder that has been ordered: later events of the folder join it.

A row says when its message becomes visible. The process that handles the message removes the row, and then
lists the folder: so an event that finds the row has its file listed, and one that finds none looks by itself.
The time bounds how long a message counts that was lost. Nothing depends on the row but the number of lists.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from shared.core.ledger.records import DropMemo
from shared.core.messages import QUEUE, look_message
from shared.core.ports import Ports

#: The longest delay of a message in seconds, and by how much the clocks of storage and app may differ.
_LONGEST, _CLOCKS = 3600.0, timedelta(minutes=1)


async def is_ordered(ports: Ports, folder: str) -> bool:
    """Whether a look at a folder is to come, in one point read."""
    memo = await ports.ledger.drop_memo(_path(folder))
    if memo is None or memo.until is None:
        return False
    longest = timedelta(seconds=min(ports.policy.settle + 1, _LONGEST)) + _CLOCKS
    return ports.clock() < memo.until <= ports.clock() + longest  # later, a wrong clock wrote it


async def order(ports: Ports, folder: str, newest: datetime, wait: float) -> None:
    """Order a look in `wait` seconds. The message is sent first: a row without one would hide files."""
    delay, ticket = min(wait, _LONGEST), ports.token()
    until = ports.clock() + timedelta(seconds=delay)
    await ports.queues.send(QUEUE, look_message(folder, newest, ticket), delay=delay)
    await ports.ledger.remember(DropMemo(_path(folder), {}, "", 1, folder=folder, ticket=ticket, until=until))


async def begin(ports: Ports, folder: str, ticket: str) -> None:
    """Note that this look begins: from now on, no event may join it."""
    memo = await ports.ledger.drop_memo(_path(folder))
    if memo is not None and ticket and memo.ticket == ticket:
        await ports.ledger.forget(memo.path)


def _path(folder: str) -> str:
    return f"{folder}|look"
