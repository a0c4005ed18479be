"""The HTTP side of the ARM contract: one call, its parameters and body, and the forms of answers."""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

from aiohttp import web

from local.batchai.api import views
from local.batchai.api.shapes import Object, check
from local.batchai.conductor import Conductor
from local.batchai.files.outputs import Downloads
from local.batchai.state.database import Store
from local.batchai.state.errors import all_of, invalid
from local.batchai.state.models import Resource
from local.batchai.state.settings import Settings

#: The largest number in a query, more than any query needs.
_MOST_DIGITS = 20
API_VERSION = "2018-05-01"
T = TypeVar("T", bound=Resource)


@dataclass(frozen=True)
class Emulator:
    """The objects that every handler needs."""

    store: Store
    conductor: Conductor
    settings: Settings
    downloads: Downloads
    clock: Callable[[], datetime]
    #: Where it is served without TLS.
    address: str


@dataclass(frozen=True)
class Call:
    """One request to the ARM contract; `names` are the names in its path, `query` its parameters."""

    emulator: Emulator
    request: web.Request
    names: Mapping[str, str]
    query: Mapping[str, str]

    @property
    def store(self) -> Store:
        """The records that the handlers read and change."""
        return self.emulator.store

    @property
    def base(self) -> str:
        """Where the client reaches us, for links."""
        return f"{self.request.scheme}://{self.request.host}"

    @property
    def download_base(self) -> str:
        """Where programs on this machine reach us that do not know the emulator's certificate."""
        own = self.request.url.host in ("127.0.0.1", "localhost")
        return self.emulator.address if own and self.request.scheme == "https" else self.base

    async def body(self, shape: Object) -> dict[str, Any]:
        """The checked body. Raises ArmError naming every problem."""
        try:
            value = json.loads(await self.request.read(), parse_constant=_no_constant)
        except (ValueError, RecursionError):
            raise invalid("The body is not a JSON document.", "", "InvalidRequestContent") from None
        clean, problems = check(value, shape)
        if problems:
            raise all_of(problems)
        checked: dict[str, Any] = clean
        return checked

    def number(self, parameter: str, default: int, least: int, most: int) -> int:
        """A whole number in the query."""
        text = self.query.get(parameter)
        if text is None:
            return default
        digits = text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS
        if not digits or not least <= int(text) <= most:
            raise invalid(f"Must be a whole number from {least} to {most}.", parameter, "InvalidParameter")
        return int(text)

    def page(self, view: Callable[[T], dict[str, Any]], items: Sequence[T]) -> web.Response:
        """A page of a list, in the order of creation, with the link to the next."""
        most = self.page_size()
        after = self.number("$skiptoken", 0, 0, 2**62)
        rest = sorted((item for item in items if item.sequence > after), key=lambda item: item.sequence)
        body: dict[str, Any] = {"value": [view(item) for item in rest[:most]]}
        if len(rest) > most:
            body["nextLink"] = self.next_link(rest[most - 1].sequence)
        return web.json_response(body)

    def list_page(self, entries: Sequence[dict[str, Any]]) -> web.Response:
        """A page of a list of other things than resources, with the link to the next."""
        start, most = self.number("$skiptoken", 0, 0, 2**31), self.page_size()
        body: dict[str, Any] = {"value": list(entries[start : start + most])}
        if len(entries) > start + most:
            body["nextLink"] = self.next_link(start + most)
        return web.json_response(body)

    def page_size(self) -> int:
        """How many entries a page may have."""
        return self.number("maxresults", 1000, 1, 1000)

    def next_link(self, token: int | str) -> str:
        """The address of this request for a later page."""
        query = {name: value for name, value in self.query.items() if name != "$skiptoken"}
        return self.base + str(self.request.rel_url.with_query({**query, "$skiptoken": str(token)}))


Handler = Callable[[Call], Awaitable[web.Response]]


def one(view: dict[str, Any], moment: datetime) -> web.Response:
    """A single resource with its ETag."""
    answer = web.json_response(view)
    answer.headers["ETag"] = views.etag(view)
    answer.last_modified = moment
    return answer


def _no_constant(name: str) -> None:
    raise ValueError(name)
