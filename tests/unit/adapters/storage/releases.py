"""What each release has left in a store: a row of every kind, which later releases have to read.

`python -m tests.unit.adapters.storage.releases` writes those of this version, before it is released. Those of
a release that is out never change.
"""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from shared import __version__
from shared.adapters.storage.table import VersionedRow
from tests.unit.functions.furnished import Furnished, furnished
from tests.unit.world import World

FOLDER = Path(__file__).resolve().parents[3] / "golden" / "store"
RELEASES = sorted(file.stem for file in FOLDER.glob("*.json"))


class Release(NamedTuple):
    """A release's rows, when it wrote the last of them, and the job that is at work on its cluster."""

    rows: list[dict[str, Any]]
    now: datetime
    at_work: str


def file_of(release: str) -> Path:
    """The file with the rows of a release."""
    return FOLDER / f"{release}.json"


def read(release: str) -> Release:
    """What a release has left."""
    document = json.loads(file_of(release).read_text(encoding="utf-8"))
    rows = [{name: _value(one) for name, one in row.items()} for row in document["rows"]]
    return Release(rows, datetime.fromisoformat(document["now"]), document["atWork"])


def put(release: Release, world: World) -> None:
    """Let a world have the store of a release."""
    world.now = release.now
    for number, row in enumerate(release.rows):
        key = (row["PartitionKey"], row["RowKey"])
        world.ledger.held[key] = VersionedRow(row, f'W/"r{number}"', release.now)


def document_of(result: Furnished) -> dict[str, Any]:
    """What a deployment has left, as JSON."""
    rows = [_as_json(result.world.ledger.held[key].row) for key in sorted(result.world.ledger.held)]
    now = result.world.now.isoformat()
    return {"version": __version__, "now": now, "atWork": result.good.id, "rows": rows}


def _as_json(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: {"bytes": base64.b64encode(one).decode()} if isinstance(one, bytes) else one
        for name, one in row.items()
    }


def _value(one: Any) -> Any:
    return base64.b64decode(one["bytes"]) if isinstance(one, dict) else one


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    text = json.dumps(document_of(asyncio.run(furnished(World()))), indent=1, ensure_ascii=False)
    file_of(__version__).write_text(f"{text}\n", encoding="utf-8")
