"""Why there is no answer, in words: for every error of the libraries that make calls."""

import asyncio
import errno
import http.client
import inspect
import socket
import ssl
from collections.abc import Iterator
from types import ModuleType

import aiohttp
import pytest
from aiohttp.client_reqrep import ConnectionKey
from azure.core import exceptions as azure
from azure.identity import CredentialUnavailableError

from shared.core.no_answer import no_answer

_SECRET = "https://account.example/jobs?sig=canary"
_HOST = ConnectionKey("account.example", 443, True, True, None, None, None)
_REFUSED = aiohttp.ClientConnectorError(_HOST, OSError(errno.ECONNREFUSED, _SECRET))
_NO_TLS = aiohttp.ClientConnectorSSLError(_HOST, ssl.SSLError(1, _SECRET))
_UNKNOWN = "the connection failed"
#: What is raised where no call is made: of a wrong use of the library, or as a base of other classes only.
_BASES = {
    "ClientError",
    "ClientConnectionError",
    "ClientOSError",
    "ClientConnectorError",
    "UnixClientConnectorError",
    "RedirectClientError",
    "ServerConnectionError",
    "WSMessageTypeError",
    "AzureError",
    "ResponseNotReadError",
    "ServiceRequestError",
    "ServiceResponseError",
    "StreamConsumedError",
}


def _classes(module: ModuleType) -> Iterator[type[Exception]]:
    for _, kind in inspect.getmembers(module, inspect.isclass):
        if issubclass(kind, Exception) and kind.__module__.startswith(("aiohttp", "azure", "http")):
            yield kind


KINDS = [*_classes(aiohttp.client_exceptions), *_classes(azure), *_classes(http.client)]


def _blank(kind: type[Exception]) -> Exception:
    error = kind.__new__(kind)
    error.args = (_SECRET, kind.__name__)
    return error


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_each_class_of_the_libraries_has_words(kind: type[Exception]) -> None:
    words = no_answer(_blank(kind))

    assert (words == _UNKNOWN) == (kind.__name__ in _BASES)
    assert kind.__name__ not in words
    assert "canary" not in words
    assert "example" not in words


def _caused(error: Exception, cause: BaseException) -> Exception:
    error.__cause__ = cause
    return error


def _certificate(code: int) -> ssl.SSLCertVerificationError:
    error = ssl.SSLCertVerificationError(1, f"certificate verify failed for {_SECRET}")
    error.verify_code = code
    return error


def _untrusted(code: int) -> aiohttp.ClientConnectorCertificateError:
    return aiohttp.ClientConnectorCertificateError(_HOST, _certificate(code))


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ConnectionRefusedError(errno.ECONNREFUSED, _SECRET), "it refuses the connection"),
        (
            aiohttp.ClientConnectorError(_HOST, OSError(errno.ECONNREFUSED, _SECRET)),
            "it refuses the connection",
        ),
        (azure.ServiceRequestError(_SECRET, error=ConnectionRefusedError()), "it refuses the connection"),
        (azure.ServiceRequestError(_SECRET, error=_REFUSED), "it refuses the connection"),
        (aiohttp.ClientConnectorDNSError(_HOST, socket.gaierror(-2, _SECRET)), "its name cannot be resolved"),
        (socket.gaierror(-3, _SECRET), "its name cannot be resolved"),
        (_untrusted(10), "its certificate has expired"),
        (
            _untrusted(62),
            "its certificate is for another name",
        ),
        (_certificate(18), "its certificate is signed by itself"),
        (_certificate(1), "its certificate is not valid"),
        (
            _NO_TLS,
            "no TLS connection to it can be made",
        ),
        (aiohttp.ServerDisconnectedError(_SECRET), "it closed the connection"),
        (ConnectionResetError(errno.ECONNRESET, _SECRET), "it closed the connection"),
        (aiohttp.ClientOSError(errno.EPIPE, _SECRET), "it closed the connection"),
        (asyncio.IncompleteReadError(b"", 4), "it closed the connection"),
        (EOFError(_SECRET), "it closed the connection"),
        (TimeoutError(), "it took too long"),
        (aiohttp.SocketTimeoutError(_SECRET), "it took too long"),
        (aiohttp.ConnectionTimeoutError(_SECRET), "no connection to it was made in time"),
        (azure.ServiceResponseError(_SECRET, error=TimeoutError()), "it took too long"),
        (OSError(errno.EHOSTUNREACH, _SECRET), "no network leads to it"),
        (OSError(errno.ENOSPC, _SECRET), "the disk of this machine is full"),
        (OSError(errno.EMFILE, _SECRET), "this process has too many open files"),
        (PermissionError(errno.EACCES, _SECRET), "this process may not do that"),
        (OSError(errno.EIO, _SECRET), _UNKNOWN),
        (aiohttp.InvalidURL(_SECRET), "its address is malformed"),
        (aiohttp.ClientPayloadError(_SECRET), "its answer cannot be read"),
        (ValueError(_SECRET), "its answer cannot be read"),
        (_caused(RuntimeError(_SECRET), ConnectionResetError()), "it closed the connection"),
        (CredentialUnavailableError(_SECRET), "it refuses the login"),
        (RuntimeError(_SECRET), _UNKNOWN),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_words(error: Exception, words: str) -> None:
    assert no_answer(error) == words


def test_a_known_patience_is_named() -> None:
    assert no_answer(TimeoutError(), 30.0) == "it took longer than 30 s"
    assert no_answer(aiohttp.ConnectionTimeoutError(), 30.0) == "no connection to it was made in time"


def test_errors_that_cause_each_other_end() -> None:
    first, second = RuntimeError(), RuntimeError()
    first.__cause__, second.__cause__ = second, first

    assert no_answer(first) == _UNKNOWN
