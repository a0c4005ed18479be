"""Azure Batch's errors as Slipway's classes, by code, or by status if the code is unknown. Pure."""

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

#: Names that are free again after a deletion, and states that pass.
_PASSING = ("BeingDeleted", "BeingTerminated", "BeingResized")
_MEANINGS: Mapping[str, type[EngineError]] = {
    "TaskNotFound": NotFound,
    "FileNotFound": NotFound,
    "TaskFilesUnavailable": NotFound,
    "TaskFilesCleanedup": NotFound,
    "TaskExists": Conflict,
    **dict.fromkeys(
        (
            "AccountIsDisabled",
            "AccountNotFound",
            "AuthenticationFailed",
            "Forbidden",
            "InsufficientAccountPermissions",
            "InvalidAutoScalingSettings",
            # Parameters are ours, such as a version that Azure has retired: no job is the cause.
            "InvalidQueryParameterValue",
            "MissingRequiredQueryParameter",
            "OutOfRangeQueryParameterValue",
            "UnsupportedQueryParameter",
            "JobCompleted",
            "JobDisabled",
            "PoolNotFound",
        ),
        Misconfigured,
    ),
    **dict.fromkeys(("OperationTimedOut", "InternalError"), Transient),
    **dict.fromkeys(("ServerBusy", "TooManyRequests", "TooManyEnableAutoScaleRequests"), Busy),
    "ConditionNotMet": Busy,
}
_REMEDIES: Mapping[str, str] = {
    "AuthenticationFailed": "check the account's key, or the roles of the identity, and this machine's clock",
    "JobCompleted": "the Batch job for Slipway's tasks was terminated: delete it; Slipway creates a new one",
    "InvalidQueryParameterValue": "Azure may have retired the version that Slipway speaks: upgrade Slipway",
    "PoolNotFound": "make the pool again (`slipway setup`), or correct `pool` of the cluster",
    "JobDisabled": "the Batch job for Slipway's tasks was disabled: enable it",
}
#: The service appends these to each message. They are useless in an event, and differ each time.
_TRACE = re.compile(r"\s*(RequestId|Time):\S*")
_LONGEST = 500


def code_of(body: Mapping[str, Any]) -> str:
    """The code in an error's body; "" if there is none."""
    return str(body.get("code") or "")


def failure(status: int, body: Mapping[str, Any]) -> EngineError:
    """The error of an unsuccessful answer."""
    code = code_of(body)
    text = _text(status, body)
    if code.endswith("QuotaReached"):
        return Saturated(text)
    if code.endswith(_PASSING):
        return Busy(text)
    if code in _MEANINGS:
        remedy = _REMEDIES.get(code)
        return _MEANINGS[code](f"{text}; {remedy}" if remedy else text)
    if status == 404 and not code:  # a gateway without the service behind it knows no task
        return Transient(f"{text}; does something other than Azure Batch answer there?")
    return _by_status(status)(text)


def _by_status(status: int) -> type[EngineError]:
    if status in (401, 403):
        return Misconfigured
    if status == 404:
        return NotFound
    if status in (429, 503):
        return Busy
    if status in (400, 405, 411, 413, 414, 422):
        return Rejected
    return Transient


def _text(status: int, body: Mapping[str, Any]) -> str:
    message = body.get("message")
    words = message.get("value") if isinstance(message, Mapping) else None
    values = body.get("values") or ()
    details = [
        f"{one['key']}: {one['value']}"
        for one in values
        if isinstance(one, Mapping) and one.get("key") in ("PropertyName", "Reason") and one.get("value")
    ]
    message_text = _TRACE.sub("", str(words or "")).strip()
    text = ": ".join(filter(None, (f"Azure Batch: {code_of(body) or status}", message_text)))
    return "; ".join((text, *details))[:_LONGEST]
