"""What the app is asked about a folder, before it is uploaded."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from shared.core.ports import Blob
from shared.intake.drops.plan import JobFile, Plan
from shared.intake.message import read_request
from shared.jobspec import Limits
from shared.settings import Settings
from slipway.client.drops.folder_drops import DropsToBe
from slipway.client.drops.outlook import Outlook, outlook
from slipway.commands.drop import foresee as foreseeing
from slipway.commands.drop.foresee import _document, foresee
from slipway.failure import Failure
from tests.doubles.memory import MemoryDrops
from tests.unit.world import job_json

ENVELOPE = {"cluster": "dev", "name": "a"}
EVENT = {"specversion": "1.0", "type": "t", "source": "s", "id": "1", "data": {"spec": job_json()}}


def document_of(job: dict[str, Any], envelope: bytes | None) -> bytes:
    raw, now = json.dumps(job).encode(), datetime.now(UTC)
    file = Blob("d/job.json", "1", now, len(raw))
    beside = Blob("d/slipway.json", "2", now, 1) if envelope is not None else None
    plan = Plan("d/", JobFile(file, raw, read_request(raw, Limits(), file.name)), (), beside)
    return _document(plan, {"d/job.json": raw, "d/slipway.json": envelope or b""})


@pytest.mark.parametrize("job", [job_json(), {"spec": job_json(), "cluster": "other"}])
def test_a_job_is_asked_about_in_the_envelope_beside_it(job: dict[str, Any]) -> None:
    whole = json.loads(document_of(job, json.dumps(ENVELOPE).encode()))

    assert whole == {"spec": job_json(), **ENVELOPE}


def test_without_an_envelope_or_as_an_event_it_is_asked_about_as_it_is() -> None:
    assert json.loads(document_of(job_json(), None)) == job_json()
    assert json.loads(document_of(EVENT, json.dumps(ENVELOPE).encode())) == EVENT
    assert json.loads(document_of(job_json(), b"{")) == job_json()


SETTINGS = Settings({"SLIPWAY_STORAGE": "UseDevelopmentStorage=true"})


@pytest.fixture
def rest(monkeypatch: pytest.MonkeyPatch) -> MemoryDrops:
    """What is in the drop container already."""
    rest = MemoryDrops(_now)

    async def outlook_of(_: Settings, names: Sequence[str], contents: Mapping[str, bytes]) -> Outlook:
        return await outlook(SETTINGS, DropsToBe(contents, "scripts", rest), names)

    monkeypatch.setattr(foreseeing, "outlook_of", outlook_of)
    return rest


async def test_a_script_of_an_earlier_upload_that_a_template_would_run_too_is_named(
    tmp_path: Path, rest: MemoryDrops
) -> None:
    template = {"properties": {"pyTorchSettings": {"pythonScriptFilePath": "<SLIPWAY_SCRIPT>"}}}
    rest.upload("team/job.json", json.dumps(template).encode())
    rest.upload("team/digits/before.py", b"")
    (tmp_path / "train.py").touch()

    with pytest.raises(Failure, match=r"nothing was uploaded[^$]*SW105[^$]*before\.py, train\.py") as refused:
        await foresee(SETTINGS, tmp_path, "team/digits", None)
    last = str(refused.value).splitlines()[-1]
    assert last == "left in the drop container by an earlier upload or a job: team/digits/before.py"


async def test_a_file_of_the_container_in_the_archive_tier_is_named_and_stops_nothing(
    tmp_path: Path, rest: MemoryDrops, capsys: pytest.CaptureFixture[str]
) -> None:
    rest.upload("digits/cold.csv", b"1,2", archived=True)
    (tmp_path / "job.json").write_text(json.dumps(job_json()))

    await foresee(SETTINGS, tmp_path, "digits", None)

    shown = "".join(capsys.readouterr())
    assert "SW114" in shown
    assert '"digits/cold.csv" is in the archive tier' in shown


def _now() -> datetime:
    return datetime.now(UTC)
