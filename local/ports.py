"""Free ports below those that the kernel gives to clients, where one would be taken sooner or later."""

import random
import socket

_RANGE = range(12_000, 32_768)


def free_ports(count: int) -> list[int]:
    """That many ports of the loopback interface that have no listener now."""
    ports: list[int] = []
    for port in random.sample(_RANGE, len(_RANGE)):
        if len(ports) == count:
            break
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        ports.append(port)
    return ports
