"""The conditions of an object: which are true, and since when. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def conditions(document: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any]]:
    """Each condition of the status, by type, true or not."""
    status = document.get("status")
    listed = status.get("conditions") if isinstance(status, Mapping) else None
    return {
        str(one.get("type")): one
        for one in (listed if isinstance(listed, list) else ())
        if isinstance(one, Mapping)
    }


def condition(document: Mapping[str, Any], kind: str) -> Mapping[str, Any] | None:
    """The condition of that type if it is true; None if it is false or missing."""
    current = conditions(document).get(kind)
    return current if current is not None and current.get("status") == "True" else None
