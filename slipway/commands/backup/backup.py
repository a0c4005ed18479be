"""`slipway backup make` and `restore`: the rows of the ledger's table in a file, and back.

A table has no snapshot. Two readings one after the other with the same rows in the same versions show the
table as it was between them, so a backup never holds half of a transaction.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import IO

from shared import __version__
from shared.adapters.storage.layout import LAYOUT, RESTORING
from shared.adapters.storage.table import Operation, Row
from shared.adapters.storage.wire.resttable import RestTable
from shared.core.account import TABLE_RULE, is_table
from shared.settings import Settings
from slipway.client.storage.account import storage_account
from slipway.client.storage.upload_settings import upload_settings
from slipway.commands.asking import show
from slipway.failure import REJECTED, UNKNOWN, Failure
from slipway.terminal.characters import printable

#: Readings before it gives up; the table of a small deployment is still for most seconds.
_READINGS = 6
#: Rows and bytes of one transaction: the service takes 100, and 4 MiB.
_ROWS, _BYTES = 100, 3 << 20
_STAMP = "Timestamp"
_FORMAT = "slipway-ledger 1"


def make(file: Path, table: str, settings_file: Path | None, *, as_json: bool) -> int:
    """Write the file, and say how many rows it has. Raises Failure."""
    settings = asyncio.run(upload_settings("", "", settings_file))
    table = table or settings.text("SLIPWAY_LEDGER_TABLE")
    rows = asyncio.run(_make(file, table, settings))
    answer = {"file": str(file), "table": table, "rows": rows, "bytes": file.stat().st_size}
    show(answer, lambda _: [f"{printable(str(file))}: {rows} rows of {table}"], as_json=as_json)
    return 0


def restore(file: Path, table: str, settings_file: Path | None, *, as_json: bool) -> int:
    """Fill the table, and say with how many rows. Raises Failure."""
    rows = list(_read(file))  # whole, before anything is written
    asyncio.run(_restore(rows, table, asyncio.run(upload_settings("", "", settings_file))))
    text = f"{table}: {len(rows)} rows; set SLIPWAY_LEDGER_TABLE={table}, and start the app"
    show({"file": str(file), "table": table, "rows": len(rows)}, lambda _: [text], as_json=as_json)
    return 0


async def _make(file: Path, name: str, settings: Settings) -> int:
    async with _table(name, settings) as table:
        before = await _versions(table)
        for _ in range(_READINGS):
            versions: dict[tuple[str, str], str] = {}
            with _writing(file, name) as out:
                async for row in _rows(table):
                    _check_whole(row, name)
                    versions[row["PartitionKey"], row["RowKey"]] = row.pop(_STAMP)
                    out.write(json.dumps(row) + "\n")
                out.write(json.dumps({"rows": len(versions)}) + "\n")
            if not versions:
                raise Failure(f"the table {name} is not there, or empty; name it by --table", UNKNOWN)
            if versions == before:
                _part(file).replace(file)
                return len(versions)
            before = versions
        _part(file).unlink(missing_ok=True)
        raise Failure(f"the table {name} changes while it is read; stop the app for a minute, and try again")


async def _restore(rows: list[Row], name: str, settings: Settings) -> None:
    async with _table(name, settings) as table:
        is_new = await table.make()
        if not is_new and await _versions(table):
            raise Failure(f"the table {name} has rows, all or some of a restore; name a new one", REJECTED)
        # No app starts on half a table: the row of its layout comes last.
        await table.transact([Operation("upsert", {**LAYOUT, "Version": RESTORING})])
        last = [row for row in rows if _is_layout(row)]
        for transaction in _transactions([row for row in rows if not _is_layout(row)] + last):
            await table.transact(transaction)


def _is_layout(row: Row) -> bool:
    return all(row.get(name) == text for name, text in LAYOUT.items())


def _check_whole(row: Row, table: str) -> None:
    if _is_layout(row) and row.get("Version") == RESTORING:
        raise Failure(f"a restore into the table {table} is going on, or did not end; name another one")


@asynccontextmanager
async def _table(name: str, settings: Settings) -> AsyncIterator[RestTable]:
    if not is_table(name):
        raise Failure(f"{name[:80]!r} is not the name of a table: it has {TABLE_RULE}")
    async with storage_account(settings) as account:
        yield RestTable(account, name)


async def _rows(table: RestTable) -> AsyncIterator[Row]:
    async for page in table.pages({}):
        for row in page:
            yield row


async def _versions(table: RestTable) -> dict[tuple[str, str], str]:
    """The version of each row: storage writes its time at each change."""
    return {(row["PartitionKey"], row["RowKey"]): row[_STAMP] async for row in _rows(table)}


def _part(file: Path) -> Path:
    return file.with_name(f".{file.name}.part")


@contextmanager
def _writing(file: Path, name: str) -> Iterator[IO[str]]:
    """The unfinished file, for its owner alone, with its first line."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
    try:
        with (
            os.fdopen(os.open(_part(file), flags, 0o600), "wb") as raw,
            gzip.open(raw, "wt", encoding="utf-8") as out,
        ):
            out.write(json.dumps({"format": _FORMAT, "slipway": __version__, "table": name}) + "\n")
            yield out
    except OSError as error:
        raise Failure(f"{printable(str(file))} cannot be written: {error.strerror}") from error


def _read(file: Path) -> Iterator[Row]:
    """The rows of a backup. Raises Failure for a file that is not one, or not whole."""
    number, rows = 0, None
    try:
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            if json.loads(next(lines, "{}")).get("format") != _FORMAT:
                raise ValueError
            for line in lines:
                document = json.loads(line)
                if "RowKey" not in document:
                    rows = document["rows"]
                    continue
                number += 1
                yield document
    except FileNotFoundError as error:
        raise Failure(f"{printable(str(file))} is not there", UNKNOWN) from error
    except (OSError, EOFError, ValueError, KeyError, AttributeError, TypeError) as error:
        raise Failure(f"{printable(str(file))} is not a whole backup; take another one") from error
    if rows != number:
        raise Failure(f"{printable(str(file))} is not a whole backup; take another one")


def _transactions(rows: list[Row]) -> Iterator[list[Operation]]:
    """The rows in transactions, each of one partition. A repetition writes the same once more."""
    some: list[Operation] = []
    size = 0
    for row in rows:
        operation = Operation("upsert", row)
        is_full = len(some) == _ROWS or size + len(operation.body) > _BYTES
        if some and (is_full or some[0].row["PartitionKey"] != row["PartitionKey"]):
            yield some
            some, size = [], 0
        some.append(operation)
        size += len(operation.body)
    if some:
        yield some
