"""Tokens for an API server; never shown."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from shared.core.errors import Misconfigured
from shared.engines.kubernetes.wire.access import Access
from shared.login import Login

#: The application id of all AKS clusters with Entra log-in.
_AKS = "6dae42f8-4368-4678-94ff-3960e28e3630/.default"
#: Seconds for which a file's token is used: the cluster replaces it well before it expires.
_GOOD = 60.0


class Bearer(Protocol):
    """Gives the token for a call; "" for none."""

    async def token(self) -> str:
        """The token. Raises Misconfigured."""

    async def close(self) -> None:
        """Close its own connections."""


def bearer_of(access: Access) -> Bearer:
    """The token of a kubeconfig or of a pod."""
    return FileToken(access.token_file) if access.token_file else FixedToken(access.token)


@dataclass(frozen=True)
class FixedToken:
    """A token that never changes."""

    text: str = field(repr=False)

    async def token(self) -> str:
        """The same token at each call."""
        return self.text

    async def close(self) -> None:
        """Do nothing: it has no connection."""


class FileToken:
    """A token in a file, which the cluster replaces now and then."""

    def __init__(self, file: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._file, self._clock = Path(file), clock
        self._text, self._until = "", float("-inf")

    async def token(self) -> str:
        """The file's content, at most a minute old."""
        if self._clock() >= self._until:
            try:
                self._text = (await asyncio.to_thread(self._file.read_text, "ascii")).strip()
            except (OSError, ValueError) as error:
                why = getattr(error, "strerror", None) or "it is not text"
                raise Misconfigured(f"the token in {self._file} cannot be read: {why}") from None
            self._until = self._clock() + _GOOD
        return self._text

    async def close(self) -> None:
        """Do nothing: it has no connection."""


def aks_token(client_id: str, credential: Any = None, clock: Callable[[], float] = time.time) -> Login:
    """The token of an Azure identity, for AKS with Entra log-in."""
    return Login("AKS", _AKS, client_id, credential, clock)
