"""A table service in memory that seeks to a range, as the service does, where Azurite looks at every row.

It answers range queries alone, from rows that are given to it, each after a round trip.
"""

from __future__ import annotations

import asyncio
import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

from aiohttp import web
from pydantic_core import to_json

from shared.adapters.storage.table import Row
from tests.doubles.server import serving

#: Rows in one answer of the service, at most.
_PAGE = 1_000
_KEY = "c2Vla2luZw=="
_FILTER = re.compile(
    r"PartitionKey eq '(?P<partition>\w+)' and RowKey ge '(?P<first>[^']*)' and RowKey lt '(?P<last>[^']*)'"
)


@asynccontextmanager
async def seeking(rows: Iterable[Row], rtt: float) -> AsyncIterator[str]:
    """The connection string of an account whose every table has these rows; `rtt` in milliseconds."""
    async with serving(_application(rows, rtt / 1e3)) as url:
        yield f"AccountName=seeking;AccountKey={_KEY};TableEndpoint={url}/seeking"


def _application(rows: Iterable[Row], delay: float) -> web.Application:
    partitions: dict[str, dict[str, bytes]] = defaultdict(dict)
    for row in rows:
        partitions[str(row["PartitionKey"])][str(row["RowKey"])] = to_json(
            {**row, "Timestamp": "2026-01-01T00:00:00Z"}
        )
    keys = {partition: sorted(entities) for partition, entities in partitions.items()}

    async def answer(request: web.Request) -> web.Response:
        await asyncio.sleep(delay)
        entities = _FILTER.fullmatch(request.query["$filter"])
        if entities is None:
            raise web.HTTPBadRequest(text="no range of one partition")
        partition = entities["partition"]
        inside = keys.get(partition, [])
        first = bisect_left(inside, request.query.get("NextRowKey", entities["first"]))
        last = bisect_left(inside, entities["last"])
        until = min(last, first + min(_PAGE, int(request.query.get("$top", _PAGE))))
        more = {"x-ms-continuation-nextpartitionkey": partition}
        more |= {"x-ms-continuation-nextrowkey": inside[until]} if until < last else {}
        body = b'{"value":[%b]}' % b",".join(partitions[partition][key] for key in inside[first:until])
        headers = {
            "Content-Type": "application/json",
            "x-ms-request-id": "r",
            **(more if until < last else {}),
        }
        return web.Response(body=body, headers=headers)

    application = web.Application()
    application.router.add_get("/seeking/{table}", answer)
    return application
