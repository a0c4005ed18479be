"""memo: what this process asked lately, so that it need not ask again for each job. Pure."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import Any, TypeVar

T = TypeVar("T")

#: More keys than this are no help: everything is forgotten, and asked again where it is wanted.
_KEYS = 1000
_HOUR = timedelta(hours=1)


class Memo:
    """Answers by key, each good for some seconds."""

    def __init__(self) -> None:
        self._answers: dict[str, tuple[datetime, Any]] = {}
        self._added: dict[str, tuple[datetime, int]] = {}

    async def get(
        self,
        key: str,
        now: datetime,
        good_for: float | Callable[[T], float],
        ask: Callable[[], Awaitable[T]],
        first: T | None = None,
    ) -> T:
        """The last answer for the seconds it is good for, then what `ask` says; errors are not remembered.

        With `first`, the last answer (at first this one) stands while it is asked for; else all ask.
        """
        known: tuple[datetime, T] | None = self._answers.get(key)
        if known is not None:
            since, last = known
            seconds = good_for(last) if callable(good_for) else good_for
            if timedelta(0) <= now - since < timedelta(seconds=seconds):
                return last
            first = last if first is not None else None
        if len(self._answers) >= _KEYS:
            self._answers.clear()
            self._added.clear()
        if first is not None:
            self._answers[key] = now, first
        try:
            fresh = await ask()
        except BaseException:
            self.forget(key)
            raise
        self._answers[key] = now, fresh
        return fresh

    def add(self, key: str, now: datetime, entry: object) -> None:
        """Add to an answer that is a list, as long as it is remembered; and count what this process adds."""
        since, count = self._added.get(key, (now, 0))
        self._added[key] = (since, count + 1) if now - since < _HOUR else (now, 1)
        _, answer = self._answers.get(key, (None, None))
        if isinstance(answer, list):
            answer.append(entry)

    def added(self, key: str) -> int:
        """How much this process added within an hour."""
        return self._added.get(key, (None, 0))[1]

    def forget(self, key: str) -> None:
        """Ask again next time."""
        self._answers.pop(key, None)
