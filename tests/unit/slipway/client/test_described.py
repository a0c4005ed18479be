"""What the client for Python makes of answers is what the OpenAPI document says of them."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from shared.operate.files.series import Series
from slipway.client.files.remote import Remote
from slipway.client.files.walk import walk
from slipway.client.jobs.curves import Curve, Curves, curves_as_json
from slipway.client.service import Service
from tests.unit.openapi import DOCUMENT

SCHEMAS: dict[str, Any] = DOCUMENT["components"]["schemas"]


def members(name: str) -> dict[str, Any]:
    return dict(SCHEMAS[name]["properties"])


async def test_files_of_the_client_are_the_entries_of_the_document() -> None:
    # A new member of an entry is one that the client has to know, or leaves out with a reason here.
    assert set(members("OutputEntry")) == {
        "name",
        "bytes",
        "modified",
        "link",
        "leftOut",
        "kind",
        "executable",
    }
    entry = {"name": "w.bin", "bytes": 3, "modified": "1970-01-01T00:00:07+00:00"}
    folder = {"name": "below", "bytes": None, "modified": None}
    link = {"name": "out", "bytes": None, "modified": None, "link": True}
    many = {"name": "rest", "bytes": None, "modified": None, "leftOut": True}
    pipe = {**many, "name": "pipe", "kind": "pipe"}
    answers = {".": [entry, folder, link, many, pipe], "below": [entry]}

    class Described(Service):
        async def _json(self, method: str, path: str, **options: Any) -> dict[str, Any]:
            assert path.endswith("/files")
            assert set(members("OutputEntries")) == {"files", "next"}
            return {"files": answers[options["params"]["path"]]}

    tree = await walk(Described(None, ""), "j_1", ["OUT"])  # type: ignore[arg-type]

    assert tree.files == (Remote("OUT", "below/w.bin", 3, 7.0), Remote("OUT", "w.bin", 3, 7.0))
    assert [name for name, _ in tree.skipped] == ["OUT/out", "OUT/pipe"]
    assert [name for name, _ in tree.unread] == ["OUT/rest"]


def test_curves_of_the_client_are_the_series_of_the_document() -> None:
    own = {one.name for kind in (Series, Curve) for one in fields(kind)} - {"series"}
    assert own == set(members("MetricSeries"))
    series = {
        "name": "loss",
        "file": "stdout.txt",
        "axis": "epoch",
        "count": 2,
        "points": [[0.0, 1.0], [1.0, 0.5]],
    }
    answer = {"series": [series, {**series, "rank": 1}], "next": "n", "more": False, "restarted": False}
    required = set(SCHEMAS["Metrics"]["required"]) if "Metrics" in SCHEMAS else set()
    assert required <= set(answer)
    assert {"series", "next", "more", "restarted", "note"} <= set(members("Metrics"))

    curves = Curves()
    curves.add(answer)

    assert curves_as_json(curves.all()) == answer["series"]
