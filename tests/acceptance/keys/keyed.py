"""The stack of a deployment whose callers have keys with names: two teams, one of which lends its quota."""

from __future__ import annotations

import json
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from local.stack import Options, stack
from shared.core.caller import digest_of
from slipway.stack.shell_settings import closed
from tests.acceptance.conftest import provisioned
from tests.acceptance.door import Door, shell, unique

#: dan is an operator; mia manages bob's team, and liv the other one.
KEYS = {name: f"{name}-{secrets.token_urlsafe(24)}" for name in ("dan", "mia", "bob", "liv")}
TEAMS: dict[str, Any] = {
    "teams": {
        "speech": {
            "members": [{"key": "mia", "manager": True}, {"key": "bob"}],
            "quota": {"jobs": 1, "borrows": True},
        },
        "vision": {"members": [{"key": "liv", "manager": True}], "quota": {"jobs": 1, "lends": True}},
    }
}


@asynccontextmanager
async def keyed_stack(data: Path) -> AsyncIterator[Door]:
    """As `slipway up` has it: its host asks for no key, but for its own API."""
    entries: dict[str, Any] = {name: {"sha256": digest_of(key)} for name, key in KEYS.items()}
    entries["dan"]["roles"] = ["Jobs.Admin"]
    named = {"SLIPWAY_NAMED_KEYS": json.dumps(entries)}
    options = Options(
        data=data,
        in_memory=True,
        overrides={**closed(named), "SLIPWAY_SWEEPER_SCHEDULE": "*/1 * * * * *"},
        cluster_arguments=("--provisioning-seconds=0", "--leaving-seconds=0", "--containers=host"),
    )
    async with stack(options, provisioned) as running, Door(running, KEYS["dan"]) as opened:
        status, body, _ = await opened.call("PUT", "teams", TEAMS)
        assert (status, len(body["changes"])) == (200, 2)
        yield opened


async def ask(door: Door, who: str, method: str, path: str, body: Any = None) -> tuple[int, dict[str, Any]]:
    status, answer, _ = await door.call(method, path, body, x_functions_key=KEYS[who])
    return status, answer


async def submit(door: Door, who: str) -> str:
    document = {"name": unique(who), "spec": shell("sleep 600")}
    status, job = await ask(door, who, "POST", "jobs", document)
    assert status == 202, job
    assert job["owner"] == who
    return str(job["id"])
