"""The storage account that settings name, for commands that send files there themselves."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from shared.adapters.storage.wire.connection import Account, Connection
from shared.settings import Settings
from slipway.client.trouble import reaching


@asynccontextmanager
async def storage_account(settings: Settings) -> AsyncIterator[Account]:
    """The account, for the length of the block. What it raises inside becomes a Failure."""
    with reaching("the storage account", "SLIPWAY_STORAGE"):
        account = Account(Connection(*settings.connection(), settings.text("AZURE_CLIENT_ID")))
        try:
            yield account
        finally:
            await account.close()
