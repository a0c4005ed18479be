"""The OpenAPI document is the API: every route with its parameters, and no other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from functions.openapi.document import PAGE, text
from functions.openapi.operations import OPERATIONS
from tests.unit.functions.calls import TRIGGER_OF
from tests.unit.openapi import DOCUMENT
from tests.unit.routes import ROUTES

_TABLE = "functions/openapi/operations.py"
_WRITE = "python -m functions.openapi.document"


def test_every_route_is_an_operation_of_the_document_and_no_other() -> None:
    routes = {
        name: (trigger.route, [m.value for m in trigger.methods or ()])
        for name, trigger in TRIGGER_OF.items()
    }
    table = {
        name: (operation.route, [operation.method, *(["HEAD"] if operation.head else [])])
        for name, operation in OPERATIONS.items()
    }

    assert table == routes, f"correct the entry of the route in {_TABLE}, then: {_WRITE}"


def test_every_query_parameter_of_a_route_is_one_of_the_document_and_no_other() -> None:
    times = {name: vars(handler)["parameters"] for name, handler in ROUTES.items()}
    table = {name: tuple(one.name for one in operation.query) for name, operation in OPERATIONS.items()}

    assert table == times, f"correct `query` of the operation in {_TABLE}, then: {_WRITE}"


def test_only_what_needs_no_caller_is_public() -> None:
    public = {name for name, handler in ROUTES.items() if vars(handler)["public"]}

    assert (
        {name for name, operation in OPERATIONS.items() if operation.public}
        == public
        == {"health", "get_page"}
    )


def test_the_committed_document_is_the_one_that_is_answered() -> None:
    assert PAGE.read_text(encoding="utf-8") == text(), f"run: {_WRITE}"


def test_it_is_a_valid_openapi_document() -> None:
    from openapi_spec_validator import validate

    validate(DOCUMENT)
    assert DOCUMENT["openapi"].startswith("3.1.")


def references(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        yield from (value for key, value in node.items() if key == "$ref" and isinstance(value, str))
        for value in node.values():
            yield from references(value)
    elif isinstance(node, list):
        for value in node:
            yield from references(value)


def test_no_part_of_it_is_missing_or_stands_there_for_nothing() -> None:
    used = set(references(DOCUMENT))
    remote = {
        f"#/components/{kind}/{name}"
        for kind in ("schemas", "responses")
        for name in DOCUMENT["components"][kind]
    }

    assert used == remote
