"""The values of bindings, fixed when the app is indexed: the only settings read before an invocation.

The host replaces %NAME% only where the setting exists, so defaults are filled in here.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

import azure.functions as func

from shared.setting_table.rows import SETTINGS


def auth_level(values: Mapping[str, str]) -> func.AuthLevel:
    """With Entra the app checks tokens itself, and the host asks for no key."""
    return func.AuthLevel.ANONYMOUS if _setting("SLIPWAY_TENANT", values) else func.AuthLevel.FUNCTION


def _setting(name: str, values: Mapping[str, str] = os.environ) -> str:
    """As `Settings` reads it: what is blank is not set."""
    return values.get(name, "").strip() or SETTINGS[name].default


CONNECTION = "SLIPWAY_STORAGE"
DROPS = _setting("SLIPWAY_DROP_CONTAINER")
SWEEPER = _setting("SLIPWAY_SWEEPER_SCHEDULE")
SOURCE = (
    func.BlobSource.LOGS_AND_CONTAINER_SCAN
    if _setting("SLIPWAY_BLOB_SOURCE").lower() == "logsandcontainerscan"
    else func.BlobSource.EVENT_GRID
)
AUTH = auth_level(os.environ)
#: Of each queue trigger: members of a JSON text would replace the queue's own id, times and tries.
BYTES = func.DataType.BINARY
