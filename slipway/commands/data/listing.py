"""`slipway data ls`: the files and folders in the container of the data."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from slipway.client.files.datalake import DataFile
from slipway.commands.asking import show
from slipway.commands.data.container import data_lake
from slipway.commands.files.files import rows
from slipway.failure import UNKNOWN, Failure


def run(
    folder: str, container: str, settings_file: Path | None, *, tree: bool, utc: bool, as_json: bool
) -> int:
    """Print one line for each file or folder. Raises Failure."""
    prefix = f"{folder.strip('/')}/" if folder.strip("/") else ""

    async def ask() -> list[DataFile]:
        async with data_lake(container, settings_file) as lake:
            return await lake.files(prefix)

    files = asyncio.run(ask())
    if prefix and not files:
        raise Failure(
            f"there is no folder {prefix} in {container}; `slipway data ls` lists its root", UNKNOWN
        )
    listed = [_entry(file.name, file) for file in files] if tree else entries(files, prefix)
    show(listed, partial(rows, utc=utc), as_json=as_json)
    return 0


def entries(files: Sequence[DataFile], prefix: str) -> list[dict[str, Any]]:
    """The files and the folders of one level; folders do not have a size."""
    level: dict[str, dict[str, Any]] = {}
    for file in files:
        name, below, _ = file.name.removeprefix(prefix).partition("/")
        level.setdefault(
            f"{name}{below}", {"name": name, "bytes": None, "modified": None} if below else _entry(name, file)
        )
    return list(level.values())


def _entry(name: str, file: DataFile) -> dict[str, Any]:
    modified = datetime.fromtimestamp(file.modified or 0, UTC).isoformat()
    return {"name": name, "bytes": file.size, "modified": modified}
