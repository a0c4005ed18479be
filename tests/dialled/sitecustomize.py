"""Stops every Python process of a test run from reaching out, and writes down what it tried.

Python imports a module of this name at start-up, so every process that the tests start with their environment
has it too. The hook sees what the interpreter itself does: connects, datagrams and look-ups of names.
Loopback and sockets without an address (Unix) are free; everything else is refused and noted.

Most processes connect to nothing, and start in two thirds of the time without what the hook needs then.
"""

import os
import sys

#: The file that is appended to: one line a try.
LOG = "DIALLED_LOG"
#: Set by tests that mean to reach public addresses, and stop that by themselves.
PUBLIC = "DIALLED_PUBLIC"
_NAMES = frozenset({"localhost", "localhost.localdomain", "ip6-localhost", ""})


def refused(event: str, args: tuple[object, ...]) -> str | None:
    """What the event would reach outside of this machine; None when it may go on."""
    if event == "socket.getaddrinfo":
        return _name(args[0])
    if event in ("socket.gethostbyname", "socket.gethostbyaddr"):
        return _name(args[0])
    if event in ("socket.connect", "socket.sendto", "socket.sendmsg"):
        address = args[1]
        return _name(address[0]) if isinstance(address, tuple) and address else None
    return None


def _name(host: object) -> str | None:
    import socket
    from ipaddress import ip_address

    text = host.decode("ascii", "replace") if isinstance(host, bytes) else "" if host is None else str(host)
    # "invalid" leads nowhere, by RFC 6761.
    if text.lower() in (*_NAMES, socket.gethostname().lower()) or text.lower().endswith(".invalid"):
        return None
    try:
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return text
    # 0.0.0.0 and :: are what one listens on.
    return None if address.is_loopback or address.is_unspecified else text


def _public(where: str) -> bool:
    """Whether it is a public address, or a name that is only looked up."""
    from ipaddress import ip_address

    try:
        return ip_address(where.partition("%")[0]).is_global
    except ValueError:
        return True


def _hook(event: str, args: tuple[object, ...]) -> None:
    if not event.startswith("socket."):
        return
    where = refused(event, args)
    if where is None or (os.environ.get(PUBLIC) and _public(where)):
        return
    with open(os.environ[LOG], "a", encoding="utf-8") as log:  # noqa: PTH123 - as little as possible is imported
        log.write(f"{event} {where} by process {os.getpid()} ({' '.join(sys.argv[:3])[:200]})\n")
    raise PermissionError(f"a test must not dial {where}")


if os.environ.get(LOG):
    sys.addaudithook(_hook)
