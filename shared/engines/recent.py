"""The last answers of clusters, so that a job costs no query of its own."""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from shared.core.engine import ClusterView
from shared.core.errors import EngineError, Misconfigured
from shared.core.no_answer import no_answer

log = logging.getLogger(__name__)
Subject = TypeVar("Subject", bound=Hashable)

#: Seconds that a look may take, and after which a failed one is repeated.
_PATIENCE, _AGAIN = 2.0, 15.0
#: More subjects than this are not clusters but texts of jobs: all are forgotten, and queried again.
_MOST = 1000
#: Seconds for which the last view explains waits while the cluster does not answer.
_OLDEST = 300.0


@dataclass(frozen=True)
class _Snapshot:
    """The last look: when it ended, the last view and its time, and why this look has none."""

    at: float
    view: ClusterView | None = None
    viewed: float = float("-inf")
    failure: Exception | None = None


class Lately(Generic[Subject]):
    """Views of clusters or parts of them, each valid for some seconds; without a newer one, longer."""

    def __init__(
        self, view_of: Callable[[Subject], Awaitable[ClusterView]], good: float, clock: Callable[[], float]
    ) -> None:
        self._view_of, self._good, self._clock = view_of, good, clock
        self._turns: defaultdict[Subject, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._looks: dict[Subject, _Snapshot] = {}

    def last_view(self, subject: Subject) -> ClusterView | None:
        """The last view, without a query; None before the first answer."""
        return self._looks[subject].view if subject in self._looks else None

    async def view(self, subject: Subject) -> ClusterView | None:
        """The view, from at most one query at a time; None before the first answer."""
        return (await self._look_at(subject, self._good)).view

    async def now(self, subject: Subject, since: float) -> ClusterView | None:
        """The view, no older than `since` seconds.

        While the cluster does not answer it may be some minutes old. None after that, and where it refuses.
        """
        snapshot = await self._look_at(subject, min(since, self._good))
        if snapshot.failure is None:
            return snapshot.view
        is_recent = 0 <= self._clock() - snapshot.viewed <= _OLDEST
        return snapshot.view if is_recent and not isinstance(snapshot.failure, Misconfigured) else None

    def refusal(self, subject: Subject) -> Misconfigured | None:
        """Why the last look was refused, if an operator has to correct that."""
        failure = self._looks[subject].failure if subject in self._looks else None
        return failure if isinstance(failure, Misconfigured) else None

    async def _look_at(self, subject: Subject, seconds: float) -> _Snapshot:
        if len(self._turns) > _MOST:
            self._turns.clear()
            self._looks.clear()
        async with self._turns[subject]:
            before = self._looks.get(subject)
            if before is not None:
                good = min(self._good, _AGAIN) if before.failure else seconds
                if 0 <= self._clock() - before.at <= good:
                    return before
            self._looks[subject] = snapshot = await self._query(subject, before or _Snapshot(float("-inf")))
            return snapshot

    async def _query(self, subject: Subject, before: _Snapshot) -> _Snapshot:
        try:
            async with asyncio.timeout(_PATIENCE):
                view = await self._view_of(subject)
        except (EngineError, TimeoutError, ValueError, KeyError, TypeError, AttributeError) as error:
            late = isinstance(error, TimeoutError)
            log.warning(
                "%s cannot be queried: %s", subject, no_answer(error, _PATIENCE) if late else repr(error)
            )
            return replace(before, at=self._clock(), failure=error)
        now = self._clock()
        return _Snapshot(now, view, now)
