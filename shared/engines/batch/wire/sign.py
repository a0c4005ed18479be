"""Credentials for a Batch account: an identity, or the account's key. Never shown."""

from __future__ import annotations

import base64
import binascii
import hmac
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from email.utils import formatdate
from typing import Any, Protocol

from shared.core.errors import Misconfigured
from shared.login import Login

#: The headers of the text to sign, in the service's order. A missing header is an empty line.
_SIGNED = (
    *("content-encoding", "content-language", "content-length", "content-md5", "content-type", "date"),
    *("if-modified-since", "if-match", "if-none-match", "if-unmodified-since", "range"),
)


class Key(Protocol):
    """A credential that signs each call."""

    async def headers(
        self, verb: str, path: str, query: Mapping[str, str], headers: Mapping[str, str]
    ) -> Mapping[str, str]:
        """The headers to add to those of a call. `path` is as in the URL. Raises Misconfigured."""

    async def close(self) -> None:
        """Close the credential's own connections."""


@dataclass(frozen=True)
class SharedKey:
    """A key of the account, for accounts that allow one, and for the emulator."""

    account: str
    secret: bytes = field(repr=False)
    clock: Callable[[], float] = field(default=time.time, repr=False, compare=False)

    async def headers(
        self, verb: str, path: str, query: Mapping[str, str], headers: Mapping[str, str]
    ) -> Mapping[str, str]:
        """The date and the signature of the whole call except its body."""
        signed = {name.lower(): value for name, value in headers.items()}
        signed["ocp-date"] = formatdate(self.clock(), usegmt=True)
        lines = [verb, *(signed.get(name, "") for name in _SIGNED)]
        lines += [f"{name}:{signed[name]}" for name in sorted(signed) if name.startswith("ocp-")]
        lines.append(f"/{self.account}{path}")
        lines += [f"{name}:{query[name]}" for name in sorted(query)]
        digest = hmac.digest(self.secret, "\n".join(lines).encode(), "sha256")
        signature = base64.b64encode(digest).decode()
        return {"ocp-date": signed["ocp-date"], "Authorization": f"SharedKey {self.account}:{signature}"}

    async def close(self) -> None:
        """Do nothing: a shared key has no connection."""


class Identity:
    """The token of an identity, for the accounts of one cloud."""

    def __init__(
        self, client_id: str, scope: str, credential: Any = None, clock: Callable[[], float] = time.time
    ) -> None:
        self._login = Login("Azure Batch", scope, client_id, credential, clock)

    async def headers(
        self, verb: str, path: str, query: Mapping[str, str], headers: Mapping[str, str]
    ) -> Mapping[str, str]:
        """A bearer token. Raises Misconfigured if there is none."""
        return {"Authorization": f"Bearer {await self._login.token()}"}

    async def close(self) -> None:
        """Close the connections of the credential."""
        await self._login.close()


def key_from(account: str, text: str, place: str) -> SharedKey:
    """The key of an account, in base64. Raises Misconfigured, which names the place and not the text."""
    try:
        secret = base64.b64decode(text.strip(), validate=True)
    except (ValueError, binascii.Error):
        secret = b""
    if len(secret) < 16:
        raise Misconfigured(f"{place} is not a key of a Batch account, which is base64")
    return SharedKey(account, secret)
