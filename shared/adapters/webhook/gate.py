"""The connect-time gate: no connection to an address that is not public, under any name.

A name is looked up once, refused if any of its addresses is not public, and the connection goes to a checked
literal address, which is checked again in the very call that makes the socket. TLS still proves the name.
"""

from __future__ import annotations

import asyncio
import socket
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any

from shared.adapters.webhook.addresses import is_public

if TYPE_CHECKING:
    from aiohttp.abc import AbstractResolver, ResolveResult

#: So many names are looked up at once; the others wait.
_THREADS = 64


class AddressRefusedError(OSError):
    """The connect-time gate stopped a connection.

    An OSError, because aiohttp passes those on to the caller.
    """


class OwnThreads:
    """Looks names up on its own threads, so that hung name servers never use up those that storage needs."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="webhook-names")

    async def resolve(self, host: str, port: int, family: socket.AddressFamily) -> list[ResolveResult]:
        """The result of getaddrinfo. Raises OSError."""
        from aiohttp.abc import ResolveResult

        lookup = partial(socket.getaddrinfo, host, port, family=family, type=socket.SOCK_STREAM)
        addresses = await asyncio.get_running_loop().run_in_executor(self._pool, lookup)
        return [
            ResolveResult(
                hostname=host,
                host=str(address[0]),
                port=port,
                family=kind,
                proto=protocol,
                flags=socket.AI_NUMERICHOST,
            )
            for kind, _, protocol, _, address in addresses
        ]


class Gate:
    """The connect-time gate, in the two places that aiohttp offers for one."""

    def __init__(self, names: OwnThreads | AbstractResolver, *, loopback: bool) -> None:
        self._names = names
        self._loopback = loopback

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """Look the name up once and return literal addresses, all of them public, or raise OSError."""
        answers = await self._names.resolve(host, port, family)
        if not answers:
            raise OSError("the name does not resolve to an address")
        if not all(self._allows(answer["host"]) for answer in answers):
            raise AddressRefusedError("the name leads to an address that is not public")
        return answers

    def open(self, address: tuple[Any, ...]) -> socket.socket:
        """Make a socket for one `getaddrinfo` entry, only if its address may be reached."""
        family, kind, protocol, _, target = address
        if not self._allows(target[0]):
            raise AddressRefusedError("the address is not public")
        return socket.socket(family, kind, protocol)

    async def close(self) -> None:
        """Nothing to close; aiohttp calls this on every resolver."""

    def _allows(self, address: str) -> bool:
        return is_public(address, allow_loopback=self._loopback)
