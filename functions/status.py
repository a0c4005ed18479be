"""The status with which an error is answered, and which the trail has of the act."""

from __future__ import annotations

from shared.core.errors import EngineError, Misconfigured, Misuse, SlipwayError, Unreadable


def status_of(error: Exception) -> int:
    """The status with which an error is answered."""
    match error:
        case Misuse():
            return error.status
        case Misconfigured():
            return 503
        case EngineError():
            return 502
        case Unreadable():
            return 500
        case SlipwayError():
            return 503
    return 500
