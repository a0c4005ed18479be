"""`slipway enqueue`: put a job message or a job.json on the queue `jobs`."""

import asyncio
from pathlib import Path

from shared.adapters.storage.queues import StorageQueues
from shared.adapters.storage.wire.connection import Account, Connection
from shared.settings import Settings
from slipway.client.deployment import settings_for
from slipway.client.trouble import reaching
from slipway.failure import Failure
from slipway.settings import document

_QUEUE = "jobs"
#: Bytes of a message before base64: the queue takes 64 KiB after it.
_LARGEST = 48 * 1024


def run(file: Path, settings_file: Path | None) -> int:
    """Send, and say so. Raises Failure."""
    settings = settings_for("", settings_file)
    document(file, "a job message or a job.json")
    asyncio.run(enqueue(settings, file.read_bytes()))
    print(f"sent {file} to the queue {_QUEUE}")
    return 0


async def enqueue(settings: Settings, message: bytes) -> None:
    """Send one message in base64, as the tools of Azure do. Raises Failure."""
    if len(message) > _LARGEST:
        raise Failure(
            f"the message has {len(message)} bytes, and a queue takes {_LARGEST}; "
            "upload the job.json as a blob and name it with specBlob"
        )
    with reaching("the storage account", "SLIPWAY_STORAGE"):
        account = Account(Connection(*settings.connection(), settings.text("AZURE_CLIENT_ID")))
        try:
            await StorageQueues(account).send(_QUEUE, message.decode())
        finally:
            await account.close()
