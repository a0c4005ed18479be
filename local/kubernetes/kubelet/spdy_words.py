"""The words with which both ends of SPDY/3 begin to compress headers. Pure.

They are those of draft-mbelshe-httpbis-spdy-00, 2.6.10.1: each name after its length, then plain text.
"""

import struct

_NAMES = """
options head post put delete trace accept accept-charset accept-encoding accept-language accept-ranges age
allow authorization cache-control connection content-base content-encoding content-language content-length
content-location content-md5 content-range content-type date etag expect expires from host if-match
if-modified-since if-none-match if-range if-unmodified-since last-modified location max-forwards pragma
proxy-authenticate proxy-authorization range referer retry-after server te trailer transfer-encoding upgrade
user-agent vary via warning www-authenticate method get status 200|OK version HTTP/1.1 url public set-cookie
keep-alive origin
"""
_CODES = (
    "100101201202205206300302303304305306307402405406407408409410411412413414415416417502504505"
    "203 Non-Authoritative Information204 No Content301 Moved Permanently400 Bad Request401 Unauthorized"
    "403 Forbidden404 Not Found500 Internal Server Error501 Not Implemented503 Service Unavailable"
)
_DATES = "Jan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec 00:00:00 Mon, Tue, Wed, Thu, Fri, Sat, Sun, GMT"
_KINDS = (
    "chunked,text/html,image/png,image/jpg,image/gif,application/xml,application/xhtml+xml,text/plain,"
    "text/javascript,publicprivatemax-age=gzip,deflate,sdchcharset=utf-8charset=iso-8859-1,utf-,*,enq=0."
)


def _counted(name: str) -> bytes:
    text = name.replace("|", " ").encode()
    return struct.pack(">I", len(text)) + text


WORDS = b"".join(map(_counted, _NAMES.split())) + f"{_CODES}{_DATES}{_KINDS}".encode()
