"""Frames between the host and a worker process, on a socket pair that only the two hold.

A frame is a JSON document and, behind it, the bytes it refers to: {"$bytes": [offset, length]}. JSON, not
pickle: a function's result is data to the host and never code, and no body is encoded twice.
"""

import asyncio
import json
import struct
from typing import Any

from local.host.worker.contract import Data, Function, Invocation, Result, RetryPolicy

_HEAD = struct.Struct(">QQ")


def encode(document: Any) -> bytes:
    """A message as one frame: JSON, and behind it the bytes that it refers to."""
    attached: list[bytes] = []
    end = 0

    def attach(value: Any) -> Any:
        nonlocal end
        if not isinstance(value, bytes | bytearray | memoryview):
            raise TypeError(f"cannot send a {type(value).__name__} between host and worker")
        attached.append(value if isinstance(value, bytes) else bytes(value))  # a body is not copied twice
        end += len(attached[-1])
        return {"$bytes": [end - len(attached[-1]), len(attached[-1])]}

    text = json.dumps(document, default=attach, separators=(",", ":")).encode()
    return b"".join((_HEAD.pack(len(text), end), text, *attached))


async def receive(reader: asyncio.StreamReader) -> Any:
    """The next document, or None when the other side has gone."""
    try:
        text_length, attached_length = _HEAD.unpack(await reader.readexactly(_HEAD.size))
        text = await reader.readexactly(text_length)
        attached = await reader.readexactly(attached_length)
    except (asyncio.IncompleteReadError, ConnectionError):
        return None

    def detach(value: dict[str, Any]) -> Any:
        # Header and query values are strings, so a person's document never looks like a reference.
        position = value.get("$bytes")
        if len(value) == 1 and isinstance(position, list):
            return attached[position[0] : position[0] + position[1]]
        return value

    return json.loads(text, object_hook=detach)


def function_to_json(function: Function) -> Any:
    """A function as a JSON document."""
    retry = function.retry
    return {
        "name": function.name,
        "id": function.id,
        "bindings": [dict(b) for b in function.bindings],
        "retry": None if retry is None else vars(retry),
    }


def function_from_json(document: Any) -> Function:
    """The function that function_to_json wrote."""
    retry = document["retry"]
    return Function(
        name=document["name"],
        id=document["id"],
        bindings=tuple(document["bindings"]),
        retry=None if retry is None else RetryPolicy(**retry),
    )


def invocation_to_json(call: Invocation) -> Any:
    """An invocation as a JSON document with bytes in it."""
    return {**vars(call), "inputs": _pack(call.inputs), "metadata": _pack(call.metadata)}


def invocation_from_json(document: Any) -> Invocation:
    """The invocation that invocation_to_json wrote."""
    parts = {**document, "inputs": _unpack(document["inputs"]), "metadata": _unpack(document["metadata"])}
    return Invocation(**parts)


def result_to_json(result: Result) -> Any:
    """A result as a JSON document with bytes in it."""
    returned = result.returned
    return {
        "error": result.error,
        "stack": result.stack,
        "outputs": _pack(result.outputs),
        "returned": None if returned is None else [returned.kind, returned.value],
    }


def result_from_json(document: Any) -> Result:
    """The result that result_to_json wrote."""
    returned = document["returned"]
    return Result(
        error=document["error"],
        stack=document["stack"],
        outputs=_unpack(document["outputs"]),
        returned=None if returned is None else Data(*returned),
    )


def _pack(values: Any) -> Any:
    return [[name, data.kind, data.value] for name, data in values.items()]


def _unpack(values: Any) -> dict[str, Data]:
    return {name: Data(kind, value) for name, kind, value in values}
