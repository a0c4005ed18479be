"""The ports of a `slipway forward`: as a person writes them, and free ones of this machine."""

from __future__ import annotations

import errno
import re
import socket
from collections.abc import Iterable

from slipway.client.entry.places import LARGEST_PORT
from slipway.failure import USAGE, Failure
from slipway.terminal.screen import say

_PORT = re.compile(r"([1-9][0-9]{0,4})(?::([1-9][0-9]{0,4}))?", re.ASCII)
#: How many ports are tried from the wanted one on.
_MOST_TRIES = 100


def parsed_ports(texts: Iterable[str]) -> dict[int, int]:
    """PORT or PORT:LOCAL → the port of the job, and the wanted one here. Raises Failure."""
    ports: dict[int, int] = {}
    for text in texts:
        match = _PORT.fullmatch(text)
        remote, local = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
        if not match or max(remote, local) > LARGEST_PORT:
            raise Failure(f"{text!r} is not a port: write 6006, or 6006:8080 for another one here", USAGE)
        if remote in ports:
            raise Failure(f"the port {remote} is named twice")
        ports[remote] = local
    return ports


def listener(port: int) -> socket.socket:
    """A socket of this machine alone, at that port or the next one that is free. Raises Failure."""
    for one in range(port, min(port + _MOST_TRIES, LARGEST_PORT + 1)):
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


def is_open(port: int) -> bool:
    """Whether something of this machine listens there; no connection is made, which a tool would pass on."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            return error.errno == errno.EADDRINUSE
    return False
