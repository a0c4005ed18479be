"""The storage account that settings name, for commands that send files there directly."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from shared.adapters.storage.wire.connection import Account, Connection
from shared.core.account import CONTAINER_RULE, is_container
from shared.core.errors import Misconfigured
from shared.settings import Settings
from slipway.client.storage.trouble import reaching
from slipway.failure import Failure

#: The settings that name containers which commands write to and read from.
_CONTAINERS = ("SLIPWAY_DROP_CONTAINER", "SLIPWAY_RECEIPTS_CONTAINER")


def refuse_name(option: str, name: str, what: str = "container") -> None:
    """Raise Failure for a name that a container or share cannot have."""
    if not is_container(name):
        raise Failure(f"{option} {name[:80]!r}: the name of a {what} has {CONTAINER_RULE}")


@asynccontextmanager
async def storage_account(settings: Settings) -> AsyncIterator[Account]:
    """The account, for the length of the block. Its errors inside become Failures.

    So does an impossible container name: storage would only answer that something is wrong.
    """
    try:
        for name in _CONTAINERS:
            settings.container(name)
    except Misconfigured as error:
        raise Failure(str(error)) from error
    with reaching("the storage account", "SLIPWAY_STORAGE"):
        account = Account(Connection(*settings.connection(), settings.text("AZURE_CLIENT_ID")))
        try:
            yield account
        finally:
            await account.close()
