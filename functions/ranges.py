"""Range requests and validators (RFC 9110): of what an engine reads of a file, and of JSON answers."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

import azure.functions as func

if TYPE_CHECKING:
    from shared.core.engine import FileChunk
    from shared.operate.files.output import Span

#: No file has more bytes than have this many digits.
_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})", re.ASCII)


def span_of(header: str) -> Span | None:
    """The bytes that a Range asks for. None for the whole file: no range, several, or one that is invalid."""
    from shared.operate.files.output import Span

    match = _RANGE.fullmatch(header.replace(" ", ""))
    if match is None or not (match[1] or match[2]):
        return None
    first, last = (int(part) if part else None for part in match.groups())
    if first is not None and last is not None and last < first:
        return None
    return Span(first, last)


def most_of(span: Span | None) -> int:
    """The most bytes that one answer has of it, or of a whole file."""
    from shared.operate.files.output import MOST_BYTES

    # Of the last bytes of a file there may be more than was asked for: it may grow after its size is known.
    if span is None or span.first is None or span.last is None:
        return MOST_BYTES
    return min(MOST_BYTES, span.last - span.first + 1)


def validator(job_id: str, attempt: str, directory: str, path: str, chunk: FileChunk) -> str:
    """A strong ETag of the file as it is now; "" where the engine cannot see whether it changes."""
    if not chunk.version:
        return ""
    identity = "\0".join((job_id, attempt, directory, path, chunk.version, str(chunk.size)))
    return f'"{hashlib.sha256(identity.encode()).hexdigest()[:32]}"'


def if_changed(req: func.HttpRequest, answer: func.HttpResponse) -> func.HttpResponse:
    """The answer to a GET or HEAD with its ETag; 304 where the caller has it. Files have their own."""
    is_json = answer.mimetype == "application/json" and "Accept-Ranges" not in answer.headers
    if req.method not in ("GET", "HEAD") or answer.status_code != 200 or not is_json:
        return answer
    tag = f'"{hashlib.sha256(answer.get_body()).hexdigest()[:32]}"'
    answer.headers["ETag"] = tag
    if is_same(req, tag):
        return func.HttpResponse(status_code=304, headers=dict(answer.headers))
    return answer


def is_same(req: func.HttpRequest, tag: str) -> bool:
    """Whether the caller has the answer of this validator: If-None-Match is compared weakly."""
    return is_named(req.headers.get("If-None-Match", "").replace('W/"', '"'), tag)


def is_named(condition: str, tag: str) -> bool:
    """Whether a list of validators (If-Match, If-None-Match) has this one, or `*`."""
    named = re.split(r"\s*,\s*", condition.strip())
    return "*" in named or (bool(tag) and tag in named)
