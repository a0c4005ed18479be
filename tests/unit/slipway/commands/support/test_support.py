"""`slipway support`: an archive with what helps, without a secret, for a job of any name."""

from __future__ import annotations

import asyncio
import json
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from shared.core.job import JobState, Reason
from slipway.main import main
from tests.canary import CANARY, HOOK, documents
from tests.unit.functions.calls import use
from tests.unit.slipway.lossy import losing
from tests.unit.world import World, job_json

PARTS = [
    *("doctor.json", "events.json", "health.json", "last-lines.json", "receipt.json", "record.json"),
    "versions.json",
]
DOCUMENTS = dict(documents())


async def supported(
    world: World, words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> str:
    """What the command prints, given its words behind `support`."""
    use(world, monkeypatch)
    async with losing("") as (url, _):
        monkeypatch.setattr(sys, "argv", ["slipway", "support", *words, "--url", url])
        with pytest.raises(SystemExit) as end:
            await asyncio.to_thread(main)
    captured = capsys.readouterr()
    assert end.value.code == 0, captured.err
    return captured.out


def parts_of(file: Path) -> dict[str, Any]:
    with zipfile.ZipFile(file) as archive:
        assert archive.testzip() is None
        return {name: json.loads(archive.read(name)) for name in archive.namelist()}


async def failed(world: World, spec: dict[str, Any], **members: Any) -> str:
    """The id of a job that has failed, and wrote why."""
    notify = [{"url": f"{HOOK}/x?code={CANARY}", "events": ["failed"]}]
    job = (await world.message({"spec": spec, "notify": notify, **members}, world.ports.token())).job
    for engine in world.engine.started:  # none for a document that is rejected
        world.engine.set_state(engine, JobState.FAILED, reason=Reason.USER, exit_code=1)
    world.engine.output = {"stderr.txt": f"token={CANARY}\nValueError: no\n".encode()}
    await world.make_pass()
    await world.wake()
    return job.id


async def test_the_archive_has_what_helps(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    job_id = await failed(world, job_json())

    out = await supported(world, [job_id], monkeypatch, capsys)

    file = tmp_path / f"support-{job_id}.zip"
    parts = parts_of(file)
    assert sorted(parts) == PARTS
    assert out.startswith(f"{file.name}: ")
    assert file.stat().st_mode & 0o777 == 0o600
    assert (parts["record.json"]["state"], parts["record.json"]["exitCode"]) == ("failed", 1)
    assert parts["events.json"][0]["targets"][0]["state"] == "delivered"
    assert "ValueError: no" in json.dumps(parts["last-lines.json"])
    assert parts["versions.json"]["slipway"]
    assert "error" not in parts["health.json"]
    assert parts["doctor.json"]


@pytest.mark.parametrize("place", DOCUMENTS)
async def test_no_secret_is_in_it(
    world: World,
    place: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    job_id = await failed(world, DOCUMENTS[place], name=place)

    out = await supported(world, [job_id, "--to", str(tmp_path / "x.zip")], monkeypatch, capsys)

    assert CANARY not in f"{out}{parts_of(tmp_path / 'x.zip')}"


@pytest.mark.parametrize("label", ["fine", "not\x1ba label"])  # the other one is rejected
async def test_texts_of_a_job_are_texts_and_name_no_file(
    world: World,
    label: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    hostile = "../../record.json \u202e\x1b]0;title\x07" + "x" * 4000
    variables = [{"name": "PLAIN", "value": "pasted-by-a-person"}]
    spec = job_json(environmentVariables=variables, customToolkitSettings={"commandLine": hostile})
    job_id = await failed(world, spec, labels={"a": label})
    world.engine.output = {f"stderr-{hostile[:40]}.txt": hostile.encode()}

    out = await supported(world, [job_id, "--to", str(tmp_path / "x.zip"), "--json"], monkeypatch, capsys)

    parts = parts_of(tmp_path / "x.zip")
    assert sorted(parts) == json.loads(out)["parts"] == PARTS
    assert "\x1b" not in out
    assert not [name for name, part in parts.items() if "pasted-by-a-person" in repr(part)]


async def test_what_cannot_be_read_says_why_and_stops_nothing(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    job = (await world.message({"spec": job_json()}, "m1")).job  # it has written nothing yet

    await supported(world, [job.id, "--to", str(tmp_path / "x.zip")], monkeypatch, capsys)

    parts = parts_of(tmp_path / "x.zip")
    assert set(parts["receipt.json"]) == {"error"}
    assert parts["record.json"]["id"] == job.id
