"""One storage service by plain HTTP: one pooled session, our own retries.

The SDKs take four times the processor time for the same requests. Each of our writes may be repeated:
transactions carry tokens, blobs carry conditions, and a message that is sent twice only causes a second look.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from shared.adapters.storage.wire.sign import Signer
from shared.core.errors import Misuse, Unavailable
from shared.core.no_answer import no_answer
from shared.core.pacing.backoff import parse_retry_after

if TYPE_CHECKING:
    from aiohttp import ClientSession

#: The name of a request, which its answer repeats (Azurite: unless it is an error, or of a transaction).
_ID = "x-ms-client-request-id"
#: Statuses that are not the request's fault, so that it is tried again.
_AGAIN = frozenset({408, 429, 500, 502, 503, 504})
_TRIES = 5
#: How storage, its front end and its emulator name themselves; most answers have a header `x-ms-…`, too.
_SERVERS = ("windows-azure-", "microsoft-httpapi", "azurite-")
#: Seconds: the longest wait between two tries, and the longest that the service may request.
_LONGEST = 10.0
#: Seconds: the timeout of one try; and for how long an idle connection is kept, less than the emulator's 5 s.
_TOTAL, _CONNECT, _IDLE = 20.0, 5.0, 4.0


@dataclass(frozen=True)
class Request:
    """One signed request, ready to be sent."""

    verb: str
    url: str
    headers: Mapping[str, str]
    body: bytes | None


@dataclass(frozen=True)
class Answer:
    """A complete response; the names of `headers` are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class NoAnswer(Exception):
    """No response came; whether the request had an effect is unknown."""


Send = Callable[[Request], Awaitable[Answer]]


class Connections:
    """The HTTP session of an account's services, opened at first use."""

    def __init__(self) -> None:
        self._session: ClientSession | None = None

    async def send(self, request: Request) -> Answer:
        """Send a request once. Raises NoAnswer."""
        from aiohttp import ClientError
        from yarl import URL

        from shared.connections.session import distrust

        try:
            # `encoded`: the address is sent exactly as it was signed.
            async with self._opened().request(
                request.verb,
                URL(request.url, encoded=True),
                data=request.body,
                headers=request.headers,
                # The writer of a blob chose what its HEAD says of an encoding.
                auto_decompress=None if request.verb != "HEAD" else False,
            ) as answer:
                headers = {name.lower(): value for name, value in answer.headers.items()}
                own_id = request.headers.get(_ID)
                if headers.get(_ID, own_id) != own_id:
                    distrust(self._opened(), answer)
                    raise NoAnswer("what it sent answers another request")
                return Answer(answer.status, headers, await answer.read())
        except (ClientError, OSError) as error:  # a timeout is an OSError
            raise NoAnswer(no_answer(error, _TOTAL)) from error

    def _opened(self) -> ClientSession:
        if self._session is None:
            from aiohttp import ClientTimeout, DummyCookieJar

            from shared.connections.connector import Connector
            from shared.connections.session import session

            self._session = session(
                Connector(limit=64, keepalive_timeout=_IDLE),
                timeout=ClientTimeout(total=_TOTAL, sock_connect=_CONNECT),
                skip_auto_headers=("Content-Type",),
                cookie_jar=DummyCookieJar(),
                trust_env=False,
            )
        return self._session

    async def close(self) -> None:
        """Close the connections; a later request opens new ones."""
        if self._session is not None:
            await self._session.close()
            self._session = None


def _is_of_storage(answer: Answer) -> bool:
    """Whether storage sent this, and not a proxy, a gateway or a portal in its place."""
    server = answer.headers.get("server", "").lower()
    return server.startswith(_SERVERS) or any(name.startswith("x-ms-") for name in answer.headers)


def _refusal(answer: Answer) -> str:
    """What storage answered, if the request may be tried again; raises Unavailable, or Misuse for 413."""
    if answer.status == 413:
        raise Misuse("this is larger than storage accepts", status=413, remedy="shorten it")
    why = f"storage answered {answer.status} {answer.headers.get('x-ms-error-code', '')}".rstrip()
    if answer.status not in _AGAIN:
        raise Unavailable(why)
    return why


class Rest:
    """One service of an account. `base` is its address, without a slash at the end."""

    def __init__(self, base: str, signer: Signer, send: Send, *, version: str, backoff: float) -> None:
        self.base = base
        self._path = urlsplit(base).path
        self._signer, self._send = signer, send
        self._fixed = {"x-ms-version": version}
        self._table = version == TABLE
        self._backoff = backoff

    async def call(
        self,
        verb: str,
        path: str,
        query: Mapping[str, str] | None = None,
        *,
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
        expected: tuple[int, ...] = (),
    ) -> Answer:
        """Send a request; the response is 2xx or one of those expected.

        `path` starts with a slash and is encoded. Raises Unavailable when the service cannot be reached or
        responds otherwise, Misuse for 413. What something else answers in its place does not count.
        """
        query = query or {}
        text = "&".join(f"{name}={quote(value, safe='')}" for name, value in query.items())
        whole = Request(verb, f"{self.base}{path}" + (f"?{text}" if text else ""), headers or {}, body)
        for number in range(1, _TRIES + 1):
            try:
                answer = await self._send(await self._signed(whole, path, query))
            except NoAnswer as lost:
                why, wait = f"storage did not answer: {lost}", None
            else:
                if not _is_of_storage(answer):
                    why = f"something between here and storage answered {answer.status}"
                elif answer.status < 300 or answer.status in expected:
                    return answer
                else:
                    why = _refusal(answer)
                wait = parse_retry_after(answer.headers.get("retry-after"), datetime.now(UTC))
            if number == _TRIES or (wait or 0.0) > _LONGEST:
                break
            await asyncio.sleep(self._wait(number) if wait is None else wait)
        raise Unavailable(why)

    def _wait(self, number: int) -> float:
        spread: float = random.random()  # noqa: S311 - spreads load, protects nothing
        return min(_LONGEST, self._backoff * 2.0 ** (number - 1) * (0.5 + spread))

    async def _signed(self, request: Request, path: str, query: Mapping[str, str]) -> Request:
        headers: dict[str, Any] = {**self._fixed, **request.headers}
        headers[_ID] = f"{random.getrandbits(64):016x}"
        headers["x-ms-date"] = format_datetime(datetime.now(UTC), usegmt=True)
        if request.body:
            headers["Content-Length"] = str(len(request.body))
        headers["Authorization"] = await self._signer.authorization(
            request.verb, self._path + path, query, headers, table=self._table
        )
        return replace(request, headers=headers)


#: The version of each service's API. Tables accept tokens of an identity since this one.
TABLE, OTHERS = "2020-12-06", "2021-12-02"
