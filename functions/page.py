"""The page for browsers at /api/ui/: the files that web/ is built into.

Needs no caller: the files hold no data, and the page identifies itself to the API like any other client.
"""

from __future__ import annotations

import hashlib
import mimetypes
import re
from pathlib import Path

import azure.functions as func

from functions.openapi.elements import ELSEWHERE, PAGE_FILE, UNLESS_SAME
from functions.openapi.operation import operation
from functions.problem import problem
from functions.process import ports
from functions.ranges import is_same
from shared.core.errors import Misconfigured

blueprint = func.Blueprint()  # type: ignore[no-untyped-call]

FOLDER = Path(__file__).resolve().parents[1] / "page"
_NAME = re.compile(r"(assets/)?\w[\w-]*(\.[\w-]+)*", re.ASCII)
#: The type of a font, which Python does not know everywhere; its format is compressed already.
_FONT = "font/woff2"
#: The weight of an encoding that a caller refuses.
_REFUSED = re.compile(r"q=0(\.0*)?", re.ASCII)
#: Forbids other origins, inline scripts, and frames around the page.
_POLICY = (
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' blob:",
    "font-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
)
HEADERS = {
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Vary": "Accept-Encoding",
}


@operation(
    blueprint,
    "GET",
    "ui/{*path}",
    answers={200: PAGE_FILE, 304: None, 308: ELSEWHERE},
    refused=(404,),
    headers=(UNLESS_SAME,),
    public=True,
    head=True,
)
async def get_page(req: func.HttpRequest) -> func.HttpResponse:
    """Get a file of the page for browsers.

    [The page](../how-to/use-the-page.md) is `/api/ui/`; it needs no key, because its files hold no data.
    """
    path = req.route_params.get("path", "")
    if not path and not req.url.partition("?")[0].endswith("/"):
        return func.HttpResponse(status_code=308, headers={"Location": "ui/"})
    name = path or "index.html"
    file = FOLDER / name
    if not _NAME.fullmatch(name) or not file.is_file():
        if not (FOLDER / "index.html").is_file():
            return problem(
                404, "this deployment was made without the page", "run `make install`, then deploy"
            )
        return problem(404, f"the page does not have a file {name[:80]!r}", "open /api/ui/")
    return _file(req, name, file.read_bytes())


def _file(req: func.HttpRequest, name: str, content: bytes) -> func.HttpResponse:
    """A file of the page.

    A name below assets/ changes with the content, so such a file may be cached forever.
    """
    guess = _FONT if name.endswith(".woff2") else mimetypes.guess_type(name)[0]
    mimetype = guess or "application/octet-stream"
    is_packed = mimetype != _FONT and _takes_gzip(req.headers.get("Accept-Encoding", ""))
    tag = f'"{hashlib.sha256(content).hexdigest()[:32]}{"-gzip" if is_packed else ""}"'
    caching = "public, max-age=31536000, immutable" if name.startswith("assets/") else "no-cache"
    headers = {**HEADERS, "Content-Security-Policy": _policy(), "Cache-Control": caching, "ETag": tag}
    if is_same(req, tag):
        return func.HttpResponse(status_code=304, headers=headers)
    if is_packed:
        import gzip

        content = gzip.compress(content, mtime=0)
        headers["Content-Encoding"] = "gzip"
    return func.HttpResponse(content, status_code=200, headers=headers, mimetype=mimetype, charset="utf-8")


def _takes_gzip(encodings: str) -> bool:
    """Whether the caller's Accept-Encoding names gzip, and not with a weight of 0, which refuses it."""
    weights = (one.replace(" ", "").lower().partition(";") for one in encodings.split(","))
    return any(name == "gzip" and not _REFUSED.fullmatch(weight) for name, _, weight in weights)


def _policy() -> str:
    """The page calls its own origin, and the one where people sign in, if there is one."""
    try:
        tokens = ports().tokens
    except Misconfigured:
        tokens = None  # the page reports it when it calls the API
    way = tokens.sign_in if tokens else None
    return "; ".join((*_POLICY, f"connect-src 'self' {way.origin}" if way else "connect-src 'self'"))
