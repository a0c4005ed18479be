"""Addresses of blobs over a dict."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime

from shared.core.ports import Address, AddressPage, BlobFolder

UNTIL = datetime(2026, 1, 1, 13, tzinfo=UTC)
WRITTEN = datetime(2026, 1, 1, 12, tzinfo=UTC)


@dataclass
class MemoryAddresses:
    """The port over a dict from container/name to size; everything is on one page."""

    blobs: dict[str, int] = field(default_factory=dict)
    account: str = "acct"

    async def page(self, folder: BlobFolder, after: str) -> AddressPage:
        """The addresses of the blobs directly in the folder."""
        top = f"{folder.container}/{folder.path}/"
        names = sorted(name.removeprefix(top) for name in self.blobs if name.startswith(top))
        addresses = [await self.find(folder, name) for name in names if "/" not in name]
        return AddressPage(tuple(one for one in addresses if one), "", UNTIL)

    async def find(self, folder: BlobFolder, name: str) -> Address | None:
        """The address of the blob with this name."""
        key = f"{folder.container}/{folder.path}/{name}"
        size = self.blobs.get(key)
        return None if size is None else Address(name, size, WRITTEN, f"https://acct.example/{key}?sig=s")
