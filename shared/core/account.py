"""The storage account of a deployment: how it is reached, and by which name and key nodes mount from it."""

from __future__ import annotations

from typing import NamedTuple


class StorageAddresses(NamedTuple):
    """A connection string, or the addresses of the three services; "" for what is not given."""

    string: str
    blob: str
    queue: str
    table: str


class MountAccount(NamedTuple):
    """The account that jobs mount from; its key may be empty."""

    name: str
    key: str
