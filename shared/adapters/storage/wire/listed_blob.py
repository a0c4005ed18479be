"""What a list of blobs says of one: its mode, its tier, and whether it is a directory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from shared.core.ports import Blob

if TYPE_CHECKING:
    from azure.storage.blob import BlobProperties

#: The tier in which blobs cannot be read, as lists name it.
_ARCHIVE = "Archive"


def as_listed(item: BlobProperties) -> Blob:
    """The blob of the drops port."""
    mode, archived = _mode(item.metadata), item.blob_tier == _ARCHIVE
    return Blob(item.name, item.etag.strip('"'), item.last_modified, item.size, mode, archived)


def _mode(metadata: Mapping[str, str] | None) -> str:
    """The mode that a person set in the metadata `mode`."""
    return _metadata_value(metadata, "mode")


def is_folder(metadata: Mapping[str, str] | None) -> bool:
    """Whether the blob is a directory, which accounts with a hierarchical namespace list and mark."""
    return _metadata_value(metadata, "hdi_isfolder") == "true"


def _metadata_value(metadata: Mapping[str, str] | None, key: str) -> str:
    """A value of the metadata; its name counts in any case, because it is sent as a header."""
    return next((text.lower() for name, text in (metadata or {}).items() if name.lower() == key), "")
