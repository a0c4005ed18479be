"""`slipway doctor --live` beside a whole stack, whose storage sends events, and an Azure at the wire."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from slipway.commands.doctor.findings import Finding, Options
from slipway.commands.doctor.live import live
from tests.acceptance.door import Door
from tests.unit.slipway.commands.doctor.live import deployed
from tests.unit.slipway.commands.doctor.live.azure import azure

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def proved(
    door: Door, folder: Path, patch: pytest.MonkeyPatch, answers: dict[str, Any], key: str
) -> dict[str, Finding]:
    settings = folder / "settings.json"
    settings.write_text(json.dumps({"Values": dict(door.stack.settings)}))
    settings.chmod(0o600)
    deployed.environment(folder)
    patch.chdir(folder)
    patch.delenv("AZURE_ENV_NAME", raising=False)
    async with azure(answers, patch) as fake:
        findings = await live.check(Options(door.stack.host_url, key, settings, arm=fake.url))
    return {one.subject: one for one in findings}


async def test_a_dropped_job_arrives_by_its_event_and_is_cleared_away(
    door: Door, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    results = await proved(door, tmp_path, monkeypatch, deployed.answers(), door.key)

    assert [one for one in results.values() if one.outcome == "fail"] == []
    assert {name for name, one in results.items() if one.outcome == "ok"} == {
        *("deployment", "secrets", "package", "keys", "identity"),
        *("refusal", "pool", "events", "drop", "telemetry", "alerts"),
    }
    folder = results["drop"].text.partition(" ")[0]
    (job,) = await door.jobs(name=folder)
    assert job["door"] == "drop"
    assert job["state"] in ("cancelled", "succeeded") or job["cancelRequested"]
    drops = door.blobs.get_container_client("scripts")
    assert [blob.name async for blob in drops.list_blobs(name_starts_with=folder)] == []
    assert list(results) == [*live.POINTS, *live.BY_HAND]


async def test_a_wrong_key_fails_what_needs_one_and_no_more(
    door: Door, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    results = await proved(door, tmp_path, monkeypatch, deployed.answers(), "wrong-key-of-someone")

    assert {name for name, one in results.items() if one.outcome == "fail"} == {"drop"}
    assert "wrong-key-of-someone" not in f"{results}"
    drops = door.blobs.get_container_client("scripts")
    assert [blob.name async for blob in drops.list_blobs(name_starts_with="slipway-doctor-")] == []
