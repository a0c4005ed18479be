"""The last answers of clusters, so that a job costs no query of its own."""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

from shared.core.engine import ClusterView
from shared.core.errors import EngineError
from shared.core.no_answer import no_answer

log = logging.getLogger(__name__)
Subject = TypeVar("Subject", bound=Hashable)

#: Seconds that a look may take, and after which a failed one is repeated.
_PATIENCE, _AGAIN = 2.0, 15.0
#: More subjects than this are not clusters but texts of jobs: all are forgotten, and queried again.
_MOST = 1000


@dataclass(frozen=True)
class _Snapshot:
    """The last look: when it ended, the last view, and whether that is from this look."""

    at: float
    view: ClusterView | None
    failed: bool


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
        """The view, no older than `since` seconds; None while it does not answer."""
        snapshot = await self._look_at(subject, min(since, self._good))
        return None if snapshot.failed else snapshot.view

    async def _look_at(self, subject: Subject, seconds: float) -> _Snapshot:
        if len(self._turns) > _MOST:
            self._turns.clear()
            self._looks.clear()
        async with self._turns[subject]:
            before = self._looks.get(subject)
            if before is not None:
                good = min(self._good, _AGAIN) if before.failed else seconds
                if 0 <= self._clock() - before.at <= good:
                    return before
            view, failed = before.view if before else None, False
            try:
                async with asyncio.timeout(_PATIENCE):
                    view = await self._view_of(subject)
            except (EngineError, TimeoutError, ValueError, KeyError, TypeError, AttributeError) as error:
                failed = True
                late = isinstance(error, TimeoutError)
                log.warning(
                    "%s cannot be queried: %s",
                    subject,
                    no_answer(error, _PATIENCE) if late else repr(error),
                )
            self._looks[subject] = snapshot = _Snapshot(self._clock(), view, failed)
            return snapshot
