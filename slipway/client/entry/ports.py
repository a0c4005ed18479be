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


def parsed_ports(texts: Iterable[str]) -> dict[int, int]:
    """PORT or PORT:LOCAL → the port of the job, and the wanted one here. Raises Failure."""
    ports: dict[int, int] = {}
    for text in texts:
        match = _PORT.fullmatch(text)
        remote, local = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
        if not match or max(remote, local) > _LARGEST:
            raise Failure(f"{text!r} is not a port: write 6006, or 6006:8080 for another one here")
        if remote in ports:
            raise Failure(f"the port {remote} is named twice")
        ports[remote] = local
    return ports


def listener(port: int) -> socket.socket:
    """A socket of this machine alone, at that port or the next one that is free. Raises Failure."""
    for one in range(port, min(port + _MOST_TRIES, _LARGEST + 1)):
        own = socket.socket()
        own.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            own.bind(("127.0.0.1", one))
            own.listen()
        except OSError as error:
            own.close()
            if error.errno == errno.EACCES:
                raise Failure(
                    f"you may not open the port {one} here: write another one, {port}:8080"
                ) from None
            if error.errno != errno.EADDRINUSE:
                raise
            continue
        if one != port:
            say(f"the port {port} is taken here: {one} instead")
        return own
    raise Failure(f"the ports from {port} on are taken here: write another one, {port}:LOCAL")
