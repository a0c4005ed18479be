"""Explains in words why an address gave no answer."""

import aiohttp

#: The first match counts, so specific entries come before general ones.
_WORDS: tuple[tuple[type[Exception], str], ...] = (
    (aiohttp.ClientProxyConnectionError, "the proxy that HTTPS_PROXY or HTTP_PROXY names does not answer"),
    (aiohttp.ClientHttpProxyError, "the proxy that HTTPS_PROXY or HTTP_PROXY names refuses it"),
    (aiohttp.InvalidURL, "it is not an address of the form http://HOST:PORT"),
    (aiohttp.NonHttpUrlClientError, "it is not an address of the form http://HOST:PORT"),
    (aiohttp.ClientResponseError, "something else answers there"),
    (aiohttp.ClientConnectorDNSError, "its name is not known"),
    (aiohttp.ClientSSLError, "no trusted TLS connection"),
    (aiohttp.ClientConnectorError, "nothing listens there"),
    (aiohttp.ServerDisconnectedError, "the connection was closed"),
    (TimeoutError, "not in time"),
    (aiohttp.ClientError, "the connection failed"),
)


def why(error: Exception) -> str:
    """An error of the HTTP client in words for a person; other errors mean that another program answers."""
    return next((words for kind, words in _WORDS if isinstance(error, kind)), "something else answers there")


def is_final(error: Exception) -> bool:
    """Whether the same call fails for ever, since its address is not one."""
    return isinstance(error, aiohttp.InvalidURL | aiohttp.NonHttpUrlClientError)


def is_unsent(error: Exception) -> bool:
    """Whether no connection came about, so that nothing was sent."""
    return isinstance(error, aiohttp.ClientConnectorError | aiohttp.ClientHttpProxyError)


def is_foreign(error: Exception) -> bool:
    """Whether something answered that is not what was asked for."""
    return isinstance(error, aiohttp.ClientResponseError | ValueError)
