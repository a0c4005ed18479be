"""What the service says of a request, by the facts of its description that the emulator checks, too."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from local.azurebatch.service.check import check_query, read_body
from local.azurebatch.service.facts import facts
from local.azurebatch.state.errors import BatchError


def operation_at(method: str, path: str) -> tuple[str, str]:
    """The method and the path of the operation, with names in place of ids."""
    for operation, pattern in _patterns().items():
        if operation[0] == method and pattern.fullmatch(path):
            return operation
    raise AssertionError(f"the service has no {method} {path}")


def refusal(method: str, path: str, query: Mapping[str, str], body: Any) -> BatchError | None:
    """The service's refusal of a request; None if it takes it."""
    operation = facts().operations[operation_at(method, path)]
    try:
        check_query(operation, query["api-version"], query)
        if operation.body:
            read_body(operation.body, query["api-version"], body or {})
        assert operation.body or not body, f"{method} {path} takes no body"
    except BatchError as error:
        return error
    return None


@cache
def _patterns() -> Mapping[tuple[str, str], re.Pattern[str]]:
    return {
        one: re.compile(re.sub(r"\{\w+\}", "[^/]+", one[1].replace("{file}", ".+")))
        for one in facts().operations
    }
