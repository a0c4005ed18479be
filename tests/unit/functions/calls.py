"""Calls of the HTTP API's functions by address, as a host makes them, over memory."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from functools import cache
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import azure.functions as func
import pytest
from azure.functions.decorators.http import HttpTrigger

import functions.activity
from function_app import app
from local.host.triggers.target import target_of
from tests.unit.routes import ROUTES, TRIGGERS
from tests.unit.world import World

#: Name of a function → its trigger. What `tests.unit.routes` read is in the same order.
TRIGGER_OF: Mapping[str, HttpTrigger] = dict(zip(map(str, ROUTES), TRIGGERS, strict=True))
_LEVEL = re.compile(r"{(\*?)(\w+)}")


def use(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every function work with this world."""
    assert app is not None
    assert functions.activity  # loaded by the first request, and asks for the ports as well
    for name in _names_of_functions(len(sys.modules)):
        if name != "functions.process" and hasattr(module := sys.modules[name], "ports"):
            monkeypatch.setattr(module, "ports", lambda: world.ports)


@cache
def _names_of_functions(_: int) -> list[str]:
    """The modules of the app's functions among so many that are loaded."""
    return [name for name in sys.modules if name.startswith("functions.")]


def function_of(method: str, path: str) -> tuple[str, dict[str, str]]:
    """The function that answers an address, and the levels of its route. A fixed level wins."""
    results = []
    for name, trigger in TRIGGER_OF.items():
        pattern = _LEVEL.sub(lambda m: f"(?P<{m[2]}>{'.+' if m[1] else '[^/]+'})", str(trigger.route))
        match = re.fullmatch(pattern.replace("openapi.json", r"openapi\.json"), path)
        if match and method in {one.value for one in trigger.methods or ()}:
            results.append((len(match.groupdict()), name, match.groupdict()))
    _, name, levels = min(results)
    return name, {level: target_of(f"/{value}").path[1:] for level, value in levels.items()}


async def call(
    method: str, address: str, headers: Mapping[str, str] | None = None, body: bytes = b""
) -> func.HttpResponse:
    """The answer to a request. `address` is from /api on."""
    parts = urlsplit(address)
    name, levels = function_of(method, parts.path.removeprefix("/api/"))
    request: Any = func.HttpRequest(
        method=method,
        url=address,
        headers=dict(headers or {}),
        params=dict(parse_qsl(parts.query, keep_blank_values=True)),
        route_params=levels,
        body=body,
    )
    answer: func.HttpResponse = await ROUTES[name](request)
    return answer
