"""The files of a folder here in the place of the drop container."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from types import MappingProxyType

from shared.core.errors import Misuse
from shared.core.ports import Blob, BlobPage, Content, Drops


def folders_among(prefix: str, names: Iterable[str]) -> tuple[str, ...]:
    """The folders directly below a prefix, as a list of blobs with a delimiter has them."""
    rests = (name.removeprefix(prefix) for name in names)
    return tuple(sorted({f"{prefix}{rest.partition('/')[0]}/" for rest in rests if "/" in rest}))


class FolderDrops:
    """The drops port over files by name, to explain them before they are uploaded. It keeps no receipt."""

    def __init__(
        self, files: Mapping[str, bytes], container: str, sizes: Mapping[str, int] = MappingProxyType({})
    ) -> None:
        """`sizes` are those of files that are not here as a whole."""
        now = datetime.now(UTC).replace(microsecond=0)
        self._files, self._container = files, container
        self._blobs = [
            Blob(name, name, now, sizes.get(name, len(body))) for name, body in sorted(files.items())
        ]

    async def page(self, prefix: str, *, deep: bool = True, after: str = "") -> BlobPage:
        """The blobs with that prefix, in order of names, on one page."""
        blobs = [blob for blob in self._blobs if blob.name.startswith(prefix)]
        below = () if deep else folders_among(prefix, (blob.name for blob in blobs))
        if not deep:
            blobs = [blob for blob in blobs if "/" not in blob.name.removeprefix(prefix)]
        return BlobPage(tuple(blobs), folders=below)

    async def find(self, name: str) -> Blob | None:
        """The blob of that name."""
        return next((blob for blob in self._blobs if blob.name == name), None)

    async def read(self, name: str, *, etag: str | None = None, limit: int) -> Content | None:
        """The file; there is one version of it."""
        body = self._files.get(name)
        if body is not None and len(body) > limit:
            raise Misuse(f"{name} has {len(body)} bytes, more than {limit}")
        return None if body is None else Content(body, name)

    async def read_reference(self, reference: str, *, limit: int) -> bytes | None:
        """A file of the folder: only what would be uploaded can be read here."""
        container, _, name = reference.partition("/")
        if container != self._container:
            raise Misuse(f"container {container!r} may not be read")
        content = await self.read(name, limit=limit)
        return content.data if content else None

    async def put_receipt_file(self, name: str, body: bytes, *, replace: bool) -> None:
        """Store nothing: a look at a folder on this machine has no receipt."""

    async def read_receipt_file(self, name: str, *, limit: int) -> bytes | None:
        """None: no receipt is ever stored."""
        return None

    async def delete_receipt_file(self, name: str) -> None:
        """Delete nothing: no receipt is ever stored."""

    async def put_status(self, name: str, line: bytes, sequence: int, *, fresh: bool = False) -> bool:
        """Store nothing; no job runs here that could have a status."""
        return False

    async def try_write(self) -> None:
        """Write nothing: no receipt is ever stored."""


class DropsToBe(FolderDrops):
    """The drop container as it will be with these files in it; what lies there already is read there."""

    def __init__(
        self,
        files: Mapping[str, bytes],
        container: str,
        rest: Drops,
        sizes: Mapping[str, int] = MappingProxyType({}),
    ) -> None:
        super().__init__(files, container, sizes)
        self._own, self._rest = frozenset(files), rest

    async def page(self, prefix: str, *, deep: bool = True, after: str = "") -> BlobPage:
        """The blobs with that prefix; those of the folder are on the first page."""
        page = await self._rest.page(prefix, deep=deep, after=after)
        own = BlobPage(()) if after else await super().page(prefix, deep=deep)
        rest = (one for one in page.blobs if one.name not in self._own)
        return BlobPage((*own.blobs, *rest), page.next, (*own.folders, *page.folders))

    async def find(self, name: str) -> Blob | None:
        """The file of the folder, else the one that lies there."""
        return await super().find(name) if name in self._own else await self._rest.find(name)

    async def read(self, name: str, *, etag: str | None = None, limit: int) -> Content | None:
        """The file of the folder, else the one that lies there."""
        if name in self._own:
            return await super().read(name, etag=etag, limit=limit)
        return await self._rest.read(name, etag=etag, limit=limit)
