"""The identity of a ledger's table: its layout, its number of shards, and the app that it belongs to.

The first process writes two rows; every process compares them with its own settings when it starts, in one
request.
"""

from __future__ import annotations

from typing import Any

from shared.adapters.storage.table import Operation, Range, Refused, Row, Table
from shared.core.errors import Misconfigured, Unavailable

#: The version of the rows and their columns; increased when older ones could not be read any more.
_LAYOUT = 3
#: The version while a backup is restored into the table.
RESTORING = 0
#: The rows `layout` and `owner`.
_BOTH = Range("meta", "layout", "p")
#: The key of the first.
LAYOUT = {"PartitionKey": "meta", "RowKey": "layout"}


async def claim(table: Table, shards: int, owner: str) -> None:
    """Make sure that the table exists, for this number of shards and this owner; "" skips the owner.

    Raises Misconfigured, and Unavailable.
    """
    mine: list[Row] = [{**LAYOUT, "Shards": shards, "Version": _LAYOUT}]
    mine += [{"PartitionKey": "meta", "RowKey": "owner", "Name": owner}] if owner else []
    layout_rows = await _rows(table)
    absent = [row for row in mine if row["RowKey"] not in layout_rows]
    if absent:
        await _make(table, absent, new="layout" not in layout_rows)
        layout_rows = await _rows(table)
    if "layout" not in layout_rows:
        raise Unavailable("the ledger's table cannot be created now")
    _check_layout(layout_rows["layout"], shards)
    if owner and (other := str(layout_rows.get("owner", {}).get("Name", ""))) != owner:
        raise Misconfigured(
            f"the ledger's table belongs to the app {other!r}, and this is {owner!r}: give this app a "
            "storage account of its own, or, if it is to share that one's work or to take its place, set "
            f"SLIPWAY_OWNER to {other}"
        )


async def _rows(table: Table) -> dict[str, Row]:
    return {row["RowKey"]: row for row in await table.rows(_BOTH)}


async def _make(table: Table, rows: list[dict[str, Any]], *, new: bool) -> None:
    if new:
        await table.make()
    try:
        await table.transact([Operation("create", row) for row in rows])
    except Refused:
        return  # another process was quicker, or our own answer was lost: the stored row counts


def _check_layout(layout: Row, shards: int) -> None:
    if layout.get("Version") == RESTORING:
        raise Misconfigured(
            "a restore into the ledger's table is going on, or did not end: wait, or restore into another one"
        )
    if layout.get("Version") != _LAYOUT:
        raise Misconfigured(
            f"the ledger's table has layout {layout.get('Version')}, of another version; this one has layout "
            f"{_LAYOUT}: name a new table by SLIPWAY_LEDGER_TABLE (docs/how-to/operate-a-deployment.md)"
        )
    if layout.get("Shards") != shards:
        raise Misconfigured(
            f"the ledger's table was created with {layout.get('Shards')} shards and SLIPWAY_SHARDS says "
            f"{shards}: set it back, or name a new table, as docs/how-to/operate-a-deployment.md says"
        )
