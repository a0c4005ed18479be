"""The target of a request as Azure's web server reads it: decoded once, without dots, never split anew.

Sources: Kestrel's HttpParser and PathNormalizer, and QueryCollection and PathString of ASP.NET Core.
"""

import re
from dataclasses import dataclass
from urllib.parse import quote

from aiohttp import web

_ABSOLUTE = re.compile(r"https?://([^/?#]*)", re.IGNORECASE)
_ESCAPES = re.compile(rb"(?:%[0-9A-Fa-f]{2})+")
#: What PathString leaves as it is.
_PLAIN = "/~!$&'()*+,;=:@"


class BadTarget(ValueError):
    """The web server refuses the request with 400 before any function sees it."""


@dataclass(frozen=True)
class Target:
    """`path` is decoded, but for %2F and what is not UTF-8; `query` has its question mark, or is ""."""

    path: str
    query: str

    @property
    def parameters(self) -> dict[str, str]:
        """One text for each name, whose case does not count; what has no value is left out."""
        values: dict[str, str] = {}
        spelling: dict[str, str] = {}
        for pair in self.query[1:].split("&"):
            raw_name, equals, raw_value = pair.partition("=")
            name, value = (_decoded(part.replace("+", " "), b"") for part in (raw_name, raw_value))
            if equals and value:
                name = spelling.setdefault(name.lower(), name)
                values[name] = f"{values[name]},{value}" if name in values else value
        return values

    def url(self, request: web.BaseRequest) -> str:
        """The address as the function sees it, its path encoded anew."""
        scheme = request.headers.get("X-Forwarded-Proto", "http")
        return f"{scheme}://{host_of(request)}{_encoded(self.path)}{self.query}"


def host_of(request: web.BaseRequest) -> str:
    """The name by which the host was called, as Azure's front end hands it on."""
    return str(request.headers.get("DISGUISED-HOST") or request.headers.get("Host", ""))


def target_of(raw: str) -> Target:
    """Read what stands in a request line. Raises BadTarget."""
    if absolute := _ABSOLUTE.match(raw):
        raw = raw[absolute.end() :] or "/"
    raw_path, question, query = raw.partition("?")
    if not raw.isascii():
        raise BadTarget("a target is ASCII")
    path = _decoded(raw_path, b"/")
    if "\0" in path:
        raise BadTarget("a path must not contain NUL")
    return Target(_without_dots(path), question + query)


def _decoded(text: str, keep: bytes) -> str:
    """Decode once; escapes of `keep` and of bytes that are not UTF-8 stay."""
    return _ESCAPES.sub(lambda match: _utf8(match[0], keep), text.encode()).decode()


def _utf8(escapes: bytes, keep: bytes) -> bytes:
    raw = bytes.fromhex(escapes.replace(b"%", b"").decode())
    result, at = b"", 0
    while at < len(raw):
        for size in (1, 2, 3, 4):
            piece = raw[at : at + size]
            if _is_utf8(piece) and piece != keep:
                result, at = result + piece, at + len(piece)
                break
        else:
            result, at = result + escapes[3 * at : 3 * at + 3], at + 1
    return result


def _is_utf8(piece: bytes) -> bool:
    try:
        return len(piece.decode()) == 1
    except UnicodeDecodeError:
        return False


def _without_dots(path: str) -> str:
    steps: list[str] = []
    parts = path.split("/")[1:]
    for number, part in enumerate(parts):
        if part not in (".", ".."):
            steps.append(part)
            continue
        if part == ".." and steps:
            steps.pop()
        if number == len(parts) - 1:
            steps.append("")
    return "/" + "/".join(steps)


def _encoded(path: str) -> str:
    pieces = re.split(r"(%[0-9A-Fa-f]{2})", path)
    return "".join(p if number % 2 else quote(p, safe=_PLAIN) for number, p in enumerate(pieces))
