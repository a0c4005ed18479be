"""What the app is asked about a folder, before it is uploaded."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from shared.core.ports import Blob
from shared.intake.drops.files_of_run import MOST_FILES
from shared.intake.drops.plan import JobFile, Plan
from shared.intake.message import read_request
from shared.jobspec import Limits
from shared.settings import Settings
from slipway.client.drops.folder_drops import DropsToBe
from slipway.client.drops.outlook import outlook
from slipway.client.drops.upload import files_for
from slipway.commands.drop.foresee import Foreseen, _document, refuse
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


async def refusing(folder: Path, target: str, rest: MemoryDrops) -> None:
    """What is refused of a folder beside what is in the drop container already."""
    files = files_for(folder, target)
    contents = {name: path.read_bytes() for name, path in files.items()}
    foreseen = Foreseen(contents, await outlook(SETTINGS, DropsToBe(contents, "scripts", rest), [*contents]))
    await refuse(foreseen, SETTINGS, folder, files, None)


async def test_a_script_of_an_earlier_upload_that_a_template_would_run_too_is_named(tmp_path: Path) -> None:
    rest = MemoryDrops(_now)
    template = {"properties": {"pyTorchSettings": {"pythonScriptFilePath": "<SLIPWAY_SCRIPT>"}}}
    rest.upload("team/job.json", json.dumps(template).encode())
    rest.upload("team/digits/before.py", b"")
    (tmp_path / "train.py").touch()

    with pytest.raises(Failure, match=r"nothing was uploaded[^$]*SW105[^$]*before\.py, train\.py") as refused:
        await refusing(tmp_path, "team/digits", rest)
    last = str(refused.value).splitlines()[-1]
    assert last == "in the drop container already, by an earlier upload or a job: team/digits/before.py"


async def test_a_file_of_the_container_in_the_archive_tier_is_named_and_stops_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rest = MemoryDrops(_now)
    rest.upload("digits/cold.csv", b"1,2", archived=True)
    (tmp_path / "job.json").write_text(json.dumps(job_json()))

    await refusing(tmp_path, "digits", rest)

    shown = "".join(capsys.readouterr())
    assert "SW114" in shown
    assert '"digits/cold.csv" is in the archive tier' in shown


async def test_more_files_than_a_drop_may_have_are_refused_with_the_ways_out(tmp_path: Path) -> None:
    (tmp_path / "job.json").write_text(json.dumps(job_json()))
    for number in range(MOST_FILES + 1):
        (tmp_path / f"part-{number}.csv").touch()

    with pytest.raises(Failure, match=r"nothing was uploaded[^$]*job\.json[^$]*SW117[^$]*slipway run"):
        await refusing(tmp_path, "digits", MemoryDrops(_now))


def _now() -> datetime:
    return datetime.now(UTC)
