"""Defects of the emulator: they are logged, and work continues."""

import asyncio
import logging

from local.record_file import StoreFullError

_log = logging.getLogger(__name__)
#: Seconds until a failed write, or work that hit a defect, is retried.
AGAIN = 1.0


def again(error: Exception) -> float:
    """Seconds until the next try after an error. A full disk has logged itself."""
    if not isinstance(error, StoreFullError):
        _log.error("a defect of the emulator; it looks again in %g s", AGAIN, exc_info=error)
    return AGAIN


def report(task: "asyncio.Task[None]") -> None:
    """Log the error of background work."""
    if not task.cancelled() and (error := task.exception()):
        _log.error("a defect of the emulator", exc_info=error)
