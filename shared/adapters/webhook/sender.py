"""Sends signed events to receivers whose addresses come from outside.

The address text passes the URL gate first (`core/notify/webhook_url.py`); the real protection is the
connect-time gate (`gate.py`).
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from shared.adapters.webhook.gate import AddressRefusedError, Gate, OwnThreads
from shared.adapters.webhook.head import Head
from shared.adapters.webhook.signing import signature_headers
from shared.core.no_answer import no_answer
from shared.core.notify import webhook_url
from shared.core.pacing.backoff import parse_retry_after
from shared.core.ports import Outcome, Posted

if TYPE_CHECKING:
    from aiohttp import ClientSession
    from aiohttp.abc import AbstractResolver


class WebhookSender:
    """Posts events.

    Use one per process and close it at the end. A post never takes longer than `total_seconds`.
    """

    def __init__(
        self,
        policy: webhook_url.UrlPolicy,
        *,
        total_seconds: float = 15,
        connect_seconds: float = 5,
        slot_seconds: float = 5,
        per_host: int = 4,
        at_once: int = 256,
        resolver: AbstractResolver | None = None,
    ) -> None:
        self._policy = policy
        self._total_seconds = total_seconds
        self._connect_seconds = connect_seconds
        self._names = resolver or OwnThreads()
        self._slots = _Slots(per_host, at_once, slot_seconds)
        self._sessions: dict[bool, ClientSession] = {}

    async def post(
        self, url: str, webhook_id: str, body: bytes, secrets: Sequence[str], now: datetime
    ) -> Posted:
        """Make one signed try. `now` becomes the signed timestamp.

        Every reaction of the network and the receiver is an outcome. Raises ValueError only for an unusable
        id or secret.
        """
        headers = signature_headers(webhook_id, int(now.timestamp()), body, secrets)
        return await self.send(url, body, headers, now)

    async def send(self, url: str, body: bytes, headers: dict[str, str], now: datetime) -> Posted:
        """Make one try that is not signed, behind the same gates. A header replaces that of the session."""
        problem = webhook_url.refusal(url, self._policy)
        if problem is not None:
            return Posted("refused", None, problem, None, 0)
        try:
            # The wait for a slot is not part of the try, and does not count towards its time.
            async with self._slots.take(webhook_url.authority(url)):
                return await self._timed(url, body, headers, now)
        except _NoSlotError:
            return Posted("busy", None, "not sent: enough is under way to this receiver", None, 0)

    async def close(self) -> None:
        """Close the connections; safe to repeat."""
        while self._sessions:
            _, session = self._sessions.popitem()
            await session.close()

    async def _timed(self, url: str, body: bytes, headers: dict[str, str], now: datetime) -> Posted:
        started = time.perf_counter()
        head, error = await self._answer(url, body, headers)
        retry_after = None
        if head.status is None:
            outcome, detail = _failure(error or ValueError("no status line"), self._total_seconds)
        else:
            outcome, detail = _meaning(head.status)
            if outcome == "retry":
                retry_after = parse_retry_after(head.retry_after, now)
        milliseconds = round((time.perf_counter() - started) * 1000)
        return Posted(outcome, head.status, detail, retry_after, milliseconds)

    async def _answer(self, url: str, body: bytes, headers: dict[str, str]) -> _Answer:
        """Send, and read the head of the answer. With a status in it, an error behind it does not matter."""
        from shared.adapters.webhook.session import CONNECTION_LOST

        end = asyncio.get_running_loop().time() + self._total_seconds
        while True:
            head, error = Head(), None
            try:
                async with asyncio.timeout_at(end):
                    await self._send(url, body, headers, head)
            except _expected_errors() as caught:
                error = caught
            lost = head.status is None and isinstance(error, CONNECTION_LOST)
            if not (lost and head.reused):
                return _Answer(head, error)

    async def _send(self, url: str, body: bytes, headers: dict[str, str], head: Head) -> None:
        """Send one request and read the answer into `head`. Its body does not matter, so it is not read."""
        from yarl import URL

        from shared.adapters.webhook.session import HEAD

        HEAD.set(head)
        session = self._session(loopback=self._policy.reaches_loopback(_host(url)))
        # `encoded`: the address is sent byte for byte as it passed the gate.
        address = URL(url, encoded=True)
        async with session.post(address, data=body, headers=headers, allow_redirects=False):
            pass

    def _session(self, *, loopback: bool) -> ClientSession:
        """The session for an address.

        Loopback hosts have one of their own, so that no public name can lead to this machine.
        """
        if loopback not in self._sessions:
            from shared.adapters.webhook.session import session

            gate = Gate(self._names, loopback=loopback)
            self._sessions[loopback] = session(gate, self._connect_seconds)
        return self._sessions[loopback]


class _NoSlotError(Exception):
    """The limit of concurrent requests is reached, for one receiver or in all."""


class _Slots:
    """Limits concurrent requests, to one receiver and in all: a hung receiver cannot delay the others."""

    def __init__(self, per_host: int, at_once: int, patience: float) -> None:
        self._per_host = per_host
        self._all = asyncio.Semaphore(at_once)
        self._patience = patience
        self._free: dict[str, asyncio.Semaphore] = {}
        self._users: Counter[str] = Counter()

    @asynccontextmanager
    async def take(self, key: str) -> AsyncIterator[None]:
        """Hold a slot. Raises _NoSlotError if none becomes free in time. An unused receiver is forgotten."""
        slots = self._free.setdefault(key, asyncio.Semaphore(self._per_host))
        self._users[key] += 1
        try:
            async with AsyncExitStack() as stack:
                try:
                    async with asyncio.timeout(self._patience):
                        # The receiver's own slot comes first: a request that waits for it must not hold a
                        # shared one.
                        await stack.enter_async_context(slots)
                        await stack.enter_async_context(self._all)
                except TimeoutError:
                    raise _NoSlotError from None
                yield
        finally:
            self._users[key] -= 1
            if not self._users[key]:
                del self._users[key], self._free[key]


class _Answer(NamedTuple):
    """What has arrived of an answer, and what ended it too soon."""

    head: Head
    error: Exception | None


class _Verdict(NamedTuple):
    """The outcome of one try, and its name."""

    outcome: Outcome
    detail: str


def _meaning(status: int) -> _Verdict:
    """The outcome by Standard Webhooks: 2xx is success, 410 disables the receiver.

    Everything else, 3xx included, is tried again.
    """
    if 200 <= status <= 299:
        return _Verdict("delivered", "2xx")
    if status == 410:
        return _Verdict("gone", "410")
    return _Verdict("retry", f"{status // 100}xx")


def _expected_errors() -> tuple[type[Exception], ...]:
    from aiohttp import ClientError

    return (ClientError, OSError)  # TimeoutError is an OSError


def _failure(error: Exception, within: float) -> _Verdict:
    """What an error means, without its text, which has resolved addresses and words of the receiver."""
    cause = getattr(error, "os_error", error)
    if isinstance(cause, AddressRefusedError):
        # A name server may be wrong for a minute, as it may be away: the schedule goes on.
        return _Verdict(
            "retry",
            "not sent: its name leads to an address that is not public; correct what DNS answers for it",
        )
    return _Verdict("retry", no_answer(error, within))


def _host(url: str) -> str:
    return webhook_url.authority(url).rpartition(":")[0]
