"""Repeats requests that got no answer, as while an app starts or is deployed; limits waits.

Every request may be repeated: reads change nothing, and what changes something has a key or a condition.
"""

import asyncio
import math
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TypeVar

from slipway.client.calls.refusal import Unanswered
from slipway.terminal.screen import say

Answer = TypeVar("Answer")
#: Seconds without any answer after which a request is given up: a deployment takes a few minutes.
LONGEST = 300.0
#: Seconds: the longest wait between two tries, and the longest that an answer may request (`Retry-After`).
_LONGEST_WAIT, _LONGEST_REQUESTED = 8.0, 60.0
#: Seconds before the second repetition; the first one follows at once.
_FIRST_WAIT = 0.5
#: Seconds of waiting after which the reason is shown again.
_TELL_EVERY = 60.0


@dataclass
class Patience:
    """How requests are repeated: for how long, by which clock, and where a person reads why."""

    seconds: float = LONGEST
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
    tell: Callable[[str], None] = say
    #: when the last reason was shown; requests at the same time do not repeat it
    _shown_at: float = field(default=-math.inf, init=False)

    async def until_answered(
        self,
        ask: Callable[[], Awaitable[Answer]],
        at_once: tuple[type[Unanswered], ...] = (),
        progress_at: Callable[[], float] = lambda: -math.inf,
    ) -> Answer:
        """The answer; asks again while there is none, as long as the trouble allows. Raises Failure.

        A call is one request, so its begin is the time of the last progress, unless `progress_at` says a
        later one. What `at_once` names is raised without another try.
        """
        began, wait = self.clock(), 0.0
        while True:
            try:
                answer = await ask()
            except at_once:
                raise
            except Unanswered as lost:
                since = max(began, progress_at())
                if lost.spent or not (pause := self._pause(lost, wait, self.clock() - since)) >= 0:
                    lost.spent = True
                    raise
                await self.sleep(pause)
                wait = min(2 * wait, _LONGEST_WAIT) if wait else _FIRST_WAIT
            else:
                if wait:
                    self._shown_at = -math.inf
                return answer

    def _pause(self, lost: Unanswered, wait: float, spent: float) -> float:
        """Seconds until the next try, which a person is told; less than 0 where none follows."""
        remaining = min(self.seconds, lost.patience) - spent
        pause = max(wait, min(lost.retry_after, _LONGEST_REQUESTED))
        if pause >= remaining:
            return -1.0
        if pause and (now := self.clock()) - self._shown_at >= _TELL_EVERY:
            self._shown_at = now
            self.tell(f"{lost.reason}; asking again for up to {_duration(remaining)} (Ctrl-C ends it)")
        return pause


_USUAL = Patience()
_CHOSEN: ContextVar[Patience | None] = ContextVar("patience", default=None)


async def patiently(ask: Callable[[], Awaitable[Answer]]) -> Answer:
    """The answer; asks again for minutes while there is none. Raises Failure."""
    return await chosen_patience().until_answered(ask)


def chosen_patience() -> Patience:
    """The patience of the requests here."""
    return _CHOSEN.get() or _USUAL


async def pause(seconds: float) -> None:
    """Wait between two looks, by the clock of the patience."""
    await chosen_patience().sleep(seconds)


@contextmanager
def patience(chosen: Patience) -> Iterator[None]:
    """Use this patience for the requests of the block, in any thread: `slipway doctor` has none."""
    token = _CHOSEN.set(chosen)
    try:
        yield
    finally:
        _CHOSEN.reset(token)


def _duration(seconds: float) -> str:
    return f"{round(seconds / 60)} min" if seconds >= 90 else f"{round(seconds)} s"


@asynccontextmanager
async def time_limit(seconds: float | None, name: str) -> AsyncIterator[None]:
    """End the block after so many seconds, if any. Raises TimeoutError, which names the job or sweep."""
    try:
        async with asyncio.timeout(seconds) as limit:
            yield
    except TimeoutError as error:
        if not limit.expired():
            raise
        raise TimeoutError(
            f"no end of {name} was seen within {seconds:,} seconds; it was not cancelled"
        ) from error
