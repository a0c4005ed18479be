"""One call of the API that answers in JSON."""

import re
from typing import Any

import aiohttp

from slipway.client.calls.answers import Body
from slipway.client.calls.wire import Wire
from slipway.failure import Failure

#: Ids that are safe in a path: none leads to another path.
_ID = re.compile(r"[\w-]{1,100}", re.ASCII)


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
                raise Failure(f"{self._url} answers, but not as Slipway's API does; does --url name it?")
            return Body(body)

        return await self._wire.ask(method, path, read, **options)


def id_of(text: str, listed: str = "slipway jobs") -> str:
    """An id, safe in a path. Raises Failure, with the command that lists such ids."""
    if not _ID.fullmatch(text):
        raise Failure(f"{text[:80]!r} is not an id; `{listed}` shows them")
    return text
