"""Defects of the emulator: they are logged, and work goes on."""

import asyncio
import logging

from local.record_file import StoreFullError

_log = logging.getLogger(__name__)
#: Seconds until what could not be written, or failed by a defect, is tried again.
AGAIN = 1.0


def again(error: Exception) -> float:
    """Seconds until the next look after an error; a full disk has said so itself."""
    if not isinstance(error, StoreFullError):
        _log.error("a defect of the emulator; it looks again in %g s", AGAIN, exc_info=error)
    return AGAIN


def report(task: "asyncio.Task[None]") -> None:
    """Log the error of work in the background."""
    if not task.cancelled() and (error := task.exception()):
        _log.error("a defect of the emulator", exc_info=error)
