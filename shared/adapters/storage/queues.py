"""Queues whose messages start functions."""

from __future__ import annotations

import base64
import re

from shared.adapters.storage.wire.connection import Account
from shared.core.errors import Unavailable

#: The service accepts delays of up to seven days; a longer wait is continued after six.
_LONGEST = 6 * 24 * 3600
_MESSAGE_ID = re.compile(rb"<MessageId>([\w-]{1,100})</MessageId>", re.ASCII)


class StorageQueues:
    """The queues port. Messages never expire. They are base64, so that no character can block a queue."""

    def __init__(self, account: Account) -> None:
        self._rest = account.queues

    async def send(self, queue: str, body: str, *, delay: float = 0) -> str:
        """Send; makes the queue at the first message."""
        text = base64.b64encode(body.encode()).decode()
        message = f"<QueueMessage><MessageText>{text}</MessageText></QueueMessage>".encode()
        when = {"visibilitytimeout": str(min(int(delay + 0.999), _LONGEST)), "messagettl": "-1"}
        headers = {"Content-Type": "application/xml"}
        for _ in range(2):
            path = f"/{queue}/messages"
            answer = await self._rest.call("POST", path, when, headers=headers, body=message, expected=(404,))
            if answer.status != 404:
                identity = _MESSAGE_ID.search(answer.body)
                return identity[1].decode() if identity else ""
            await self.make(queue)
        raise Unavailable(f"queue {queue} cannot be created: it is being deleted")

    async def try_write(self, queue: str) -> None:
        """Write the metadata of the queue: none, as before. Makes the queue if it is missing."""
        if (await self._rest.call("PUT", f"/{queue}", {"comp": "metadata"}, expected=(404,))).status == 404:
            await self.make(queue)

    async def make(self, queue: str) -> bool:
        """Create a queue. Returns whether it is new."""
        return (await self._rest.call("PUT", f"/{queue}", expected=(409,))).status == 201
