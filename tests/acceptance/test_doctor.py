"""`slipway doctor` beside a whole stack: what works, and a key that does not."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

from tests.acceptance.door import Door

ROOT = Path(__file__).resolve().parents[2]


async def doctor(door: Door, folder: Path, key: str) -> tuple[int | None, list[dict[str, Any]]]:
    settings = folder / "settings.json"
    settings.write_text(json.dumps({"Values": dict(door.stack.settings)}))
    settings.chmod(0o600)
    names = {name: text for name, text in os.environ.items() if not name.startswith("SLIPWAY_")}
    command = await asyncio.create_subprocess_exec(
        *(*door.slipway, "doctor", "--json", f"--settings={settings}"),
        cwd=ROOT,
        env={**names, "XDG_CONFIG_HOME": str(folder), "SLIPWAY_URL": door.stack.host_url, "SLIPWAY_KEY": key},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await command.communicate()
    assert err == b""
    assert not key or key not in out.decode()
    assert door.stack.secret not in out.decode()
    return command.returncode, json.loads(out)["findings"]


def outcomes(findings: list[dict[str, Any]], *subjects: str) -> set[tuple[str, str]]:
    return {(one["subject"], one["outcome"]) for one in findings if one["subject"] in subjects}


async def test_everything_that_a_stack_needs_is_there(door: Door, tmp_path: Path) -> None:
    code, findings = await doctor(door, tmp_path, door.key)

    assert [one for one in findings if one["outcome"] == "fail"] == []
    assert code == 0
    well = (
        "address",
        "app",
        "clock",
        "key",
        "version",
        "cluster",
        "settings",
        "storage",
        "azurite",
        "profiles",
    )
    assert outcomes(findings, *well) == {(subject, "ok") for subject in well}


async def test_a_wrong_key_is_the_one_thing_that_fails(door: Door, tmp_path: Path) -> None:
    code, findings = await doctor(door, tmp_path, "wrong-key-of-someone")

    assert code == 1
    assert [one["subject"] for one in findings if one["outcome"] == "fail"] == ["key"]
