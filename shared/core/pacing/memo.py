"""memo: recent answers in this process, so that it does not query again for each job. Pure."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime, timedelta
from typing import Any, TypeVar, cast

T = TypeVar("T")

#: Beyond this number of keys, everything is forgotten, and queried again when needed.
_KEYS = 1000
_HOUR = timedelta(hours=1)
#: For how long an added entry may be missing in an answer, because it is still being written; and the longest
#: that a query takes.
_WRITING, _ASKING = timedelta(seconds=10), timedelta(minutes=2)


class Memo:
    """Answers by key, each valid for some seconds."""

    def __init__(self) -> None:
        self._answers: dict[str, tuple[datetime, Any]] = {}
        self._counts: dict[str, tuple[datetime, int]] = {}
        self._added: dict[str, dict[str, tuple[datetime, Any]]] = {}

    async def get(
        self, key: str, now: datetime, good_for: float | Callable[[T], float], ask: Callable[[], Awaitable[T]]
    ) -> T:
        """The last answer while it is valid, otherwise that of `ask`; errors are not remembered."""
        if self._is_good(key, now, good_for):
            return cast("T", self._answers[key][1])
        return await self._ask(key, now, ask)

    async def get_or_last(
        self,
        key: str,
        now: datetime,
        good_for: float | Callable[[T], float],
        ask: Callable[[], Awaitable[T]],
        before: T | None = None,
    ) -> T:
        """The same, but while one caller asks, the others get the last answer, or `before` if there is none.

        If there is neither, all callers ask.
        """
        if self._is_good(key, now, good_for):
            return cast("T", self._answers[key][1])
        _, last = self._answers.get(key, (None, before))
        return await self._ask(key, now, ask, last)

    def _is_good(self, key: str, now: datetime, good_for: float | Callable[[T], float]) -> bool:
        if key not in self._answers:
            return False
        since, last = self._answers[key]
        seconds = good_for(last) if callable(good_for) else good_for
        return timedelta(0) <= now - since < timedelta(seconds=seconds)

    async def _ask(
        self, key: str, now: datetime, ask: Callable[[], Awaitable[T]], meanwhile: T | None = None
    ) -> T:
        if len(self._answers) >= _KEYS:
            self._answers.clear()
            self._counts.clear()
            self._added.clear()
        if meanwhile is not None:
            self._answers[key] = now, meanwhile
        try:
            fresh = await ask()
        except BaseException:
            self.forget(key)
            raise
        self._keep_young(key, now, fresh)
        self._answers[key] = now, fresh
        return fresh

    def last(self, key: str) -> Any:
        """The last answer, however old; None before the first one."""
        return self._answers.get(key, (None, None))[1]

    def put(self, key: str, now: datetime, answer: object) -> None:
        """Store an answer that came with the answer to another query."""
        self._answers[key] = now, answer

    def add(self, key: str, now: datetime, entry: str, value: object) -> None:
        """Add an entry to an answer that is a dict, unless it is there, and count the entries added here."""
        _, answer = self._answers.get(key, (None, None))
        if isinstance(answer, dict) and entry in answer:
            return
        since, count = self._counts.get(key, (now, 0))
        self._counts[key] = (since, count + 1) if abs(now - since) < _HOUR else (now, 1)
        if isinstance(answer, dict):
            answer[entry] = value
            self._added.setdefault(key, {})[entry] = now, value

    def added(self, key: str) -> int:
        """How many entries this process added within an hour."""
        return self._counts.get(key, (None, 0))[1]

    def latest(self, key: str) -> Mapping[str, Any]:
        """The last answer that is a dict, with the entries added to it; empty before the first one."""
        _, answer = self._answers.get(key, (None, None))
        return answer if isinstance(answer, dict) else {}

    def forget(self, key: str) -> None:
        """Drop the remembered answer, so that the next call asks again."""
        self._answers.pop(key, None)

    def _keep_young(self, key: str, since: datetime, fresh: object) -> None:
        """Keep entries that were added shortly before the query, or during it: the answer may lack them.

        One that was added later than that was added before the clock went back.
        """
        added = self._added.pop(key, {})
        young = {
            entry: addition for entry, addition in added.items() if -_WRITING < addition[0] - since < _ASKING
        }
        if young and isinstance(fresh, dict):
            self._added[key] = young
            for entry, (_, value) in young.items():
                fresh.setdefault(entry, value)
