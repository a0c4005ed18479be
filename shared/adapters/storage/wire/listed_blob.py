"""What a list of blobs says of one: its mode, its tier, and whether it is a directory."""

from __future__ import annotations

from collections.abc import Mapping

from shared.adapters.storage.wire import bloblist
from shared.core.ports import Blob

#: The tier in which blobs cannot be read, as lists name it.
_ARCHIVE = "Archive"


def as_listed(item: bloblist.Blob) -> Blob:
    """The blob of the drops port."""
    return Blob(item.name, item.etag, item.modified, item.size, _mode(item.metadata), item.tier == _ARCHIVE)


def _mode(metadata: Mapping[str, str] | None) -> str:
    """The mode that a person set in the metadata `mode`."""
    return _metadata_value(metadata, "mode")


def is_folder(metadata: Mapping[str, str] | None) -> bool:
    """Whether the blob is a directory, which accounts with a hierarchical namespace list and mark."""
    return _metadata_value(metadata, "hdi_isfolder") == "true"


def _metadata_value(metadata: Mapping[str, str] | None, key: str) -> str:
    """A value of the metadata; its name counts in any case, because it is sent as a header."""
    return next((text.lower() for name, text in (metadata or {}).items() if name.lower() == key), "")
