"""The queue trigger: one listener for each function."""

import base64
import binascii
import json
import logging
import re
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from azure.storage.queue import QueueMessage

from local.host.deletion import Deletion
from local.host.hostjson import Queues
from local.host.invoker import Invoker
from local.host.settings import resolve
from local.host.times import Times
from local.host.triggers.base import Environment
from local.host.triggers.listener import ListenerOptions, Outcome, QueueListener
from local.host.worker.contract import Binding, Data, Function

_log = logging.getLogger("Host.queue")
_LONGEST_NAME = 63
#: What Convert.FromBase64String skips, anywhere in the text; it refuses missing padding.
_WHITE_SPACE = dict.fromkeys(map(ord, " \t\r\n"))
_POISON = "-poison"
#: What Json.NET takes for a time.
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,7})?(Z|[+-]\d\d:\d\d)?", re.ASCII)


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
        options_of(queues, environment.times),
        work.handle,
        environment.wakeups,
    )


def options_of(queues: Queues, times: Times) -> ListenerOptions:
    """The listener's options in host.json's words, and the times that host.json does not set."""
    return ListenerOptions(
        batch=queues.batch_size,
        threshold=queues.threshold,
        slowest_poll=queues.max_polling_interval.total_seconds(),
        retry_delay=queues.visibility_timeout.total_seconds(),
        tries=queues.max_dequeue_count,
        hidden=times.hidden,
        outage=times.outage,
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


def body_of(text: str, trigger: Binding, encoding: str) -> Data | None:
    """The body for a trigger with this binding: bytes if it asks for them; None if it cannot be decoded."""
    body = decode(text, encoding)
    if body is None or body.kind == "bytes" or not _takes_bytes(trigger):
        return body
    return Data("bytes", body.value.encode())


def fits(body: Data, trigger: Binding) -> bool:
    """Whether the function can take it: what is not text fails for those that do not ask for bytes."""
    return body.kind != "bytes" or _takes_bytes(trigger)


def _takes_bytes(trigger: Binding) -> bool:
    return str(trigger.get("dataType", "")).upper() == "BINARY"


def metadata_of(message: QueueMessage, body: Data) -> dict[str, Data]:
    """Trigger metadata: the message's own fields, which members of a body that is text replace.

    Source: ApplyBindingData of azure-functions-host; names ignore case. A body of bytes replaces nothing.
    """
    own = {
        "Id": Data("string", message.id or ""),
        "DequeueCount": Data("json", str(message.dequeue_count)),
        "PopReceipt": Data("string", message.pop_receipt or ""),
        "QueueTrigger": Data("string", body.value.decode(errors="replace")) if body.kind == "bytes" else body,
    }
    times = {
        "InsertionTime": message.inserted_on,
        "ExpirationTime": message.expires_on,
        "NextVisibleTime": message.next_visible_on,
    }
    own |= {name: Data("string", _iso(at)) for name, at in times.items() if at is not None}
    spelling = {name.lower(): name for name in own}
    for name, value in members_of(body).items():
        own[spelling.setdefault(name.lower(), name)] = value
    return own


def by_hand(text: str) -> QueueMessage:
    """The message of a run that an operator asks for: as if it had just come, without a try."""
    message, now = QueueMessage(content=text), datetime.now(UTC)
    message.id, message.dequeue_count, message.pop_receipt = str(uuid4()), 0, ""
    message.inserted_on = message.expires_on = message.next_visible_on = now
    return message


class _Work:
    def __init__(self, function: Function, invoker: Invoker, queues: Queues, queue: str) -> None:
        self._function = function
        self._invoker = invoker
        self._encoding = queues.message_encoding
        self._queue = queue

    async def handle(self, message: QueueMessage) -> Outcome:
        body = body_of(message.content, self._function.trigger, self._encoding)
        if body is None:
            return Outcome.HOPELESS
        if not fits(body, self._function.trigger):
            _log.error("function %s: message %s is not text", self._function.name, message.id)
            return Outcome.FAILED
        result = await self._invoker.run(
            self._function,
            {self._function.trigger["name"]: body},
            metadata_of(message, body),
            reason=f"message {message.id} of queue {self._queue}, try {message.dequeue_count}",
        )
        return Outcome.DONE if result.ok else Outcome.FAILED


def members_of(body: Data) -> dict[str, Data]:
    """The members of a JSON text as the host reads them: no lists, and all but objects as texts of .NET."""
    if body.kind != "string" or not body.value.strip().startswith("{"):
        return {}
    try:
        document = json.loads(body.value)
    except (ValueError, RecursionError):
        return {}
    return {name: _member(value) for name, value in document.items() if not isinstance(value, list)}


def _member(value: Any) -> Data:
    if isinstance(value, dict):
        return Data("json", json.dumps(value))
    if isinstance(value, str):
        return Data("string", _moment(value) if _MOMENT.fullmatch(value) else value)
    return Data("string", "" if value is None else str(value))


def _moment(text: str) -> str:
    """A time as Json.NET reads it from a text, and writes it."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return text
    moment = moment.astimezone(UTC) if moment.tzinfo else moment
    return moment.strftime("%m/%d/%Y %H:%M:%S")


def _iso(moment: datetime) -> str:
    return moment.isoformat()
