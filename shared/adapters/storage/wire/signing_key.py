"""The key by which the app signs addresses of blobs: the account's, or one of user delegation."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

from shared.adapters.storage.wire.connection import Account, Connection
from shared.adapters.storage.wire.sas import Key, delegated
from shared.core.pacing.shared_call import SharedCall

#: How much longer than an address a key is valid, and how much earlier it becomes valid: clocks differ.
_LASTING, _EARLIER = timedelta(hours=1), timedelta(minutes=5)
#: The longest that an address by a user delegation key can be valid: the service gives such a key for a week.
LONGEST = timedelta(days=7) - _LASTING - 2 * _EARLIER


class SigningKey:
    """A key for addresses that are valid for `valid`; one of user delegation is asked for, and kept."""

    def __init__(
        self, account: Account, connection: Connection, valid: timedelta, clock: Callable[[], datetime]
    ) -> None:
        self._account, self._connection, self._valid, self._clock = account, connection, valid, clock
        self._delegated: Key | None = None
        self._until = clock()
        self._asking = SharedCall(self._ask)

    async def key(self) -> Key:
        """The key. Raises what the SDK does, for the caller's `storage_errors`."""
        if self._connection.string:
            return Key(self._connection.members()["AccountKey"])
        if self._delegated is None or not self._is_valid(self._clock()):
            return await self._asking.result()
        return self._delegated

    def _is_valid(self, now: datetime) -> bool:
        """Whether the key lasts as long as an address; one that lasts longer is of a wrong clock."""
        least = now + self._valid + _EARLIER
        return least < self._until <= least + _LASTING

    async def _ask(self) -> Key:
        now = self._clock()
        until = now + self._valid + _EARLIER + _LASTING
        answer = await self._account.blobs.get_user_delegation_key(now - _EARLIER, until)
        self._delegated, self._until = delegated(answer), until
        return self._delegated
