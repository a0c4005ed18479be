"""trouble: problems that keep some work from being done, as this process saw them lately. In memory.

Each has a name and a reason, never content. Health counts them, and the audit names them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Literal

from shared.core.ledger.entries import Silent

#: A row that cannot be read, a job that waits for the deployment to be mended, a pass that failed, a part
#: that our settings do not fit, and a cluster that does not answer.
Kind = Literal["row", "job", "sweeper", "settings", "cluster"]
#: Kinds that are in what is stored: a process that starts with other settings does not end them.
STORED: tuple[Kind, ...] = ("row", "job")
#: The beginning of reasons that only an operator can remove.
OPERATOR_NEEDED = "waits for the deployment to be mended"
#: How long a problem counts that was not seen again: longer than any wait until the next look. The next pass
#: may run in another process, which does not know that it should resolve this one.
_LATELY, _PASS_IS_DUE = timedelta(minutes=15), timedelta(minutes=3)
#: How many are remembered; beyond that the oldest is dropped.
_MOST = 1000


def lately(kind: str, moment: datetime, now: datetime) -> bool:
    """Whether a problem found at that time still counts. The clock of who found it may be wrong."""
    return abs(now - moment) < (_PASS_IS_DUE if kind in ("sweeper", "cluster") else _LATELY)


class Troubles:
    """The problems that were found, by kind and name: a reason and a time."""

    def __init__(self, clock: Callable[[], datetime]) -> None:
        self._clock = clock
        #: the reason, the time when it was last seen, and the time when it was first seen
        self._reported: dict[tuple[Kind, str], tuple[str, datetime, datetime]] = {}
        #: the reasons that were given, so that each is logged once
        self._reasons: dict[tuple[Kind, str], str] = {}
        #: whether a problem was published, and its end not yet; None: perhaps by an earlier process
        self.published: bool | None = None

    def report(self, kind: Kind, what: str, why: str) -> bool:
        """Report a problem. Returns whether it is new, and worth a log line."""
        key, now = (kind, what), self._clock()
        before = self._reported.pop(key, None)
        since = before[2] if before is not None and lately(kind, before[1], now) else now
        self._reported[key] = (why, now, since)
        news = self._reasons.get(key) != why
        self._reasons[key] = why
        if len(self._reported) > _MOST:
            del self._reported[next(iter(self._reported))]
        if len(self._reasons) > _MOST:
            del self._reasons[next(iter(self._reasons))]
        return news

    def resolve(self, kind: Kind, what: str) -> None:
        """Report that a problem is over."""
        self._reported.pop((kind, what), None)
        self._reasons.pop((kind, what), None)

    def silent(self) -> dict[str, Silent]:
        """The clusters that do not answer, by engine and name."""
        now = self._clock()
        return {
            what: Silent(since, why)
            for (kind, what), (why, at, since) in self._reported.items()
            if kind == "cluster" and lately(kind, at, now)
        }

    def forget(self, kind: Kind) -> None:
        """Forget problems of a kind, before everything is checked again."""
        for key in [key for key in self._reported if key[0] == kind]:
            del self._reported[key]

    def counts(self) -> dict[str, int]:
        """The number of recent troubles by kind; no entry for a kind without any."""
        now = self._clock()
        return dict(
            Counter(kind for (kind, _), (_, at, _) in self._reported.items() if lately(kind, at, now))
        )

    def reasons(self, kind: Kind) -> dict[str, str]:
        """The problems found within the last minutes, and their reasons."""
        now = self._clock()
        entries = self._reported.items()
        return {what: why for (one, what), (why, at, _) in entries if one == kind and lately(kind, at, now)}
