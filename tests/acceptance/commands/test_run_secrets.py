"""`slipway run` with secrets: the script gets them, and nothing that is stored or printed shows them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.acceptance.commands.person import started
from tests.acceptance.door import Door, unique

pytestmark = pytest.mark.asyncio(loop_scope="session")

HIDDEN, PASSWORD = "hf_" + "cAnArY7c41x" * 3, "cAnArY-8d52-password"
SCRIPT = f"""import os
print([len(os.environ.get(name, "")) for name in ("HF_TOKEN", "DB_SECRET")], os.environ["LEVEL"])
assert len(os.environ["HF_TOKEN"]) == {len(HIDDEN)}
"""


async def test_secrets_reach_the_script_and_nothing_else(
    door: Door, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = unique("sealed")
    (tmp_path / f"{name}.py").write_text(SCRIPT)
    monkeypatch.setenv("DB_SECRET", PASSWORD)
    monkeypatch.setenv("LEVEL", "3")
    options = ("--env", f"HF_TOKEN={HIDDEN}", "--env", "LEVEL", "--secret", "DB_SECRET")

    command = await started(door, tmp_path, "run", *options, f"{name}.py")
    out, err = (one.decode() for one in await command.communicate())

    assert (command.returncode, out) == (0, f"[{len(HIDDEN)}, {len(PASSWORD)}] 3\n"), err
    assert "***" in err
    scripts = door.blobs.get_container_client("scripts")
    assert [one async for one in scripts.list_blob_names(name_starts_with=f"{name}/")] == []
    (job,) = await door.jobs(name=name)
    receipt = await door.blobs.get_blob_client("runs", job["receipt"].partition("/")[2]).download_blob()
    shown = [err, json.dumps(job), (await receipt.readall()).decode()]
    assert [one for one in shown if HIDDEN in one or PASSWORD in one] == []


async def test_a_secret_that_no_one_can_enter_is_refused_before_the_upload(
    door: Door, tmp_path: Path
) -> None:
    name = unique("questions")
    (tmp_path / f"{name}.py").touch()

    command = await started(door, tmp_path, "run", "--secret", "NO_SUCH_SECRET", f"{name}.py")
    _, err = await command.communicate()

    assert command.returncode == 1
    assert b"there is no terminal to ask at; set it: read -rs NO_SUCH_SECRET" in err
    scripts = door.blobs.get_container_client("scripts")
    assert [one async for one in scripts.list_blob_names(name_starts_with=f"{name}/")] == []
