"""`slipway prices` against a server that answers as Azure's list of retail prices is documented."""

from __future__ import annotations

import json
import stat
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from shared.core.cost.prices import matching, prices_from
from slipway.commands.prices.prices import run
from slipway.failure import Failure

T4 = "Standard_NC4as_T4_v3"


def meter(price: float, sku: str = "NC4as T4 v3", **changes: Any) -> dict[str, Any]:
    """A meter, with all the members that the list is documented to have."""
    return {
        "currencyCode": "USD",
        "tierMinimumUnits": 0.0,
        "retailPrice": price,
        "unitPrice": price,
        "armRegionName": "eastus",
        "location": "US East",
        "effectiveStartDate": "2026-10-01T00:00:00Z",
        "meterId": "000a794b-bdb0-58be-a0cd-0c3a0f222923",
        "meterName": sku,
        "productId": "DZH318Z0BQPS",
        "skuId": "DZH318Z0BQPS/00TG",
        "productName": "Virtual Machines NCasT4v3 Series",
        "skuName": sku,
        "serviceName": "Virtual Machines",
        "serviceId": "DZH313Z7MMC8",
        "serviceFamily": "Compute",
        "unitOfMeasure": "1 Hour",
        "type": "Consumption",
        "isPrimaryMeterRegion": True,
        "armSkuName": T4,
        **changes,
    }


METERS = [
    meter(0.526),
    meter(0.0626, "NC4as T4 v3 Spot"),
    meter(0.105, "NC4as T4 v3 Low Priority"),
    meter(0.71, productName="Virtual Machines NCasT4v3 Series Windows"),
    meter(0.33, type="Reservation"),
    meter(9.0, unitOfMeasure="1 Month"),
    meter(0.01, armSkuName="Standard_NC8as_T4_v3"),
]


class List:
    """Azure's list, two meters a page; or another answer."""

    def __init__(self) -> None:
        self.queries: list[dict[str, list[str]]] = []
        self.answer: tuple[int, bytes] | None = None
        self.meters, self.elsewhere, self.is_endless = METERS, "", False
        of_list = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                status, content = of_list.page(self.path)
                self.send_response(status)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/api/retail/prices"

    def page(self, path: str) -> tuple[int, bytes]:
        query = parse_qs(urlsplit(path).query)
        self.queries.append(query)
        if self.answer:
            return self.answer
        skip = int(query.get("$skip", ["0"])[0])
        items = self.meters[skip : skip + 2]
        more = self.is_endless or skip + 2 < len(self.meters)
        body = {
            "BillingCurrency": "USD",
            "CustomerEntityId": "Default",
            "CustomerEntityType": "Retail",
            "Items": items,
            "NextPageLink": (self.elsewhere or f"{self.url}?$skip={skip + 2}") if more else None,
            "Count": len(items),
        }
        return 200, json.dumps(body).encode()


@pytest.fixture
def prices() -> Iterator[List]:
    items = List()
    thread = threading.Thread(target=items.server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield items
    items.server.shutdown()
    thread.join()
    items.server.server_close()


def test_rows_are_printed_that_the_setting_takes(prices: List, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([T4], "eastus", "usd", None, api=prices.url) == 0

    rows = prices_from(json.loads(capsys.readouterr().out))
    assert [(row.priority, row.per_hour, row.currency) for row in rows] == [
        ("dedicated", 0.526, "USD"),
        ("lowpriority", 0.0626, "USD"),
    ]
    assert matching(rows, T4.lower(), "dedicated", "EastUS")
    assert prices.queries[0]["currencyCode"] == ["'USD'"]
    assert f"armSkuName eq '{T4}'" in prices.queries[0]["$filter"][0]
    assert len(prices.queries) == 4, "page after page"


@pytest.mark.parametrize("is_local", [False, True])
def test_a_file_of_settings_is_updated_and_keeps_everything_else(
    prices: List, tmp_path: Path, capsys: pytest.CaptureFixture[str], is_local: bool
) -> None:
    file = tmp_path / "settings.json"
    old = {"region": "EASTUS", "size": T4, "priority": "dedicated", "currency": "USD", "perHour": 0.5}
    own = {"cluster": "gpu", "currency": "EUR", "perHour": 1.0}
    dated = {"date": "2025-01-01", "source": "ours"}
    settings = {"SLIPWAY_MAX_NODES": "16", "SLIPWAY_PRICES": json.dumps([old | dated, own | dated])}
    file.write_text(json.dumps({"Values": settings} if is_local else settings))

    assert run([], "", "USD", file, api=prices.url) == 0

    document = json.loads(file.read_text())
    after = document["Values"] if is_local else document
    rows = prices_from(json.loads(after.pop("SLIPWAY_PRICES")))
    assert after == {"SLIPWAY_MAX_NODES": "16"}
    assert [(row.cluster, row.priority, row.per_hour) for row in rows] == [
        ("", "dedicated", 0.526),
        ("gpu", "", 1.0),
        ("", "lowpriority", 0.0626),
    ]
    assert "0.5 USD on 2025-01-01" in capsys.readouterr().out
    assert [path.name for path in tmp_path.iterdir()] == ["settings.json"]


@pytest.mark.parametrize(
    ("answer", "match"),
    [
        ((429, b""), "received too many requests"),
        ((503, b""), "answers 503"),
        ((200, b"<html>"), "something else answers there"),
        ((200, b"[]"), "something else answers there"),
        ((200, b'{"Items": []}'), "a price of .* in eastus"),
    ],
)
def test_what_is_no_list_of_prices_changes_nothing(
    prices: List, tmp_path: Path, answer: tuple[int, bytes], match: str
) -> None:
    file = tmp_path / "settings.json"
    file.write_text("{}")
    prices.answer = answer

    with pytest.raises(Failure, match=match):
        run([T4], "eastus", "USD", file, api=prices.url)

    assert file.read_text() == "{}"


def test_a_list_that_goes_on_elsewhere_or_never_ends_is_refused(prices: List) -> None:
    prices.elsewhere = "http://example.com/api/retail/prices"
    with pytest.raises(Failure, match=r"continues at example\.com, which is not queried"):
        run([T4], "eastus", "USD", None, api=prices.url)

    prices.elsewhere, prices.is_endless = "", True
    with pytest.raises(Failure, match="does not end"):
        run([T4], "eastus", "USD", None, api=prices.url)


def test_a_file_of_settings_with_keys_stays_its_owner_s_alone_and_a_link_to_it_stays(
    prices: List, tmp_path: Path
) -> None:
    (tmp_path / "own").mkdir()
    file, named = tmp_path / "own/settings.json", tmp_path / "settings.json"
    file.write_text("{}")
    file.chmod(0o600)
    named.symlink_to(file)

    assert run([T4], "eastus", "USD", named, api=prices.url) == 0

    assert named.readlink() == file
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert "SLIPWAY_PRICES" in json.loads(file.read_text())


@pytest.mark.parametrize(
    ("sizes", "region", "content", "match"),
    [
        ([], "", "{}", "no size is named"),
        ([T4], "", "{}", "add --region"),
        ([T4], "eastus", "[]", "not an object of settings"),
        ([T4], "eastus", "{", "cannot be read as JSON"),
        ([T4], "eastus", '{"SLIPWAY_PRICES": "{}"}', "SLIPWAY_PRICES: it must be a list"),
        ([T4], "eastus", '{"SLIPWAY_PRICES": [1]}', "SLIPWAY_PRICES"),
    ],
)
def test_what_cannot_be_asked_or_written_is_said_before_anything_is_asked(
    prices: List, tmp_path: Path, sizes: list[str], region: str, content: str, match: str
) -> None:
    file = tmp_path / "settings.json"
    file.write_text(content)

    with pytest.raises(Failure, match=match):
        run(sizes, region, "USD", file, api=prices.url)

    assert not prices.queries


def test_an_address_that_does_not_answer_is_named() -> None:
    with pytest.raises(Failure, match=r"127\.0\.0\.1 does not return prices: nothing listens there"):
        run([T4], "eastus", "USD", None, api="http://127.0.0.1:9/api")
