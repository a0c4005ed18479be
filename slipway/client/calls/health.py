"""The health of a deployment and the time of its clock, which need no key."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any

import aiohttp

from shared.answers.mark import MARK
from slipway.client.calls.unreachable import why
from slipway.client.calls.wire import session
from slipway.failure import NO_ANSWER, Failure

_PATIENCE = aiohttp.ClientTimeout(total=30)
#: The header Date has whole seconds: on average it is half a second old.
_HALF = 0.5
#: The members of every answer, healthy or not.
_WORDS = ("storage", "clusters", "sweeper", "settings", "paused", "unreadable", "parked", "off")


class Refusing(Failure):
    """The app answers, and says why it cannot tell its health: its settings are wrong."""


@dataclass(frozen=True)
class Health:
    """The health that an app reports."""

    #: whether the app accepts jobs and takes them further
    ready: bool
    #: storage, clusters and so on: a word, a number, a flag, or numbers by words for each
    words: Mapping[str, Any]
    #: seconds until it answered
    seconds: float
    #: seconds by which this clock is ahead of the app's, within a second; None if the app sends no time
    ahead: float | None


async def health(url: str) -> Health:
    """Ask a deployment for its health. Raises Failure."""
    began, start = time.monotonic(), time.time()
    try:
        async with (
            session(url, timeout=_PATIENCE) as http,
            http.get(f"{url}/api/health", allow_redirects=False) as answer,
        ):
            end, seconds = time.time(), time.monotonic() - began
            body = await answer.json(content_type=None) if answer.status in (200, 503) else None
            date = answer.headers.get("Date", "")
    except (aiohttp.ClientError, TimeoutError, ValueError) as error:
        raise Failure(f"no answer from {url}: {why(error)}", NO_ANSWER) from error
    if not isinstance(body, dict) or not all(name in body for name in _WORDS):
        if isinstance(body, dict) and MARK in answer.headers and "detail" in body:
            words_of_app = "; ".join(str(body[name]) for name in ("detail", "remedy") if name in body)
            raise Refusing(f"{url} answers {answer.status}: {words_of_app}")
        raise Failure(f"{url} answers {answer.status}, but not as Slipway does", NO_ANSWER)
    words = {name: body[name] for name in _WORDS}
    return Health(answer.status == 200, words, seconds, _ahead(date, (start + end) / 2))


def _ahead(date: str, moment: float) -> float | None:
    try:
        return moment - parsedate_to_datetime(date).timestamp() - _HALF
    except ValueError:
        return None
