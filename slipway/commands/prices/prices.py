"""`slipway prices`: Azure's current price of a node for an hour, as rows of SLIPWAY_PRICES."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode, urlsplit

import aiohttp

from shared.connections.limits import ANSWER_LIMITS
from shared.core.cost.prices import Price, prices_from
from slipway.client.calls.unreachable import why
from slipway.client.deployment import proxy_for
from slipway.commands.validate.rewrite import rewrite
from slipway.failure import USAGE, Failure
from slipway.terminal.screen import put, put_json, table

#: Microsoft's public list of retail prices, which needs no login.
API = "https://prices.azure.com/api/retail/prices"
_SETTING, _SOURCE = "SLIPWAY_PRICES", "Azure Retail Prices API"
#: The end of a meter's name → the priority of its nodes; low-priority nodes of Batch are Spot nodes.
_PRIORITIES = {" spot": "lowpriority", " low priority": ""}
_PATIENCE = aiohttp.ClientTimeout(total=60)
#: The most pages of one answer: a size has a handful of meters in a region.
_MOST_PAGES = 20


class NodeType(NamedTuple):
    """A size in a region."""

    size: str
    region: str


def run(
    sizes: Sequence[str],
    region: str,
    currency: str,
    target: Path | None,
    *,
    as_json: bool = False,
    api: str = API,
) -> int:
    """Print the rows, or write them into a file of settings. Raises Failure, before anything is written."""
    document = _read(target) if target else {}
    own = _rows(document, target)
    nodes = [NodeType(size, region) for size in sizes] or [
        *dict.fromkeys(NodeType(row.size, row.region) for row in own if row.size)
    ]
    if not nodes:
        raise Failure("no size is named: slipway prices Standard_NC4as_T4_v3 --region eastus", USAGE)
    if sizes and not region:
        raise Failure("a price is one of a region: add --region, as in --region eastus", USAGE)
    rows = asyncio.run(_ask(nodes, currency.upper(), api))
    if target:
        _write(target, document, merged(own, rows))
    if as_json or not target:
        put_json([_plain(row) for row in rows])
    else:
        put(*table(_lines(own, rows)))
    return 0


def merged(own: Sequence[Price], rows: Sequence[Price]) -> list[Price]:
    """The rows of a deployment, where new rows replace those of the same size, region and priority."""
    rows_by_key = {_key(row): row for row in own}
    return [*(rows_by_key | {_key(row): row for row in rows}).values()]


async def _ask(nodes: Sequence[NodeType], currency: str, api: str) -> list[Price]:
    today = datetime.fromtimestamp(time.time(), UTC).date()
    rows: list[Price] = []
    async with aiohttp.ClientSession(timeout=_PATIENCE, **ANSWER_LIMITS) as session:
        for one in nodes:
            prices: dict[str, float] = {}
            async for item in _items(session, one, currency, api):
                priority = _priority(item, one)
                if priority:
                    prices[priority] = min(float(item["retailPrice"]), prices.get(priority, 10_000.0))
            if not prices:
                raise Failure(
                    f"Azure's list does not name a price of {one.size} in {one.region}: "
                    "sizes are written as Standard_NC4as_T4_v3, regions as eastus"
                )
            new = {"size": one.size, "region": one.region, "currency": currency, "source": _SOURCE}
            rows += (
                Price.model_validate({**new, "priority": name, "perHour": prices[name], "date": today})
                for name in sorted(prices)
            )
    return rows


async def _items(
    session: aiohttp.ClientSession, node: NodeType, currency: str, api: str
) -> AsyncIterator[Mapping[str, Any]]:
    """The meters of a size, page after page; a next page on another host is not requested."""
    conditions = {
        "serviceName": "Virtual Machines",
        "priceType": "Consumption",
        "armRegionName": node.region,
        "armSkuName": node.size,
    }
    words = " and ".join(f"{name} eq {_quoted(text)}" for name, text in conditions.items())
    link = f"{api}?{urlencode({'currencyCode': _quoted(currency), '$filter': words})}"
    for _ in range(_MOST_PAGES):
        page = await _page(session, link)
        for item in page["Items"]:
            if isinstance(item, dict):
                yield item
        link = page.get("NextPageLink") or ""
        if not link:
            return
        if urlsplit(link)[:2] != urlsplit(api)[:2]:
            raise Failure(f"the list of prices continues at {urlsplit(link).hostname}, which is not queried")
    raise Failure("the list of prices does not end")


async def _page(session: aiohttp.ClientSession, link: str) -> Mapping[str, Any]:
    host = urlsplit(link).hostname
    try:
        async with session.get(link, proxy=proxy_for(link)) as answer:
            if answer.status == 429:
                raise Failure(f"{host} received too many requests (429): try again in a minute")
            if answer.status != 200:
                raise Failure(f"{host} answers {answer.status}; try again later")
            page = await answer.json(content_type=None)
    except (aiohttp.ClientError, TimeoutError, ValueError) as error:
        raise Failure(f"{host} does not return prices: {why(error)}") from None
    if not isinstance(page, dict) or not isinstance(page.get("Items"), list):
        raise Failure(f"{host} does not return prices: something else answers there")
    return page


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _priority(item: Mapping[str, Any], node: NodeType) -> str:
    """The priority of a meter's nodes; "" unless it is for Linux, by the hour, and pay-as-you-go."""
    is_hourly = item.get("unitOfMeasure") == "1 Hour" and item.get("type") == "Consumption"
    is_of_it = str(item.get("armSkuName")).lower() == node.size.lower()
    number = item.get("retailPrice")
    if not (is_hourly and is_of_it and isinstance(number, int | float)):
        return ""
    if "windows" in str(item.get("productName")).lower() or item.get("tierMinimumUnits"):
        return ""
    name = str(item.get("skuName")).lower()
    return next((priority for end, priority in _PRIORITIES.items() if name.endswith(end)), "dedicated")


def _read(file: Path) -> dict[str, Any]:
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise Failure(
            f"{file} does not exist; infra/settings.json has the settings of a deployment"
        ) from None
    except (OSError, ValueError) as error:
        raise Failure(f"{file} cannot be read as JSON: {error}") from None
    if not isinstance(document, dict):
        raise Failure(f"{file} is not an object of settings")
    return document


def _settings(document: dict[str, Any]) -> dict[str, Any]:
    """The place of the settings: `Values` of a local.settings.json, else the object itself."""
    values = document.get("Values")
    return values if isinstance(values, dict) else document


def _rows(document: dict[str, Any], file: Path | None) -> tuple[Price, ...]:
    try:
        return prices_from(json.loads(_settings(document).get(_SETTING) or "[]"))
    except (TypeError, ValueError) as error:
        raise Failure(f"{file}: {_SETTING}: {error}") from None


def _write(file: Path, document: dict[str, Any], rows: Sequence[Price]) -> None:
    _settings(document)[_SETTING] = json.dumps([_plain(row) for row in rows])
    try:
        rewrite(file, (json.dumps(document, indent=2, ensure_ascii=False) + "\n").encode())
    except OSError as error:
        raise Failure(f"{file} cannot be written: {error.strerror}") from None


def _plain(row: Price) -> dict[str, Any]:
    return row.model_dump(mode="json", by_alias=True, exclude_defaults=True)


def _key(row: Price) -> tuple[str, ...]:
    return row.cluster, row.size.lower(), row.region.lower(), row.priority


def _lines(own: Sequence[Price], rows: Sequence[Price]) -> list[tuple[str, ...]]:
    before = {_key(row): row for row in own}
    lines: list[tuple[str, ...]] = [("SIZE", "REGION", "NODES", "AN HOUR", "BEFORE")]
    for row in rows:
        old = before.get(_key(row))
        was = f"{old.per_hour:g} {old.currency} on {old.date}" if old else ""
        lines.append((row.size, row.region, row.priority, f"{row.per_hour:g} {row.currency}", was))
    return lines
