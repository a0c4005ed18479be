"""`slipway data rm`: files and folders of the data, removed after a look at what would go."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from slipway.client.files.datalake import DataFile, DataLake
from slipway.client.files.output import PARALLEL
from slipway.commands.asking import refuse_unless_agreed, show
from slipway.commands.data.container import data_lake
from slipway.commands.data.get import find
from slipway.failure import USAGE, Failure
from slipway.terminal.characters import printable
from slipway.terminal.screen import say

_UNITS = {"h": timedelta(hours=1), "d": timedelta(days=1)}


def run(
    names: Sequence[str],
    older: str,
    container: str,
    settings_file: Path | None,
    *,
    dry_run: bool,
    yes: bool,
    as_json: bool,
) -> int:
    """Remove what fits, or show it; 1 if a file could not be removed. Raises Failure."""
    age = _age(older)

    async def ask() -> dict[str, Any]:
        async with data_lake(container, settings_file, removes=True) as lake:
            listed = await find(lake, names)
            before = datetime.now(UTC) - age if age is not None else None
            chosen = [one for one in listed if before is None or _modified(one) <= before]
            answer = {"files": [one.name for one in chosen], "bytes": sum(one.size for one in chosen)}
            if dry_run or not chosen:
                return {**answer, "removed": 0, "failed": []}
            if not yes:
                number = _number(len(chosen))
                refusal = f"{number} would go, and none did; add --yes to remove them"
                names_shown = [printable(one.name) for one in chosen]
                refuse_unless_agreed(names_shown, f"remove {number} for good?", refusal)
            reasons = await _removed(lake, chosen)
            return {**answer, "removed": len(chosen) - len(reasons), "failed": reasons}

    answer = asyncio.run(ask())
    show(answer, lambda one: _lines(one, dry_run=dry_run), as_json=as_json)
    for one in answer["failed"]:
        say(f"{printable(one['name'])} was not removed: {one['why']}")
    return int(bool(answer["failed"]))


def _age(text: str) -> timedelta | None:
    """The age of `--older`, a number of hours or days; None without one. Raises Failure."""
    if not text:
        return None
    unit, number = _UNITS.get(text[-1]), text[:-1]
    if unit is None or not (number.isascii() and number.isdigit()) or len(number) > 5:
        raise Failure(f"--older {text[:20]!r} is not an age; write 12h or 180d", USAGE)
    return int(number) * unit


def _modified(file: DataFile) -> datetime:
    return datetime.fromtimestamp(file.modified or 0, UTC)


async def _removed(lake: DataLake, files: Sequence[DataFile]) -> list[dict[str, str]]:
    """Remove the files, several at once; those that were not removed, with the reason."""
    gate = asyncio.Semaphore(PARALLEL)

    async def one(file: DataFile) -> str:
        async with gate:
            return await lake.remove(file)

    reasons = await asyncio.gather(*map(one, files))
    return [{"name": file.name, "why": why} for file, why in zip(files, reasons, strict=True) if why]


def _lines(answer: dict[str, Any], *, dry_run: bool) -> list[str]:
    what = f"{_number(len(answer['files']))}, {answer['bytes']:,} bytes"
    if not answer["files"]:
        return ["nothing fits"]
    if dry_run:
        return [*map(printable, answer["files"]), f"{what}: would be removed"]
    return [f"{_number(answer['removed'])} removed"]


def _number(files: int) -> str:
    return f"{files} files" if files != 1 else "1 file"
