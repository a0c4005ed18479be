"""The ports of `slipway up`: reads them from its options, and checks which are in use."""

import socket
from dataclasses import replace

from local.stack import Ports
from slipway.failure import Failure


def ports_from(storage: int, host: int, emulator: int, receiver: int) -> Ports:
    """The ports of the options; storage takes three in a row, and 0 is any free one."""
    three = (storage, storage + 1, storage + 2) if storage else None
    return Ports(azurite=three, host=host, emulator=emulator, receiver=receiver)


#: Those of `slipway up` without options.
USUAL_PORTS = ports_from(10000, 7071, 7080, 7090)


def check_ports(ports: Ports) -> None:
    """Raise Failure that names a port in use and the option that changes it."""
    options = [("--storage-port", port) for port in ports.azurite or ()]
    options += [("--port", ports.host), ("--emulator-port", ports.emulator)]
    for option, port in [*options, ("--receiver-port", ports.receiver)]:
        if reason := _obstacle(port):
            raise Failure(
                f"port {port} cannot be used ({reason}): stop what runs there, choose another one with "
                f"{option}, or let `slipway up --any-ports` choose"
            )


def busy_ports(ports: Ports) -> list[int]:
    """The ports that cannot be used."""
    return [port for port in (*(ports.azurite or ()), *_single(ports)) if _obstacle(port)]


def usable_ports(ports: Ports) -> Ports:
    """The same ports with a free one for each that is in use; storage gets three new ones."""
    busy = busy_ports(ports)
    host, emulator, receiver = (0 if port in busy else port for port in _single(ports))
    taken_storage = not set(busy).isdisjoint(ports.azurite or ())
    azurite = None if taken_storage else ports.azurite
    return replace(ports, azurite=azurite, host=host, emulator=emulator, receiver=receiver)


def _single(ports: Ports) -> tuple[int, ...]:
    return ports.host, ports.emulator, ports.receiver


def _obstacle(port: int) -> str:
    """Why no server can listen on a port here; "" if one can."""
    with socket.socket() as probe:
        # As servers do, so that the port of a stack that has just stopped counts as free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except (OSError, OverflowError) as error:
            return getattr(error, "strerror", None) or str(error)
    return ""
