"""What Azure's web server refuses before a function, or the host's own API, sees a request.

Source: KestrelServerLimits of ASP.NET Core, with its defaults.
"""

from collections.abc import Awaitable, Callable

from aiohttp import web

#: Bytes of the request line, bytes of all headers, and headers.
_LINE, _HEADERS, _COUNT = 8 * 1024, 32 * 1024, 100
#: For the parser, which has no limit for all headers together: more than any request may have.
LONGEST_LINE, LONGEST_HEADER = 4 * _LINE, 4 * _HEADERS


@web.middleware
async def within_limits(
    request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
) -> web.StreamResponse:
    """Middleware that answers 414, 431 and 400 for what is too long, or not text."""
    if len(f"{request.method} {request.raw_path} HTTP/1.1\r\n") > _LINE:
        return _refused(414)
    headers = request.raw_headers
    if len(headers) > _COUNT or sum(len(name) + len(value) + 4 for name, value in headers) > _HEADERS:
        return _refused(431)
    if not all(_is_utf8(value) for _, value in headers):
        return _refused(400)
    return await handler(request)


def _refused(status: int) -> web.Response:
    response = web.Response(status=status)
    response.force_close()
    return response


def _is_utf8(value: bytes) -> bool:
    try:
        value.decode()
    except UnicodeDecodeError:
        return False
    return True
