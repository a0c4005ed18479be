"""How much the app holds in memory for answers at once. A body counts until its last reference is gone.

The host takes a body when it can, which may be long after the function has returned it. Azure's worker copies
it into its message to the host at once: these copies are not counted.
"""

from __future__ import annotations

import asyncio
import weakref
from collections import deque
from contextlib import suppress
from types import TracebackType
from typing import Self

import azure.functions as func

from shared.core.errors import Misuse

#: Seconds for which a request waits, and after which its caller is asked to come again.
PATIENCE, _RETRY_AFTER = 20.0, 5.0


class Allowance:
    """So many bytes, or other things, for all requests together, which get them in the order they came."""

    def __init__(self, most: int, patience: float = PATIENCE) -> None:
        self._most, self._patience = most, patience
        self._use = 0
        #: What went back and is not subtracted yet: a reference may end in any thread, at any line.
        self._returned: deque[int] = deque()
        self._waiting: deque[tuple[int, asyncio.Future[None]]] = deque()

    @property
    def in_use(self) -> int:
        """How much of it is not free."""
        while self._returned:
            self._use -= self._returned.popleft()
        return self._use

    def share(self) -> Share:
        """A share of nothing, to be entered by `async with` before anything is taken."""
        return Share(self)

    async def take(self, count: int) -> int:
        """Wait for so many, or for all where that is more; the number.

        Raises Misuse (503) where others have them for too long.
        """
        count = min(count, self._most)
        entry: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((count, entry))
        self._admit()
        try:
            async with asyncio.timeout(self._patience):
                await entry
        except asyncio.CancelledError:
            self._leave(count, entry)
            raise
        except TimeoutError:
            self._leave(count, entry)
            raise Misuse(
                "the app has as many files in its memory as it may at once",
                status=503,
                remedy="send the same request again",
                retry_after=_RETRY_AFTER,
            ) from None
        return count

    def give_back(self, count: int) -> None:
        """Let others have so many. Safe in any thread."""
        if not count:
            return
        self._returned.append(count)
        try:
            self._waiting[0][1].get_loop().call_soon_threadsafe(self._admit)
        except (IndexError, RuntimeError):  # no one waits, or its loop has ended
            return

    def _leave(self, count: int, entry: asyncio.Future[None]) -> None:
        if entry.done() and not entry.cancelled():  # its turn came at the same moment
            self.give_back(count)
        else:
            with suppress(ValueError):  # passed over since it was cancelled
                self._waiting.remove((count, entry))
            self._admit()

    def _admit(self) -> None:
        while self._waiting:
            count, entry = self._waiting[0]
            if entry.done():
                self._waiting.popleft()
                continue
            if self.in_use + count > self._most:
                return
            self._waiting.popleft()
            self._use += count
            entry.set_result(None)


#: Bytes of files that this process holds for answers at once, archives that it makes at once, and those of
#: code that it reads, and takes, at once.
BODIES, ARCHIVES, LISTINGS, UPLOADS = Allowance(16 << 20), Allowance(1), Allowance(2), Allowance(2)


class Share:
    """What one request has of an allowance. It goes back at the end of the block, or with the body."""

    def __init__(self, allowance: Allowance) -> None:
        self._allowance, self._count = allowance, 0

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._allowance.give_back(self._count)
        self._count = 0

    async def take(self, count: int) -> None:
        """Take so many more. Raises Misuse (503)."""
        self._count += await self._allowance.take(count)

    def body(self, data: bytes) -> Body:
        """The bytes of an answer; they keep so much of the share until their last reference is gone."""
        body, part = Body(data), min(len(data), self._count)
        self._count -= part
        weakref.finalize(body.life, self._allowance.give_back, part).atexit = False
        return body


class _Life:
    """Ends with what refers to it: bytes take no weak reference themselves."""


class Body(bytes):
    """Bytes that can be watched."""

    life: _Life

    def __new__(cls, data: bytes) -> Self:
        """A copy of the bytes."""
        body = super().__new__(cls, data)
        body.life = _Life()
        return body


class FileResponse(func.HttpResponse):
    """An answer with a body that is not copied: a copy would not count."""

    def __init__(self, body: Body, *, status_code: int, headers: dict[str, str], mimetype: str) -> None:
        super().__init__(status_code=status_code, headers=headers, mimetype=mimetype)
        self._body = body

    def get_body(self) -> bytes:
        """What the worker sends."""
        return self._body
