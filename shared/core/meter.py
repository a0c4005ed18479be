"""meter: counters and timings for a listener. Pure; without a listener each costs one call.

Names are those of the table in docs/reference/deployment.md.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from contextlib import AbstractContextManager, nullcontext
from functools import wraps
from typing import Any, Protocol, TypeVar, cast

Act = TypeVar("Act", bound=Callable[..., Coroutine[Any, Any, Any]])


class Meter(Protocol):
    """The listener. No verb raises, waits, or does I/O of its own."""

    def add(self, name: str, number: int = 1, **attributes: str) -> None:
        """Add `number` to a counter."""

    def set(self, name: str, value: float, **attributes: str) -> None:
        """A value that goes up and down."""

    def span(self, name: str) -> AbstractContextManager[object]:
        """Measure how long the block takes."""

    def annotate(self, **attributes: str) -> None:
        """Add attributes to the span that is open."""


class NoMeter:
    """A meter without a listener: it drops every value."""

    def add(self, name: str, number: int = 1, **attributes: str) -> None:
        """Count nothing."""

    def set(self, name: str, value: float, **attributes: str) -> None:
        """Keep no value."""

    def span(self, name: str) -> AbstractContextManager[object]:
        """Measure nothing of the block."""
        return nullcontext()

    def annotate(self, **attributes: str) -> None:
        """Add nothing to the span."""


class Metered(Protocol):
    """An object with a meter: the ports."""

    @property
    def meter(self) -> Meter:
        """The meter for its calls."""


def timed(name: str) -> Callable[[Act], Act]:
    """A span around a use case, whose first argument holds the meter."""

    def decorate(act: Act) -> Act:
        @wraps(act)
        async def timed_act(holder: Metered, *args: Any, **named: Any) -> Any:
            with holder.meter.span(name):
                return await act(holder, *args, **named)

        return cast("Act", timed_act)

    return decorate
