"""no_answer: why a call got no answer, in words for a person.

The texts of libraries contain addresses, which may carry keys, and words of the other side. The names of
their classes mean nothing to a reader. So this returns neither; logs have both.
"""

from __future__ import annotations

import errno
from collections.abc import Iterator

_CLOSED, _LATE, _REFUSED = "it closed the connection", "it took too long", "it refuses the connection"
_UNREADABLE, _MALFORMED = "its answer cannot be read", "its address is malformed"
_UNKNOWN = "the connection failed"

#: By the name of a class, because this room imports no client of HTTP. The most derived class decides.
_WORDS = {
    "ConnectionRefusedError": _REFUSED,
    "ConnectionTimeoutError": "no connection to it was made in time",
    "ServiceRequestTimeoutError": "no connection to it was made in time",
    "ServiceResponseTimeoutError": _LATE,
    "TimeoutError": _LATE,
    "ClientConnectorDNSError": "its name cannot be resolved",
    "gaierror": "its name cannot be resolved",
    "ClientSSLError": "no TLS connection to it can be made",
    "ServerFingerprintMismatch": "its certificate is not the expected one",
    "SSLError": "no TLS connection to it can be made",
    "ConnectionError": _CLOSED,
    "EOFError": _CLOSED,
    "IncompleteRead": _CLOSED,
    "IncompleteReadError": _CLOSED,
    "ServerDisconnectedError": _CLOSED,
    "StreamClosedError": _CLOSED,
    "UploadAbortedError": _CLOSED,
    "ClientHttpProxyError": "the proxy on the way to it refuses",
    "ClientProxyConnectionError": "the proxy on the way to it cannot be reached",
    "TooManyRedirects": "it redirects without an end",
    "TooManyRedirectsError": "it redirects without an end",
    "InvalidURL": _MALFORMED,
    "NonHttpUrlClientError": _MALFORMED,
    "ClientAuthenticationError": "it refuses the login",
    "ClientPayloadError": _UNREADABLE,
    "ClientResponseError": _UNREADABLE,
    "HTTPException": _UNREADABLE,
    "HttpResponseError": _UNREADABLE,
}
#: Where the class does not decide.
_BY_NUMBER = {
    errno.ECONNREFUSED: _REFUSED,
    errno.ETIMEDOUT: _LATE,
    **dict.fromkeys(
        (errno.ECONNRESET, errno.ECONNABORTED, errno.EPIPE, errno.ESHUTDOWN, errno.ENOTCONN), _CLOSED
    ),
    **dict.fromkeys(
        (errno.EHOSTUNREACH, errno.ENETUNREACH, errno.EHOSTDOWN, errno.ENETDOWN, errno.EADDRNOTAVAIL),
        "no network leads to it",
    ),
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT), "the disk of this machine is full"),
    **dict.fromkeys((errno.EMFILE, errno.ENFILE), "this process has too many open files"),
    **dict.fromkeys((errno.EACCES, errno.EPERM), "this process may not do that"),
}
#: Reasons of OpenSSL (X509_V_ERR_*) against a certificate.
_CERTIFICATE = {
    9: "is not valid yet",
    10: "has expired",
    18: "is signed by itself",
    19: "is signed by an authority that is not trusted",
    20: "is signed by an authority that is not trusted",
    21: "is signed by an authority that is not trusted",
    23: "is revoked",
    62: "is for another name",
    64: "is for another address",
}


def no_answer(error: BaseException, within: float | None = None) -> str:
    """Why there is no answer, as a clause about the other side: "it refuses the connection".

    `within` is how many seconds an answer may take.
    """
    chain = list(_chain(error))
    if any(_is(one, "SSLCertVerificationError") for one in chain):
        codes = [getattr(one, "verify_code", None) for one in chain]
        why = next((_CERTIFICATE[code] for code in codes if code in _CERTIFICATE), "is not valid")
        return f"its certificate {why}"
    words = next(filter(None, map(_words, chain)), None)
    if words is None and isinstance(error, ValueError):
        words = _UNREADABLE
    if words == _LATE and within is not None:
        return f"it took longer than {within:g} s"
    return words or _UNKNOWN


def _words(error: BaseException) -> str | None:
    for kind in type(error).__mro__:
        if (words := _WORDS.get(kind.__name__)) is not None:
            return words
    return _BY_NUMBER.get(error.errno or 0) if isinstance(error, OSError) else None


def _is(error: BaseException, name: str) -> bool:
    return any(kind.__name__ == name for kind in type(error).__mro__)


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The error, followed by the errors that caused it."""
    met: set[int] = set()
    waiting = [error]
    while waiting:
        one = waiting.pop(0)
        if id(one) in met:
            continue
        met.add(id(one))
        yield one
        causes = (getattr(one, name, None) for name in ("os_error", "inner_exception", "certificate_error"))
        waiting += [cause for cause in (*causes, one.__cause__) if isinstance(cause, BaseException)]
