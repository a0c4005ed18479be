"""Events as CloudEvents 1.0 in the JSON format, structured mode. Pure, and stable byte for byte."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

CONTENT_TYPE = "application/cloudevents+json; charset=utf-8"

#: Bytes of a whole event. Standard Webhooks asks for less than 20 kB: link to outputs, do not send them.
LARGEST_EVENT = 20_000

#: RFC 3986 characters of a URI-reference.
_URI = re.compile(r"(?:[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=]|%[0-9A-Fa-f]{2})+", re.ASCII)
#: What a CloudEvents string must not hold (spec 1.0, type system).
_FORBIDDEN = re.compile("[\u0000-\u001f\u007f-\u009f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")


def event_id(job_id: str, sequence: int, type_: str) -> str:
    """Return the id of a job's event: the same after any crash, so that receivers can drop duplicates."""
    digest = hashlib.sha256(f"{job_id}|{sequence}|{type_}".encode()).digest()
    return "evt_" + base64.b32encode(digest[:20])[:26].decode("ascii").lower()


def cloud_event(
    *,
    id: str,  # noqa: A002 - the specification's own word
    source: str,
    type: str,  # noqa: A002 - the specification's own word
    subject: str,
    time: datetime,
    data: Mapping[str, Any],
) -> bytes:
    """Write one event as UTF-8 JSON. The bytes are kept and sent as they are on every try.

    Raises ValueError for an attribute the specification forbids, and for an event over 20 kB.
    """
    if not _URI.fullmatch(source):
        raise ValueError("source must be a URI-reference: percent-encode what RFC 3986 does not allow")
    if time.tzinfo is None:
        raise ValueError("time must be aware of its zone, or it would be read as another instant")
    event = {
        "specversion": "1.0",
        "id": _text("id", id),
        "source": source,
        "type": _text("type", type),
        "subject": _text("subject", subject),
        "time": _timestamp(time),
        "datacontenttype": "application/json",
        "data": dict(data),
    }
    # NaN is not JSON; a lone surrogate is not UTF-8: both raise ValueError here.
    written = json.dumps(event, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"))
    encoded = written.encode("utf-8")
    if len(encoded) > LARGEST_EVENT:
        raise ValueError(
            f"the event has {len(encoded)} bytes and at most {LARGEST_EVENT} are sent; shorten its data"
        )
    return encoded


def _text(name: str, value: str) -> str:
    if not value:
        raise ValueError(f"{name} must not be empty")
    if _FORBIDDEN.search(value):
        raise ValueError(f"{name} must not hold control characters, surrogates or noncharacters")
    return value


def _timestamp(time: datetime) -> str:
    """RFC 3339 in UTC, always with milliseconds, so that receivers may compare the text."""
    return time.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
