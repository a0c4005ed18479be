"""What is made from the declarations of operations is right, and what is committed is up to date."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from functions.openapi.__main__ import GENERATED
from functions.openapi.elements import OPERATIONS
from tests.unit.openapi import DOCUMENT


@pytest.mark.parametrize("file", GENERATED, ids=lambda file: file.name)
def test_what_is_made_of_the_declarations_is_committed(file: Path) -> None:
    assert file.read_text(encoding="utf-8") == GENERATED[file](), "run: python -m functions.openapi"


def test_only_what_needs_no_caller_is_public() -> None:
    public = {name for name, operation in OPERATIONS.items() if operation.public}

    assert public == {"health", "get_page"}


@pytest.mark.long
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
