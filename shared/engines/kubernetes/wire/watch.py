"""One line of a watch: a change of an object. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from shared.core.errors import Transient
from shared.engines.kubernetes.wire.errors import failure

#: The status of an error that names none.
_UNKNOWN = 500


class Event(NamedTuple):
    """ADDED, MODIFIED, DELETED, or BOOKMARK, whose object has only a version."""

    kind: str
    object: Mapping[str, Any]

    @property
    def version(self) -> str:
        """The version from which a watch continues."""
        metadata = self.object.get("metadata")
        return str(metadata.get("resourceVersion") or "") if isinstance(metadata, dict) else ""


def event_of(line: bytes) -> Event:
    """The event of a line. Raises the error that it reports: Expired if its version is too old."""
    try:
        document = json.loads(line)
        kind, subject = document["type"], document["object"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise Transient("Kubernetes sent an event that cannot be read") from None
    if not isinstance(subject, dict) or not isinstance(kind, str):
        raise Transient("Kubernetes sent an event that cannot be read")
    if kind == "ERROR":
        code = subject.get("code")
        raise failure(code if isinstance(code, int) else _UNKNOWN, subject)
    return Event(kind, subject)
