"""Output bindings: write the values that a function returned or set to a queue or a blob."""

import base64
import json
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from azure.core.exceptions import AzureError, ResourceExistsError, ResourceNotFoundError

from local.host.hostjson import HostJson
from local.host.pattern import fill
from local.host.settings import resolve
from local.host.storage import Accounts, queue_key
from local.host.wakeups import Wakeups
from local.host.worker.contract import Binding, Data, Function, Result

SUPPORTED = ("queue", "blob", "http")


class OutputError(RuntimeError):
    """An output could not be written; the invocation counts as failed."""


class Outputs:
    """Writes the outputs of successful invocations."""

    def __init__(
        self, accounts: Accounts, settings: Mapping[str, str], host: HostJson, wakeups: Wakeups
    ) -> None:
        self._accounts = accounts
        self._settings = settings
        self._base64 = host.queues.message_encoding == "base64"
        self._wakeups = wakeups

    async def write(self, function: Function, result: Result, metadata: Mapping[str, Data]) -> None:
        """Write them all in the order of the bindings; raises OutputError at the first that fails."""
        for binding in function.outputs:
            name = binding["name"]
            data = result.returned if name == "$return" else result.outputs.get(name)
            if data is None or binding["type"] == "http":
                continue
            where = f"output {name} of function {function.name}"
            try:
                if binding["type"] == "queue":
                    await self._to_queue(binding, data, where)
                elif binding["type"] == "blob":
                    await self._to_blob(binding, data, metadata, where)
                else:
                    raise OutputError(f"{where}: the local host lacks the output binding {binding['type']}")
            except AzureError as error:
                raise OutputError(f"{where}: {type(error).__name__}: {error.message}") from error

    async def _to_queue(self, binding: Binding, data: Data, where: str) -> None:
        service = await self._accounts.queues(binding.get("connection", ""), where)
        queue = service.get_queue_client(resolve(binding["queueName"], self._settings, where))
        for message in _messages(data):
            text = base64.b64encode(message).decode() if self._base64 else _text(message, where)
            try:
                await queue.send_message(text)
            except ResourceNotFoundError:
                with suppress(ResourceExistsError):  # another invocation was first
                    await queue.create_queue()
                await queue.send_message(text)
        self._wakeups.notify(queue_key(queue))

    async def _to_blob(self, binding: Binding, data: Data, metadata: Mapping[str, Data], where: str) -> None:
        values = {name: str(d.value) for name, d in metadata.items() if d.kind in ("string", "json")}
        try:
            path = fill(resolve(binding["path"], self._settings, where), values, datetime.now(UTC))
        except KeyError as error:
            raise OutputError(
                f"{where}: the path names {error}, which this trigger does not provide"
            ) from None
        container_name, _, name = path.partition("/")
        service = await self._accounts.blobs(binding.get("connection", ""), where)
        container = service.get_container_client(container_name)
        content = data.value if isinstance(data.value, bytes) else str(data.value).encode()
        try:
            await container.upload_blob(name, content, overwrite=True)
        except ResourceNotFoundError:
            with suppress(ResourceExistsError):  # another invocation was first
                await container.create_container()
            await container.upload_blob(name, content, overwrite=True)


def _messages(data: Data) -> list[bytes]:
    if data.kind != "json":
        return [data.value if isinstance(data.value, bytes) else str(data.value).encode()]
    document = json.loads(data.value)
    return [_message(item) for item in (document if isinstance(document, list) else [document])]


def _message(item: Any) -> bytes:
    if isinstance(item, str):
        return item.encode()
    if isinstance(item, dict) and set(item) == {"id", "body"}:  # the form of a QueueMessage
        return str(item["body"]).encode()
    return json.dumps(item).encode()


def _text(message: bytes, where: str) -> str:
    try:
        return message.decode()
    except UnicodeDecodeError:
        raise OutputError(
            f"{where}: bytes that are not text need messageEncoding base64 in host.json"
        ) from None
