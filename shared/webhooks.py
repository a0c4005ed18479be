"""Send signed events to receivers that strangers chose: the outgoing door, with the connect-time gate.

The address text passes the URL gate first (`webhook_url.py`). The real protection is here: a name is looked
up once, refused if any of its addresses is not public, and the connection goes to a checked literal address,
which is checked again in the very call that makes the socket. TLS still proves the name.
"""

from __future__ import annotations

import asyncio
import socket
import time
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any, cast

from shared import webhook_url
from shared.addresses import is_public
from shared.backoff import parse_retry_after
from shared.cloudevents import CONTENT_TYPE
from shared.ports import Outcome, Posted
from shared.signing import signature_headers

if TYPE_CHECKING:
    from aiohttp import ClientResponse, ClientSession
    from aiohttp.abc import AbstractResolver, ResolveResult

#: Bytes of an answer that are held in memory; its body is never looked at.
_READ_LIMIT = 4096


class WebhookSender:
    """Posts events; one per process. Close it at the end. A post never takes longer than `total_seconds`."""

    def __init__(
        self,
        policy: webhook_url.UrlPolicy,
        *,
        total_seconds: float = 15,
        connect_seconds: float = 5,
        per_host: int = 4,
        resolver: AbstractResolver | None = None,
    ) -> None:
        self._policy = policy
        self._total_seconds = total_seconds
        self._connect_seconds = connect_seconds
        self._resolver = resolver
        self._slots = _Slots(per_host)
        self._sessions: dict[bool, ClientSession] = {}

    async def post(
        self, url: str, webhook_id: str, body: bytes, secrets: Sequence[str], now: datetime
    ) -> Posted:
        """Make one signed attempt. `now` becomes the signed timestamp.

        Whatever the network and the receiver do is an outcome; only an id or a secret that cannot be signed
        with raises (ValueError).
        """
        problem = webhook_url.refusal(url, self._policy)
        if problem is not None:
            return Posted("refused", None, problem, None, 0)
        headers = signature_headers(webhook_id, int(now.timestamp()), body, secrets)
        started = time.perf_counter()
        status, retry_after = None, None
        try:
            # Waiting for a slot is no attempt, and takes nothing of its time.
            async with self._slots.take(webhook_url.authority(url)), asyncio.timeout(self._total_seconds):
                response = await self._answer(url, body, headers)
            status = response.status
            outcome, detail = _meaning(status)
            if outcome == "retry":
                retry_after = parse_retry_after(response.headers.get("Retry-After"), now)
        except _expected_errors() as error:
            outcome, detail = _failure(error)
        return Posted(outcome, status, detail, retry_after, round((time.perf_counter() - started) * 1000))

    async def close(self) -> None:
        """Close the connections; safe to repeat."""
        while self._sessions:
            _, session = self._sessions.popitem()
            await session.close()

    async def _answer(self, url: str, body: bytes, headers: dict[str, str]) -> ClientResponse:
        """Send, and return the head of the answer; its body could say nothing that matters, so it is left."""
        from yarl import URL

        # `encoded`: the bytes that passed the gate are the bytes that are sent.
        address = URL(url, encoded=True)
        session = self._session(loopback=webhook_url.is_loopback_host(_host(url)))
        async with session.post(address, data=body, headers=headers, allow_redirects=False) as response:
            return response

    def _session(self, *, loopback: bool) -> ClientSession:
        """Loopback hosts have a session of their own, so that no public name can lead to this machine."""
        if loopback not in self._sessions:
            self._sessions[loopback] = self._open(_Gate(self._resolver, loopback=loopback))
        return self._sessions[loopback]

    def _open(self, gate: _Gate) -> ClientSession:
        import aiohttp

        connector = aiohttp.TCPConnector(
            resolver=cast("AbstractResolver", gate),
            socket_factory=gate.open,  # aiohttp asks no resolver about an IP literal
            use_dns_cache=False,
            force_close=True,  # no connection is shared by two tenants
            limit=0,  # the slots bound it
        )
        return aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            headers={
                "Content-Type": CONTENT_TYPE,
                "Accept-Encoding": "identity",
                "User-Agent": "Slipway-Webhooks",
            },
            auto_decompress=False,
            trust_env=False,
            read_bufsize=_READ_LIMIT,
            timeout=aiohttp.ClientTimeout(total=None, connect=self._connect_seconds),
        )


class _AddressRefusedError(OSError):
    """The connect-time gate stopped a connection. An OSError, because aiohttp carries those to the caller."""


class _Gate:
    """The connect-time gate, in the two places where aiohttp lets one stand."""

    def __init__(self, resolver: AbstractResolver | None, *, loopback: bool) -> None:
        self._resolver = resolver
        self._loopback = loopback

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """Look the name up once and answer with literal addresses, all of them public, or raise OSError."""
        answers = await self._lookup().resolve(host, port, family)
        if not answers:
            raise OSError("the name has no address")
        if not all(self._allows(answer["host"]) for answer in answers):
            raise _AddressRefusedError("the name leads to an address that is not public")
        return answers

    def open(self, address: tuple[Any, ...]) -> socket.socket:
        """Make a socket for one `getaddrinfo` entry, only if its address may be reached."""
        family, kind, protocol, _, target = address
        if not self._allows(target[0]):
            raise _AddressRefusedError("the address is not public")
        return socket.socket(family, kind, protocol)

    async def close(self) -> None:
        """Nothing to close; aiohttp asks every resolver."""

    def _lookup(self) -> AbstractResolver:
        if self._resolver is None:
            from aiohttp import ThreadedResolver

            self._resolver = ThreadedResolver()
        return self._resolver

    def _allows(self, address: str) -> bool:
        return is_public(address, allow_loopback=self._loopback)


class _Slots:
    """At most so many deliveries at once to one receiver, so that a hanging one cannot delay the others."""

    def __init__(self, number: int) -> None:
        self._number = number
        self._free: dict[str, asyncio.Semaphore] = {}
        self._users: Counter[str] = Counter()

    @asynccontextmanager
    async def take(self, key: str) -> AsyncIterator[None]:
        """Wait for a slot and hold it; a receiver that nobody uses is forgotten, so nothing grows."""
        slots = self._free.setdefault(key, asyncio.Semaphore(self._number))
        self._users[key] += 1
        try:
            async with slots:
                yield
        finally:
            self._users[key] -= 1
            if not self._users[key]:
                del self._users[key], self._free[key]


def _meaning(status: int) -> tuple[Outcome, str]:
    """Standard Webhooks: only 2xx is success, 410 is a farewell, all else (3xx too) is tried again."""
    if 200 <= status <= 299:
        return "delivered", "2xx"
    if status == 410:
        return "gone", "410"
    return "retry", f"{status // 100}xx"


def _expected_errors() -> tuple[type[Exception], ...]:
    from aiohttp import ClientError

    return (ClientError, OSError)  # TimeoutError is an OSError


def _failure(error: Exception) -> tuple[Outcome, str]:
    """Name the class of an error, never its text: that holds resolved addresses and the receiver's words."""
    cause = getattr(error, "os_error", error)
    if isinstance(cause, _AddressRefusedError):
        return "refused", "The webhook host leads to an address that is not public; use a public receiver."
    if isinstance(error, TimeoutError):
        return "retry", "timeout"
    return "retry", type(error).__name__


def _host(url: str) -> str:
    return webhook_url.authority(url).rpartition(":")[0]
