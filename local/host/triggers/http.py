"""The HTTP trigger: routes, authorisation levels, requests and responses."""

import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from aiohttp import web

from local.host.keys import Keys
from local.host.routes import Route, parse_route
from local.host.settings import SettingsError
from local.host.triggers.base import Environment
from local.host.triggers.framed import continues, framed
from local.host.triggers.reply import reply
from local.host.triggers.target import BadTarget, Target, host_of, target_of
from local.host.worker.contract import Data, Function

_log = logging.getLogger("Host.http")


@dataclass(frozen=True)
class Endpoint:
    """A function behind a route; no methods means all of them."""

    function: Function
    route: Route
    methods: frozenset[str]
    level: str

    def allows(self, method: str) -> bool:
        """Whether a request with this method reaches the function."""
        return not self.methods or method in self.methods


class HttpTriggers:
    """Finds the function for a request and sends its response."""

    def __init__(
        self, functions: Sequence[Function], environment: Environment, keys: Keys, disabled: frozenset[str]
    ) -> None:
        self.prefix = environment.host.extensions.http.route_prefix.strip("/")
        # Azure's host looks through them in this order, and takes the first that fits.
        self._endpoints = [endpoint_of(f) for f in sorted(functions, key=lambda f: f.name.lower())]
        self._environment = environment
        self._keys = keys
        self._disabled = disabled

    def template(self, function: Function) -> str:
        """The path of a function, with its parameters, for people."""
        route = function.trigger.get("route") or function.name
        return "/" + "/".join(part for part in (self.prefix, str(route).strip("/")) if part)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Answer a request for a function; 404 if there is none, also where only its method differs.

        The master key runs a disabled one, as in Azure.
        """
        if _is_preflight(request):
            return web.Response(status=204)
        try:
            target = target_of(request.raw_path)
        except BadTarget:
            refused = web.Response(status=400)
            refused.force_close()
            return refused
        chosen = next(self._matching(target.path, request.method), None)
        if chosen is None:
            return web.Response(status=404)
        endpoint, values = chosen
        if endpoint.function.name in self._disabled and not self._keys.is_master(request):
            return web.Response(status=404)
        if not self._keys.admits(request, endpoint.level):
            return web.Response(status=401)
        return await self._run(endpoint, values, request, target)

    def _matching(self, path: str, method: str) -> Iterator[tuple[Endpoint, dict[str, str]]]:
        path = path.removeprefix("/")
        if self.prefix:
            if not path.lower().startswith(self.prefix.lower() + "/"):
                return
            path = path[len(self.prefix) + 1 :]
        for endpoint in self._endpoints:
            if endpoint.allows(method) and (values := endpoint.route.match(path)) is not None:
                yield endpoint, values

    async def _run(
        self, endpoint: Endpoint, values: dict[str, str], request: web.Request, target: Target
    ) -> web.StreamResponse:
        await continues(request)
        body = await request.read()
        if request.content_length is None:
            body = b""  # Azure's host hands over no body that came without its length
        function = endpoint.function
        headers = _joined((name.lower(), value) for name, value in request.headers.items())
        document = {
            "method": request.method,
            "url": target.url(request),
            "headers": headers | {"host": host_of(request)},
            "query": target.parameters,
            "params": values,
            "body": body,
        }
        result = await self._environment.invoker.run(
            function,
            {function.trigger["name"]: Data("http", document)},
            {name: Data("string", value) for name, value in {**target.parameters, **values}.items()},
            reason=f"{request.method} {request.path}",
        )
        return framed(reply(function, result), request)


def endpoint_of(function: Function) -> Endpoint:
    """The route of a function with an httpTrigger. Raises SettingsError."""
    trigger = function.trigger
    try:
        route = parse_route(str(trigger.get("route") or function.name))
    except ValueError as error:
        raise SettingsError(f"function {function.name}: {error}") from error
    methods = frozenset(str(m).upper() for m in trigger.get("methods") or ())
    return Endpoint(function, route, methods, str(trigger.get("authLevel") or "function").lower())


def _is_preflight(request: web.Request) -> bool:
    """Whether a browser asks if a page may send a request; an answer that does not say so is a no."""
    is_asked = "Origin" in request.headers and "Access-Control-Request-Method" in request.headers
    return request.method == "OPTIONS" and is_asked


def _joined(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """One text for each name; several values are joined by commas, as the Functions host does."""
    values: dict[str, str] = {}
    for name, value in pairs:
        values[name] = f"{values[name]},{value}" if name in values else value
    return values
