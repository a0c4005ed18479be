"""`slipway data get`: files and folders of the data, saved below a directory."""

import asyncio
import re
from collections.abc import Callable, Sequence
from contextlib import aclosing
from pathlib import Path

from slipway.client.files.arriving import complete
from slipway.client.files.datalake import DataFile, DataLake
from slipway.client.files.save import Destination
from slipway.client.files.saving import Outcome, save_each, say_reasons
from slipway.commands.asking import show
from slipway.commands.data.container import data_lake
from slipway.commands.download.fetched import summary
from slipway.failure import UNKNOWN, Failure
from slipway.terminal.bar import progress
from slipway.terminal.characters import printable


def run(
    names: Sequence[str], to: Path, container: str, settings_file: Path | None, *, as_json: bool = False
) -> int:
    """Download, and show the outcome; 1 if a file could not be saved. Raises Failure."""

    async def ask() -> Outcome:
        async with data_lake(container, settings_file) as lake:
            files = await find(lake, names)
            with progress(sum(file.size for file in files)) as bar:
                return await get(lake, files, to, bar.advance)

    outcome = asyncio.run(ask())
    say_reasons(outcome.failed)
    answer = {
        "saved": outcome.saved,
        "bytes": outcome.bytes,
        "present": outcome.present,
        "folder": str(to),
        "failed": outcome.failures,
    }
    show(answer, lambda _: [summary(outcome, to)], as_json=as_json)
    return int(bool(outcome.failed))


async def find(lake: DataLake, names: Sequence[str]) -> list[DataFile]:
    """The files that match these names: files, folders or patterns. Raises Failure if one matches nothing."""
    files: dict[str, DataFile] = {}
    for name in names:
        pattern = name.strip("/")
        listed = await lake.files(re.split(r"[*?\[]", pattern, maxsplit=1)[0])
        fitting = [file for file in listed if file.name == pattern or file.fits([pattern])]
        if not fitting:
            raise Failure(f"there is no {printable(name)}; `slipway data ls --tree` lists all files", UNKNOWN)
        files |= {file.name: file for file in fitting}
    return sorted(files.values(), key=lambda file: file.name)


async def get(lake: DataLake, files: Sequence[DataFile], to: Path, advance: Callable[[int], None]) -> Outcome:
    """Save the files below a directory, several at once. Raises Failure if nothing can be saved there."""
    outcome, destination = Outcome(), Destination(to)

    async def has(file: DataFile) -> bool:
        return destination.has(file) or await asyncio.to_thread(destination.contains, file, file.md5)

    async def one(file: DataFile) -> int:
        return await _save(lake, file, destination, advance)

    try:
        await save_each(complete(files), has, one, advance, outcome)
    finally:
        destination.close()
    return outcome


async def _save(
    lake: DataLake, file: DataFile, destination: Destination, advance: Callable[[int], None]
) -> int:
    start = destination.begun(file)
    advance(start)
    async with (
        aclosing(lake.read(file, start)) as content,
        aclosing(destination.save(file, start, content)) as written,
    ):
        async for size in written:
            advance(size)
    if file.md5 and not await asyncio.to_thread(destination.contains, file, file.md5):
        destination.remove(file)
        raise Failure("the received bytes differ from the stored ones, and were removed; get it again")
    return file.size
