"""BlobCreated events of a storage account, as Event Grid sends them, and the filter of the subscription.

Source: "Azure Blob Storage as an Event Grid source" (CloudEvents 1.0 schema); infra/events.bicep.
"""

from __future__ import annotations

import json
import uuid
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import unquote, urlsplit

from local.azurite import ACCOUNT

#: The operations that the subscription of a deployment takes (`data.api`).
APIS = ("PutBlob", "PutBlockList", "CopyBlob", "FlushWithClose")
TYPE = "Microsoft.Storage.BlobCreated"
_GROUP = f"/subscriptions/{uuid.UUID(int=0)}/resourceGroups/local"
_SOURCE = f"{_GROUP}/providers/Microsoft.Storage/storageAccounts/{ACCOUNT}"
_MARK = "written "


@dataclass(frozen=True)
class Write:
    """One write of a blob: where, by which operation, and the data of its event."""

    container: str
    blob: str
    data: dict[str, Any]


def prefix(container: str) -> str:
    """How the subjects of a container's blobs begin: the subscription's filter."""
    return f"/blobServices/default/containers/{container}/"


def read_write(line: str) -> Write | None:
    """The write that a line of Azurite's process reports; None for any other line."""
    if not line.startswith(_MARK):
        return None
    data = json.loads(line.removeprefix(_MARK))
    _, _, path = urlsplit(data["url"]).path.lstrip("/").partition("/")
    container, _, blob = path.partition("/")
    return Write(unquote(container), unquote(blob), data)


def blob_created(write: Write, now: datetime, sequence: int) -> dict[str, Any]:
    """The event of a write. `sequence` grows with each write of the account."""
    return {
        "specversion": "1.0",
        "id": str(uuid.uuid4()),
        "source": _SOURCE,
        "type": TYPE,
        "subject": f"{prefix(write.container)}blobs/{write.blob}",
        "time": now.astimezone(UTC).isoformat().replace("+00:00", "Z"),
        "data": {
            **write.data,
            "sequencer": f"{sequence:048x}",
            "storageDiagnostics": {"batchId": str(uuid.UUID(int=sequence))},
        },
    }
