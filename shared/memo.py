"""memo: what this process asked lately, so that it need not ask again for each job. Pure."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import Any, TypeVar

T = TypeVar("T")

#: More keys than this are no help: everything is forgotten, and asked again where it is wanted.
_KEYS = 1000


class Memo:
    """Answers by key, each good for some seconds."""

    def __init__(self) -> None:
        self._answers: dict[str, tuple[datetime, Any]] = {}

    async def get(self, key: str, now: datetime, seconds: float, ask: Callable[[], Awaitable[T]]) -> T:
        """The answer that is at most `seconds` old, else what `ask` says; its errors are not remembered."""
        known = self._answers.get(key)
        if known is not None and timedelta(0) <= now - known[0] < timedelta(seconds=seconds):
            answer: T = known[1]
            return answer
        fresh = await ask()
        if len(self._answers) >= _KEYS:
            self._answers.clear()
        self._answers[key] = now, fresh
        return fresh

    def add(self, key: str, entry: object) -> None:
        """Add to an answer that is a list, as long as it is remembered."""
        _, answer = self._answers.get(key, (None, None))
        if isinstance(answer, list):
            answer.append(entry)

    def forget(self, key: str) -> None:
        """Ask again next time."""
        self._answers.pop(key, None)
