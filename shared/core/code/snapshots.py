"""The port to the archives of code. Pure declarations: every verb may be repeated safely."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol


@dataclass(frozen=True)
class Snapshot:
    """One archive as it is stored. `modified` is the storage's clock: of its last touch, or of its upload."""

    blob: str
    size: int
    etag: str
    modified: datetime
    #: whether a job was ever accepted with it, by a mark that no uploader can make
    accepted: bool
    #: whether all read the same of it: its uploader may have given it an encoding, a tier or a key
    is_readable: bool = True


class Snapshots(Protocol):
    """The container of the archives: each is written once, by the digest of its bytes, and never changed.

    Names are those of `Code.blob`. Every verb raises Unavailable when storage does not answer.
    """

    @property
    def longest(self) -> timedelta | None:
        """For how long the app can sign an address at most; None for as long as is asked for."""

    async def find(self, blob: str) -> Snapshot | None:
        """One archive; None if there is none. It may be anything: a client sent it."""

    async def upload_address(self, blob: str, until: datetime) -> str:
        """An address that takes this one blob in one PUT, if it is not there yet, and can do nothing else."""

    async def read_address(self, blob: str, until: datetime) -> str:
        """An address that reads this one blob, until then or for as long as the app can sign for."""

    async def put(self, blob: str, data: bytes) -> bool:
        """Write it, unless it is there. Returns whether it was written."""

    async def touch(self, blob: str) -> bool:
        """Make it young, and note that a job was accepted with it; False if there is none."""

    def read(self, blob: str) -> AsyncIterator[bytes]:
        """Its bytes in parts; nothing if there is none."""

    def listed(self) -> AsyncIterator[Snapshot]:
        """Every archive, in the order of their names."""

    async def delete(self, blob: str, etag: str) -> bool:
        """Delete it if it is still in this version. Returns whether it was deleted."""
