"""Sends requests to the HTTP API, again where no answer of the API comes."""

import re
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import aiohttp

from shared.connections.limits import ANSWER_LIMITS
from slipway.client.calls.answers import Body
from slipway.client.calls.patience import chosen_patience
from slipway.client.calls.refusal import (
    Absent,
    Barred,
    Barrier,
    NotAdmitted,
    Silent,
    Stranger,
    Unanswered,
    Unreached,
    foreign,
    is_own,
    refusal,
)
from slipway.client.calls.unreachable import is_final, is_foreign, is_unsent, why
from slipway.client.deployment import proxy_for
from slipway.failure import NO_ANSWER, UNKNOWN, Failure

Content = TypeVar("Content")
Read = Callable[[aiohttp.ClientResponse], Awaitable[Content]]
#: Headers of the API's answers with bytes, by which they are known without the mark, as from older versions.
_OF_BYTES = ("Content-Digest", "Slipway-More")
#: Ids that are safe in a path: none leads to another path.
_ID = re.compile(r"[\w-]{1,100}", re.ASCII)


class _NoSuchCall(Absent):
    """The app answers, and its host says that it does not have this call."""


def session(url: str, **options: Any) -> aiohttp.ClientSession:
    """For requests to this place: over the proxy of the environment, and for the long answers of gateways."""
    return aiohttp.ClientSession(proxy=proxy_for(url), **{**ANSWER_LIMITS, **options})


class Wire:
    """The way to one deployment. `met`: it has answered before, so that what fails now will pass."""

    def __init__(self, http: aiohttp.ClientSession, url: str, *, met: bool = False) -> None:
        self.url = url
        self._session = http
        #: whether the API has answered, and whether anything has
        self._met, self._reached = met, met
        #: how many requests were sent more than once
        self.repeated = 0

    async def ask(
        self,
        method: str,
        path: str,
        read: Read[Content],
        *,
        file: str = "the document",
        submits: bool = False,
        **options: Any,
    ) -> Content:
        """What `read` makes of the answer. Raises Failure; a refusal names the places in `file`.

        The request may be sent several times, so it must be harmless to repeat. `submits`: what was accepted
        without an answer would become a second job, so an answer that leaves this open raises Unanswered.
        """
        tries = 0

        async def attempt() -> Content:
            nonlocal tries
            tries += 1
            self.repeated += tries == 2
            try:
                return await self._surely(method, path, read, file, options)
            except Absent as absent:
                absent.repeated = tries > 1
                raise
            except (Barrier, NotAdmitted) as refused:
                if not submits or (isinstance(refused, NotAdmitted) and tries == 1):
                    raise
                lost = Barred(str(refused))
                lost.spent = isinstance(refused, NotAdmitted)
                raise lost from refused

        return await chosen_patience().until_answered(attempt, at_once=(Silent,))

    async def _surely(
        self, method: str, path: str, read: Read[Content], file: str, options: dict[str, Any]
    ) -> Content:
        """Send it once; a call that the app does not have, twice, because the app may just have started."""
        try:
            return await self._one_try(method, path, read, file, options)
        except _NoSuchCall:
            return await self._one_try(method, path, read, file, options)

    async def _one_try(
        self, method: str, path: str, read: Read[Content], file: str, options: dict[str, Any]
    ) -> Content:
        try:
            # A redirect is not followed: the key would go with it.
            address = f"{self.url}/api/{path}"
            async with self._session.request(method, address, allow_redirects=False, **options) as answer:
                self._reached = True
                await self._check(answer, path, file)
                content = await read(answer)
        except (aiohttp.ClientError, TimeoutError, ValueError) as error:
            raise self._lost(error) from error
        self._met = True
        return content

    async def _check(self, answer: aiohttp.ClientResponse, path: str, file: str) -> None:
        """Raise Failure for an answer that is not the one that was asked for."""
        if 300 <= answer.status < 400 and (location := answer.headers.get("Location")):
            if self._met and not is_own(answer):
                raise foreign(answer, self.url, met=True)
            elsewhere = location.partition("?")[0]
            moved = elsewhere.removesuffix(f"/api/{path}")
            type_ = Barrier if moved == elsewhere else Failure
            text = f"{self.url} redirects to {moved[:200]}; if that is the app, give it with --url"
            raise type_(text, NO_ANSWER)
        if answer.status >= 400:
            self._met = self._met or is_own(answer)
            failure = await refusal(answer, self.url, file, met=self._met)
            if answer.status == 404 and not is_own(answer) and await self._is_up():
                raise _NoSuchCall(
                    f"{self.url} does not know this call (404): Slipway there is of another version"
                )
            raise failure
        if not is_own(answer) and not _is_bytes(answer):
            raise foreign(answer, self.url, met=self._met)

    async def _is_up(self) -> bool:
        """Whether Slipway answers there now: then a page of 404 says that the app does not have the call.

        While an app starts or is deployed, its host answers 404 to every call.
        """
        try:
            async with self._session.get(f"{self.url}/api/health", allow_redirects=False) as answer:
                return is_own(answer) or "storage" in await answer.json()
        except (aiohttp.ClientError, TimeoutError, ValueError, TypeError):
            return False

    def _lost(self, error: Exception) -> Failure:
        reason = f"no answer from {self.url}: {why(error)}"
        remedy = "is it running (`slipway up`), and does --url name it?"
        if is_final(error):
            return Failure(f"{reason}; {remedy}")
        if is_unsent(error):
            return (Unanswered if self._reached else Unreached)(reason, remedy)
        self._reached = True
        return (Stranger if is_foreign(error) and not self._met else Unanswered)(reason, remedy)


def _is_bytes(answer: aiohttp.ClientResponse) -> bool:
    return answer.status == 206 or any(name in answer.headers for name in _OF_BYTES)


class Calls:
    """The way to a deployment, and the form of its answers."""

    def __init__(self, session: aiohttp.ClientSession, url: str, *, met: bool = False) -> None:
        self._url, self._wire = url, Wire(session, url, met=met)

    @property
    def repeated(self) -> int:
        """How many requests were sent more than once."""
        return self._wire.repeated

    async def _json(self, method: str, path: str, **options: Any) -> Any:
        async def read(answer: aiohttp.ClientResponse) -> dict[str, Any]:
            body = await answer.json()
            if not isinstance(body, dict):
                raise Failure(
                    f"{self._url} answers, but not as Slipway's API does; does --url name it?", NO_ANSWER
                )
            return Body(body)

        return await self._wire.ask(method, path, read, **options)


def id_of(text: str, listed: str = "slipway jobs") -> str:
    """An id, safe in a path. Raises Failure, with the command that lists such ids."""
    if not _ID.fullmatch(text):
        raise Failure(f"{text[:80]!r} is not an id; `{listed}` shows them", UNKNOWN)
    return text
