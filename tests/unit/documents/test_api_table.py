"""The API table of the documentation is the API: every route, and no other."""

from __future__ import annotations

import re

from tests.unit.documents.corpus import ROOT
from tests.unit.routes import TRIGGERS

PAGE = ROOT / "docs" / "reference" / "api.md"
_CALL = re.compile(r"`(GET|HEAD|POST|PUT|PATCH|DELETE) /api/([^`?\s]+)(?:\?([^`]+))?`")


def _table() -> list[tuple[str, str, str]]:
    """Method, route and query of each call in the first column of a table."""
    rows = re.findall(
        r"^\| (`(?:GET|HEAD|POST|PUT|PATCH|DELETE) [^|]*) \|", PAGE.read_text("utf-8"), re.MULTILINE
    )
    return [call for row in rows for call in _CALL.findall(row)]


def test_the_api_table_names_every_route_and_no_other() -> None:
    routes = {
        (method.value, str(trigger.route).replace("{*", "{"))
        for trigger in TRIGGERS
        for method in trigger.methods or ()
    }

    assert len(routes) > 15
    table = {(method, route) for method, route, _ in _table()}
    assert table == routes, f"add or correct the row of the route in {PAGE.relative_to(ROOT)}"


def test_every_query_parameter_of_the_api_table_is_read_by_a_function() -> None:
    source = "".join(file.read_text("utf-8") for file in (ROOT / "functions").glob("*.py"))
    named = {pair.partition("=")[0] for *_, query in _table() for pair in query.split("&") if pair}

    assert len(named) > 5
    assert {name for name in named if f'"{name}"' not in source} == set()
