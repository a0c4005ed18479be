"""An API server's errors as Slipway's classes, by status, reason and message. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from shared.core.errors import (
    Busy,
    Conflict,
    EngineError,
    Misconfigured,
    NotFound,
    Rejected,
    Saturated,
    Transient,
)

_LONGEST = 500
_DELETING = "object is being deleted"
#: Messages of other errors that have the status of missing rights.
_QUOTA, _TERMINATED = "exceeded quota", "because it is being terminated"
#: After this, old servers quote the body that they could not read.
_QUOTE = re.compile(r",? ?(error found in #|bigger context).*", re.DOTALL)
_DENIED = re.compile(r'admission webhook "[^"]*" denied the request')
#: Causes whose message ends with an explanation, after the value, which is not shown.
_EXPLAINED = frozenset(
    {
        "FieldValueInvalid",
        "FieldValueRequired",
        "FieldValueNotSupported",
        "FieldValueForbidden",
        "FieldValueTooLong",
    }
)


#: The parts of a Job that come from the options of its cluster, and from nothing of the job's.
_OF_THE_CLUSTER = tuple(
    f"spec.template.spec.{name}" for name in ("nodeSelector", "tolerations", "imagePullSecrets", "volumes")
)


class LacksRight(Misconfigured):
    """The account is known, and may not do this."""


def reason_of(body: Mapping[str, Any]) -> str:
    """The reason of a Status; "" for other bodies."""
    return str(body.get("reason") or "") if body.get("kind") == "Status" else ""


def lacks_rights(status: int, body: Mapping[str, Any]) -> bool:
    """Whether it says that our account is unknown, or lacks the right to this: not a quota, nor a webhook."""
    if status == 403:
        message = str(body.get("message") or "")
        return not _DENIED.search(message) and not any(words in message for words in (_QUOTA, _TERMINATED))
    return status == 401


def failure(status: int, body: Mapping[str, Any]) -> EngineError:
    """The error of an unsuccessful answer."""
    message = str(body.get("message") or "") if body.get("kind") == "Status" else ""
    text = _text(status, body, message)
    if _DENIED.search(message):
        return Rejected(text)
    if status == 401:
        return Misconfigured(f"{text}; its token has expired, or is of another cluster: give it a new one")
    if status == 403:
        return _forbidden(message, text)
    if status == 409:
        return _conflict(reason_of(body), message, text)
    if status == 404:
        return _absent(reason_of(body), body, text)
    if status == 400 and "unknown field" in message:
        return Misconfigured(f"{text}; this API server is older than what Slipway needs: Kubernetes 1.26")
    if status == 422 and _is_of_the_cluster(body):
        return Misconfigured(f"{text}; correct that option of the cluster")
    return _by_status(status)(text)


def _is_of_the_cluster(body: Mapping[str, Any]) -> bool:
    """Whether all that it calls invalid are places which the cluster's options alone fill."""
    fields = [str(cause.get("field") or "") for cause in _causes(body)]
    return bool(fields) and all(field.startswith(_OF_THE_CLUSTER) for field in fields)


def _forbidden(message: str, text: str) -> EngineError:
    if _QUOTA in message:
        return Saturated(text)
    if "system:anonymous" in message:
        return Misconfigured(f"{text}; no token came with the request: give the cluster one")
    if _TERMINATED in message:
        return Misconfigured(f"{text}; the namespace is being deleted: make it again")
    return LacksRight(f"{text}; give the service account of Slipway the Role that it needs")


def _conflict(reason: str, message: str, text: str) -> EngineError:
    if message.startswith(_DELETING):
        return Busy(f"{text}; its name is free again when that is over")
    return Conflict(text) if reason == "AlreadyExists" else Busy(text)


def _absent(reason: str, body: Mapping[str, Any], text: str) -> EngineError:
    if not reason:  # a gateway without an API server behind it knows no Job
        return Transient(f"{text}; does something other than Kubernetes answer there?")
    details = body.get("details")
    if isinstance(details, Mapping) and details.get("kind") == "namespaces":
        return Misconfigured(f"{text}; make the namespace, or correct the cluster's option `namespace`")
    return NotFound(text)


def _by_status(status: int) -> type[EngineError]:
    if status in (410, 429, 503):  # 410: the rest of a list is forgotten, which has to begin anew
        return Busy
    if status in (400, 405, 406, 413, 415, 422):
        return Rejected
    return Transient


def _text(status: int, body: Mapping[str, Any], message: str) -> str:
    shown = _invalid(body) if status == 422 else _QUOTE.sub("", message)
    return ": ".join(filter(None, (f"Kubernetes: {reason_of(body) or status}", shown)))[:_LONGEST]


def _invalid(body: Mapping[str, Any]) -> str:
    """The field and explanation of each cause: the message itself repeats whole values of the object."""
    parts = []
    for cause in _causes(body):
        kind, words = str(cause.get("reason") or ""), str(cause.get("message") or "")
        explained = words.rpartition(": ")[2] if kind in _EXPLAINED else kind
        parts.append(f"{cause.get('field')}: {explained}")
    return "; ".join(dict.fromkeys(parts))


def _causes(body: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    details = body.get("details")
    causes = details.get("causes") if isinstance(details, Mapping) else None
    return [one for one in causes if isinstance(one, Mapping)] if isinstance(causes, list) else []
