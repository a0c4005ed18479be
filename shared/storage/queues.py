"""Queues that wake functions up."""

from __future__ import annotations

import base64

from shared.errors import Unavailable
from shared.storage.connection import Account, storage_errors

#: The service takes delays up to seven days; longer waits are looked at again after six.
_LONGEST = 6 * 24 * 3600


class StorageQueues:
    """The queues port. Messages never expire, and are base64: no character of theirs can block a queue."""

    def __init__(self, account: Account) -> None:
        self._account = account

    async def send(self, queue: str, body: str, *, delay: float = 0) -> None:
        """Send; makes the queue at the first message."""
        from azure.core.exceptions import ResourceNotFoundError

        text = base64.b64encode(body.encode()).decode()
        client = self._account.queues.get_queue_client(queue)
        async with storage_errors():
            for _ in range(2):
                try:
                    await client.send_message(
                        text, visibility_timeout=min(int(delay + 0.999), _LONGEST), time_to_live=-1
                    )
                except ResourceNotFoundError:
                    await client.create_queue()
                else:
                    return
        raise Unavailable(f"queue {queue} cannot be made: it is being deleted")
