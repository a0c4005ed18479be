"""What a function answered, as Azure's web server sends it."""

import re
from http.cookies import CookieError, Morsel, SimpleCookie
from urllib.parse import quote

from aiohttp import web

from local.host.worker.contract import Function, Result

#: What the web server takes in a header; it answers 500 instead of anything else.
_VALUE, _NAME = re.compile(r"[\x20-\x7e\t]*"), re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
#: The server's own.
_SERVER = ("connection", "date", "server")
_ATTRIBUTES = ("expires", "max-age", "domain", "path", "secure", "samesite", "httponly")


def reply(function: Function, result: Result) -> web.Response:
    """The answer; an empty 500 for a failed run and for headers that cannot be sent."""
    if not result.ok:
        return web.Response(status=500)
    out = next((b["name"] for b in function.outputs if b["type"] == "http"), None)
    data = result.returned if out == "$return" or out is None else result.outputs.get(out)
    if data is None:
        return web.Response(status=204)
    if data.kind != "http":
        content = data.value if isinstance(data.value, bytes) else str(data.value).encode()
        kind = "application/json" if data.kind == "json" else "text/plain"
        return web.Response(body=content, content_type=kind, charset=None if data.kind == "json" else "utf-8")
    document = data.value
    if not _can_be_sent(document["headers"]):
        return web.Response(status=500)
    response = web.Response(status=document["status"], body=document["body"])
    spelling: dict[str, str] = {}
    for name, value in document["headers"]:
        lower_name = name.lower()
        if lower_name == "set-cookie":
            for morsel in _morsels(value):
                response.headers.add("Set-Cookie", _cookie(morsel))
        elif lower_name not in _SERVER and spelling.setdefault(lower_name, name) == name:
            response.headers[name] = value
    return response


def _can_be_sent(headers: list[tuple[str, str]]) -> bool:
    return all(_NAME.fullmatch(name) and _VALUE.fullmatch(value) for name, value in headers)


def _morsels(value: str) -> list[Morsel[str]]:
    try:
        return list(SimpleCookie(value).values())
    except CookieError:
        return []


def _cookie(morsel: Morsel[str]) -> str:
    """A cookie as ASP.NET writes it: its value encoded, its attributes in lower case and one order."""
    parts = [f"{morsel.key}={quote(morsel.value, safe='-._~')}"]
    for name in _ATTRIBUTES:
        value = morsel[name]
        if name in ("secure", "httponly"):
            parts += [name] if value else []
        elif value or name in ("domain", "path"):
            parts.append(f"{name}={value.lower() if name == 'samesite' else value}")
    return "; ".join(parts)
