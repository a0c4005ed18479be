"""JSON Patch (RFC 6902), as much of it as fixes use; independent of the project, to check it."""

from __future__ import annotations

import copy
from typing import Any


def patched(document: Any, operations: list[dict[str, Any]]) -> Any:
    """The document after the operations."""
    whole = {"": copy.deepcopy(document)}
    for one in operations:
        if one["op"] == "remove":
            _take(whole, one["path"])
        elif one["op"] == "replace":
            _take(whole, one["path"], put=one["value"])
        elif one["op"] == "move":
            assert not one["path"].startswith(one["from"] + "/")
            _add(whole, one["path"], _take(whole, one["from"]))
        else:
            assert one["op"] == "add"
            _add(whole, one["path"], one["value"])
    return whole[""]


def _holder(whole: Any, path: str) -> tuple[Any, Any]:
    *above, last = ["", *(part.replace("~1", "/").replace("~0", "~") for part in path.split("/")[1:])]
    inner = whole
    for part in above:
        inner = inner[int(part)] if isinstance(inner, list) else inner[part]
    return inner, int(last) if isinstance(inner, list) and last != "-" else last


_NOTHING = object()


def _take(whole: Any, path: str, put: Any = _NOTHING) -> Any:
    holder, key = _holder(whole, path)
    value = holder[key]
    if put is _NOTHING:
        del holder[key]
    else:
        holder[key] = put
    return value


def _add(whole: Any, path: str, value: Any) -> None:
    holder, key = _holder(whole, path)
    if isinstance(holder, list):
        holder.insert(len(holder) if key == "-" else key, value)
    else:
        holder[key] = value
