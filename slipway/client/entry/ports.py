"""The ports of a `slipway forward`: as a person writes them, and free ones of this machine."""

from __future__ import annotations

import errno
import re
import socket
from collections.abc import Iterable

from slipway.failure import Failure
from slipway.terminal.screen import say

_PORT = re.compile(r"([1-9][0-9]{0,4})(?::([1-9][0-9]{0,4}))?", re.ASCII)
_LARGEST = 65_535
#: How many ports are tried from the wanted one on.
_MOST_TRIES = 100


def wanted(texts: Iterable[str]) -> dict[int, int]:
    """PORT or PORT:LOCAL → the port of the job, and the wanted one here. Raises Failure."""
    ports: dict[int, int] = {}
    for text in texts:
        match = _PORT.fullmatch(text)
        there, here = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
        if not match or max(there, here) > _LARGEST:
            raise Failure(f"{text!r} is not a port: write 6006, or 6006:8080 for another one here")
        if there in ports:
            raise Failure(f"the port {there} is named twice")
        ports[there] = here
    return ports


def listener(port: int) -> socket.socket:
    """A socket of this machine alone, at that port or the next one that is free. Raises Failure."""
    for one in range(port, min(port + _MOST_TRIES, _LARGEST + 1)):
        here = socket.socket()
        here.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            here.bind(("127.0.0.1", one))
            here.listen()
        except OSError as error:
            here.close()
            if error.errno == errno.EACCES:
                raise Failure(
                    f"you may not open the port {one} here: write another one, {port}:8080"
                ) from None
            if error.errno != errno.EADDRINUSE:
                raise
            continue
        if one != port:
            say(f"the port {port} is taken here: {one} instead")
        return here
    raise Failure(f"the ports from {port} on are taken here: write another one, {port}:LOCAL")
