"""The queue trigger: one listener for each function."""

import base64
import binascii
import json
from datetime import datetime

from azure.storage.queue import QueueMessage

from local.host.deletion import Deletion
from local.host.hostjson import Queues
from local.host.invoker import Invoker
from local.host.settings import resolve
from local.host.triggers.base import Environment
from local.host.triggers.listener import ListenerOptions, Outcome, QueueListener
from local.host.worker.contract import Data, Function

_LONGEST_NAME = 63
#: What Convert.FromBase64String skips, anywhere in the text; it refuses missing padding.
_WHITE_SPACE = dict.fromkeys(map(ord, " \t\r\n"))
_POISON = "-poison"


async def queue_listener(function: Function, environment: Environment) -> QueueListener:
    """The listener for a function with a queueTrigger; raises SettingsError."""
    where = f"function {function.name}"
    name = resolve(function.trigger["queueName"], environment.settings, where)
    service = await environment.accounts.queues(function.trigger.get("connection", ""), where)
    poison_name = name + _POISON
    has_poison = not name.endswith(_POISON) and len(poison_name) <= _LONGEST_NAME
    queues = environment.host.queues
    work = _Work(function, environment.invoker, queues, name)
    queue = service.get_queue_client(name)
    return QueueListener(
        queue,
        service.get_queue_client(poison_name) if has_poison else None,
        Deletion(queue, environment.accounts.http),
        options_of(queues, environment.hidden),
        work.handle,
        environment.wakeups,
    )


def options_of(queues: Queues, visibility: float) -> ListenerOptions:
    """The listener's options in host.json's words, and the seconds for which a received message is hidden."""
    return ListenerOptions(
        batch=queues.batch_size,
        threshold=queues.threshold,
        slowest_poll=queues.max_polling_interval.total_seconds(),
        retry_delay=queues.visibility_timeout.total_seconds(),
        tries=queues.max_dequeue_count,
        hidden=visibility,
    )


def decode(text: str, encoding: str) -> Data | None:
    """The body as the function gets it; None if it is not valid in the `encoding`."""
    if encoding == "none":
        return Data("string", text)
    try:
        raw = base64.b64decode(text.translate(_WHITE_SPACE), validate=True)
    except (binascii.Error, ValueError):
        return None
    try:
        return Data("string", raw.decode())
    except UnicodeDecodeError:
        return Data("bytes", raw)


def metadata_of(message: QueueMessage, body: Data) -> dict[str, Data]:
    """Trigger metadata: the top-level properties of a JSON body, and the message's own fields."""
    metadata = _properties(body)
    metadata |= {
        "Id": Data("string", message.id or ""),
        "DequeueCount": Data("json", str(message.dequeue_count or 1)),
        "PopReceipt": Data("string", message.pop_receipt or ""),
        "QueueTrigger": body,
    }
    times = {
        "InsertionTime": message.inserted_on,
        "ExpirationTime": message.expires_on,
        "NextVisibleTime": message.next_visible_on,
    }
    return metadata | {name: Data("string", _iso(at)) for name, at in times.items() if at is not None}


class _Work:
    def __init__(self, function: Function, invoker: Invoker, queues: Queues, queue: str) -> None:
        self._function = function
        self._invoker = invoker
        self._encoding = queues.message_encoding
        self._queue = queue

    async def handle(self, message: QueueMessage) -> Outcome:
        body = decode(message.content, self._encoding)
        if body is None:
            return Outcome.HOPELESS
        result = await self._invoker.run(
            self._function,
            {self._function.trigger["name"]: body},
            metadata_of(message, body),
            reason=f"message {message.id} of queue {self._queue}, try {message.dequeue_count}",
        )
        return Outcome.DONE if result.ok else Outcome.FAILED


def _properties(body: Data) -> dict[str, Data]:
    if body.kind != "string" or not body.value.lstrip().startswith("{"):
        return {}
    try:
        document = json.loads(body.value)
    except (ValueError, RecursionError):
        return {}
    return {
        name: Data("string", value) if isinstance(value, str) else Data("json", json.dumps(value))
        for name, value in document.items()
    }


def _iso(moment: datetime) -> str:
    return moment.isoformat()
