"""Decides which requests the servers on this machine answer: from programs, and from this machine's pages.

A browser lets any page send requests to 127.0.0.1, and to a name that resolves to it. But its headers Host,
Origin and Sec-Fetch-Site show where they come from. `storage.mjs` has the same rules for Azurite.
"""

import re
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from ipaddress import ip_address

from aiohttp import web
from multidict import CIMultiDictProxy

#: The media types that a page may send without a preflight request.
_FORM_TYPES = ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data")
_READ_ONLY = ("GET", "HEAD")
_AUTHORITY = re.compile(r"(?P<name>\[[0-9a-f:.]+\]|[^][:/@\s]+)(?::[0-9]*)?", re.IGNORECASE)
_ORIGIN = re.compile(rf"https?://{_AUTHORITY.pattern}", re.IGNORECASE)
_SHOWN = 100
_THIS_MACHINE = ("127.0.0.1", "localhost", "::1")
_REMEDY = "use a loopback address, or allow the name of a forwarded port with --allow-host NAME"


@dataclass(frozen=True)
class Foreign:
    """Why a request is refused: the header that shows it to be foreign, and the remedy."""

    header: str
    detail: str
    remedy: str = _REMEDY

    def answer(self) -> web.Response:
        """A problem document (RFC 9457)."""
        body = {"type": "about:blank", "title": "Not allowed", "status": 403}
        body |= {"detail": self.detail, "remedy": self.remedy}
        return web.json_response(body, status=403, content_type="application/problem+json")


@dataclass(frozen=True)
class Border:
    """`names`: the machine's names besides the loopback ones."""

    names: frozenset[str] = frozenset()

    def foreign(self, method: str, headers: "CIMultiDictProxy[str]") -> Foreign | None:
        """Why a request is refused; None if it is not."""
        hosts, origins = headers.getall("Host", [""]), headers.getall("Origin", [])
        for host in hosts:
            if not self._is_ours(_AUTHORITY.fullmatch(host)):
                return Foreign("Host", f"{host[:_SHOWN]!r} is not a name of this machine")
        for origin in origins:
            if not self._is_ours(_ORIGIN.fullmatch(origin)):
                return Foreign(
                    "Origin", f"a page of {origin[:_SHOWN]!r}, not of this machine, sent this request"
                )
        opened = method in _READ_ONLY and headers.get("Sec-Fetch-Mode") == "navigate"
        if not origins and headers.get("Sec-Fetch-Site") == "cross-site" and not opened:
            return Foreign("Origin", "a page of another site sent this request (Sec-Fetch-Site)")
        return None

    @web.middleware
    async def guard(
        self, request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
    ) -> web.StreamResponse:
        """Middleware that refuses foreign requests."""
        foreign = self.foreign(request.method, request.headers)
        return foreign.answer() if foreign else await handler(request)

    def _is_ours(self, match: re.Match[str] | None) -> bool:
        name = match["name"].lower().removesuffix(".") if match else ""
        if name == "localhost" or name.endswith(".localhost") or name in self.names:
            return True
        try:
            return ip_address(name.strip("[]")).is_loopback
        except ValueError:
            return False


def is_form(request: web.Request) -> bool:
    """Whether a request has a body of a type that a form of any page can send."""
    return request.body_exists and request.content_type in _FORM_TYPES


def add_option(parser: ArgumentParser) -> None:
    """The option `--allow-host`, whose values are the names of a Border."""
    parser.add_argument(
        "--allow-host",
        metavar="NAME",
        type=host_name,
        action="append",
        default=[],
        help="a further name of this machine, as of a forwarded port; may be given more than once",
    )


def host_name(text: str) -> str:
    """A host name as it appears in requests. Raises ArgumentTypeError for a URL or a name with a port."""
    if not re.fullmatch(r"[a-z0-9_-]+(\.[a-z0-9_-]+)*", text.lower()):
        raise ArgumentTypeError(f"{text!r} is not a host name; write it without scheme, port and path")
    return text.lower()


def reach_this_machine(environment: MutableMapping[str, str]) -> None:
    """Keep proxies of the environment away from this machine: all SDKs in a stack heed NO_PROXY."""
    for name in ("NO_PROXY", "no_proxy"):
        hosts = [host for host in environment.get(name, "").split(",") if host]
        if "*" not in hosts:
            environment[name] = ",".join(dict.fromkeys((*hosts, *_THIS_MACHINE)))
