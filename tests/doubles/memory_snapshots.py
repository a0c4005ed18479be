"""The archives of code over a dict, as strict as the service: written once, deleted by version."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from shared.core.code.snapshots import Snapshot

#: What an address of each right has in place of a signature.
UPLOAD, READ = "sig=create", "sig=read"
_BASE = "https://acct.example/snapshots/"


@dataclass
class MemorySnapshots:
    """The port over two dicts: the bytes of each blob, and what a list shows of it."""

    clock: Callable[[], datetime]
    data: dict[str, bytes] = field(default_factory=dict)
    shown: dict[str, Snapshot] = field(default_factory=dict)
    #: the requests that reached it
    requests: list[tuple[str, str]] = field(default_factory=list)
    longest: timedelta | None = None
    _versions: Iterator[int] = field(default_factory=itertools.count)

    async def find(self, blob: str) -> Snapshot | None:
        self.requests.append(("find", blob))
        return self.shown[blob] if blob in self.data else None

    async def upload_address(self, blob: str, until: datetime) -> str:
        return f"{_BASE}{blob}?se={until:%Y-%m-%dT%H:%M:%SZ}&{UPLOAD}"

    async def read_address(self, blob: str, until: datetime) -> str:
        return f"{_BASE}{blob}?se={until:%Y-%m-%dT%H:%M:%SZ}&{READ}"

    def uploaded(self, address: str, data: bytes) -> bool:
        """A PUT to an address of a client; whether storage took it."""
        path, _, query = address.partition("?")
        if not query.endswith(UPLOAD):
            return False
        return self._put(path.removeprefix(_BASE), data)

    async def put(self, blob: str, data: bytes) -> bool:
        self.requests.append(("put", blob))
        return self._put(blob, data)

    def _put(self, blob: str, data: bytes) -> bool:
        if blob in self.data:
            return False
        self.data[blob] = data
        self.shown[blob] = self._snapshot(blob, accepted=False)
        return True

    async def touch(self, blob: str) -> bool:
        self.requests.append(("touch", blob))
        if blob not in self.data:
            return False
        self.shown[blob] = self._snapshot(blob, accepted=True)
        return True

    async def read(self, blob: str) -> AsyncIterator[bytes]:
        self.requests.append(("read", blob))
        if blob in self.data:
            yield self.data[blob]

    async def listed(self) -> AsyncIterator[Snapshot]:
        self.requests.append(("listed", ""))
        for blob in sorted(self.shown):
            if blob in self.shown:
                yield self.shown[blob]

    async def delete(self, blob: str, etag: str) -> bool:
        self.requests.append(("delete", blob))
        if blob not in self.data or self.shown[blob].etag != etag:
            return False
        del self.data[blob], self.shown[blob]
        return True

    def _snapshot(self, blob: str, *, accepted: bool) -> Snapshot:
        return Snapshot(blob, len(self.data[blob]), str(next(self._versions)), self._now(), accepted)

    def _now(self) -> datetime:
        """The storage's clock, which shows whole seconds."""
        return self.clock().replace(microsecond=0)
