"""`slipway enqueue`: put a job message or a job.json on the queue `jobs`."""

import asyncio
import json
from pathlib import Path

from shared.adapters.storage.queues import StorageQueues
from shared.settings import Settings
from slipway.client.calls.keys import checked, new_key, repeatable
from slipway.client.jobs.naming import unmeant
from slipway.client.request.own_job import has_its_script
from slipway.client.storage.account import storage_account
from slipway.client.storage.upload_settings import upload_settings
from slipway.commands.asking import show
from slipway.commands.enqueue.keyed_message import keyed_message
from slipway.failure import Failure
from slipway.settings import document
from slipway.terminal.screen import remark

_QUEUE = "jobs"
#: A job.json's placeholder for its drop folder, which a message does not have.
_FOLDER = b"<SLIPWAY_FOLDER>"
#: The most bytes of a message before base64; the queue takes 64 KiB after it.
_LARGEST = 48 * 1024


def run(file: Path, settings_file: Path | None, *, once: str = "", as_json: bool = False) -> int:
    """Send the message, and report it; `once` is its idempotency key, by default a new one. Raises Failure.

    A message with a key is one job, also if storage keeps it twice because an answer was lost.
    """
    once = checked(once)
    if has_its_script(file) and _FOLDER in file.read_bytes():
        folder = file.absolute().parent
        raise Failure(
            f"{file} runs a script beside it, and a message brings no files; "
            f"upload both: slipway drop {folder}"
        )
    settings = asyncio.run(upload_settings("", "", settings_file))
    document(file, "a job message or a job.json")
    body = file.read_bytes()
    message = keyed_message(body, once or new_key(), chosen=bool(once))
    message_id = asyncio.run(enqueue(settings, message.body, message.key))
    called = f"; a job without a name is called {message.name}" if message.name else ""
    show(
        {"queue": _QUEUE, "messageId": message_id} | ({"name": message.name} if message.name else {}),
        lambda _: [f"sent {file} to the queue {_QUEUE}{called}"],
        as_json=as_json,
    )
    for name in unmeant_names(body):
        remark(
            f"commands do not find the job by the name {name}: `last`, and names like ids, mean others; "
            f"find its id: slipway jobs --name {name}"
        )
    return 0


def unmeant_names(message: bytes) -> list[str]:
    """The names in a message that commands read as something else; none if the message cannot be read."""
    try:
        body = json.loads(message)
    except ValueError:
        return []
    envelopes = [one for one in (body if isinstance(body, list) else [body]) if isinstance(one, dict)]
    named = [(one["name"], "s_" if "sweep" in one else "j_") for one in envelopes if "name" in one]
    return [name for name, kind in named if isinstance(name, str) and unmeant({"name": name, "id": kind})]


async def enqueue(settings: Settings, message: bytes, key: str = "") -> str:
    """Send one message in base64, as Azure's tools do. Returns its id.

    `key` is the idempotency key in it, if it was made for it. Raises Failure, with how to send it again.
    """
    if len(message) > _LARGEST:
        raise Failure(
            f"the message has {len(message)} bytes, and a queue takes {_LARGEST}; "
            "upload the job.json as a blob and name it with specBlob"
        )
    async with repeatable(key), storage_account(settings) as account:
        return await StorageQueues(account).send(_QUEUE, message.decode())
