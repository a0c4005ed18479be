"""Signed addresses of blobs: by a user delegation key of the app's identity, or by the account's key."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from urllib.parse import quote

from shared.adapters.storage.wire.bloblist import Blob, list_blobs
from shared.adapters.storage.wire.connection import Account, Connection, storage_errors
from shared.adapters.storage.wire.sas import Key, read_blob
from shared.adapters.storage.wire.signing_key import SigningKey
from shared.core.ports import Address, AddressPage, BlobFolder

#: The number of blobs on a page.
_PAGE = 1_000
#: The number on the first page, for which a download waits: ten times as many take ten times as long to sign.
_FIRST = 100
#: The metadata of a blob that is not a file: a folder, or a link that blobfuse wrote.
_NO_FILE = ("hdi_isfolder", "is_symlink")


class BlobAddresses:
    """The port over one account. Addresses are valid for `valid`."""

    def __init__(
        self, account: Account, connection: Connection, valid: timedelta, clock: Callable[[], datetime]
    ) -> None:
        self._account, self._connection, self._valid, self._clock = account, connection, valid, clock
        self._key = SigningKey(account, connection, valid, clock)

    @property
    def account(self) -> str:
        """The account that the connection string or the address of the blob service names; "" for none."""
        return self._connection.account()

    async def page(self, folder: BlobFolder, after: str) -> AddressPage:
        """One page of the container's list, with a signature for each blob."""
        async with storage_errors():
            key, expires = await self._key.key(), self._clock() + self._valid
        count = _PAGE if after else _FIRST
        page = await list_blobs(self._account.lists, folder.container, f"{folder.path}/", count, after)
        blobs = [blob for blob in page.blobs if _is_file(blob.metadata)]
        # A thousand signatures take a tenth of a second, so other calls get a chance to run in between.
        addresses = await asyncio.to_thread(
            lambda: [self._address(folder, one, key, expires) for one in blobs]
        )
        return AddressPage(tuple(addresses), page.next, expires)

    async def find(self, folder: BlobFolder, name: str) -> Address | None:
        """The address of one file; None if there is no such file."""
        from azure.core.exceptions import ResourceNotFoundError

        client = self._account.blobs.get_blob_client(folder.container, f"{folder.path}/{name}")
        async with storage_errors():
            try:
                properties = await client.get_blob_properties()
            except ResourceNotFoundError:
                return None
            key = await self._key.key()
        if not _is_file(properties.metadata):
            return None
        blob = Blob(properties.name, properties.size, properties.last_modified, properties.metadata)
        return self._address(folder, blob, key, self._clock() + self._valid)

    def _address(self, folder: BlobFolder, blob: Blob, key: Key, expires: datetime) -> Address:
        base, name = self._connection.address("blob"), blob.name.removeprefix(f"{folder.path}/")
        path, https = f"{folder.container}/{blob.name}", base.startswith("https:")
        query = read_blob(self.account, path, key, expires, https=https, file=name)
        return Address(name, blob.size, blob.modified, f"{base}/{quote(path, safe='/~')}?{query}")


def _is_file(metadata: Mapping[str, str] | None) -> bool:
    return not any(
        name.lower() in _NO_FILE and text.lower() == "true" for name, text in (metadata or {}).items()
    )
