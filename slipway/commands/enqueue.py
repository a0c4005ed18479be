"""`slipway enqueue`: put a job message or a job.json on the queue `jobs`."""

import asyncio
from pathlib import Path

from shared.adapters.storage.queues import StorageQueues
from shared.core.identity import message_name
from shared.settings import Settings
from slipway.client.deployment import settings_for
from slipway.client.storage import storage_account
from slipway.commands.jobs import show
from slipway.commands.submit import has_its_script
from slipway.failure import Failure
from slipway.settings import document

_QUEUE = "jobs"
#: Stands in a job.json for the folder that it is dropped into, which a message does not have.
_FOLDER = b"<SLIPWAY_FOLDER>"
#: Bytes of a message before base64: the queue takes 64 KiB after it.
_LARGEST = 48 * 1024


def run(file: Path, settings_file: Path | None, *, as_json: bool = False) -> int:
    """Send, and say so. Raises Failure."""
    if has_its_script(file) and _FOLDER in file.read_bytes():
        folder = file.absolute().parent
        raise Failure(
            f"{file} runs a script beside it, and a message brings no files; "
            f"upload both: slipway drop {folder}"
        )
    settings = settings_for("", settings_file)
    document(file, "a job message or a job.json")
    message_id = asyncio.run(enqueue(settings, file.read_bytes()))
    name = message_name(message_id)
    show(
        {"queue": _QUEUE, "messageId": message_id},
        lambda _: [f"sent {file} to the queue {_QUEUE}; a job without a name is called {name}"],
        as_json=as_json,
    )
    return 0


async def enqueue(settings: Settings, message: bytes) -> str:
    """Send one message in base64, as the tools of Azure do. Its id. Raises Failure."""
    if len(message) > _LARGEST:
        raise Failure(
            f"the message has {len(message)} bytes, and a queue takes {_LARGEST}; "
            "upload the job.json as a blob and name it with specBlob"
        )
    async with storage_account(settings) as account:
        return await StorageQueues(account).send(_QUEUE, message.decode())
