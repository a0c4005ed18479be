"""Warnings that name the caller's own line, even when the event loop runs in another thread."""

import inspect
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import FrameType
from typing import Any, NamedTuple

#: Modules between the line of a caller and a warning.
_SKIPPED = {"slipway", "asyncio", "contextlib"}


class _Line(NamedTuple):
    file: str
    number: int
    module: str
    warned: dict[Any, Any]


_CALLER: ContextVar[_Line | None] = ContextVar("caller", default=None)


@contextmanager
def remembered() -> Iterator[None]:
    """Make warnings from work that begins here, in any thread, name the line that calls the client now."""
    token = _CALLER.set(_calling(inspect.currentframe()))
    try:
        yield
    finally:
        _CALLER.reset(token)


def warn_caller(message: str) -> None:
    """Warn at the innermost line outside the client and its event loop."""
    line = _CALLER.get() or _calling(inspect.currentframe())
    if line is None:
        warnings.warn(message, stacklevel=2)
    else:
        warnings.warn_explicit(message, UserWarning, line.file, line.number, line.module, line.warned)


def _calling(frame: FrameType | None) -> _Line | None:
    while frame is not None:
        module = str(frame.f_globals.get("__name__", ""))
        if module.partition(".")[0] not in _SKIPPED:
            warned = frame.f_globals.setdefault("__warningregistry__", {})
            return _Line(frame.f_code.co_filename, frame.f_lineno, module, warned)
        frame = frame.f_back
    return None
