"""`slipway drop` uploads, and names the jobs that begin by it."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from shared.intake.drops.files_of_run import MOST_FILES
from tests.acceptance.commands.person import ROOT, json_of, slipway
from tests.acceptance.door import Door, shell, unique

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_drop_and_enqueue_print_json_and_a_message_names_its_job(door: Door, tmp_path: Path) -> None:
    folder, file = tmp_path / unique("dropped"), tmp_path / "job.json"
    folder.mkdir()
    shutil.copy(ROOT / "examples/hello/job.json", folder)
    shutil.copy(ROOT / "examples/hello/job.json", file)

    code, out, err = await slipway(door, tmp_path, "drop", "--json", str(folder))
    assert code == 0, err
    dropped = json.loads(out)
    queued = await json_of(door, tmp_path, "enqueue", "--json", str(file))

    names = [f"scripts/{folder.name}/job.json"]
    (begun,) = dropped.pop("jobs")
    assert dropped == {"uploaded": names, "receipts": f"runs/{folder.name}/", "waits": []}
    assert begun["id"] == (await door.ended(name=folder.name))["id"]
    assert queued["queue"] == "jobs"
    job = await door.ended(name=queued["name"])
    assert job["door"] == "queue"


def folder_of(tmp_path: Path, command: str) -> Path:
    folder = tmp_path / unique("dropped")
    folder.mkdir()
    (folder / "job.json").write_text(json.dumps(shell(command)))
    return folder


async def test_a_drop_prints_the_id_and_joins_the_job_of_the_same_files(door: Door, tmp_path: Path) -> None:
    # An upload in the second in which its job ends may be a new one, and runs again: that must hold no node.
    folder = folder_of(tmp_path, f'mkdir "$AZ_BATCHAI_MOUNT_ROOT/logs/{unique("once")}" && sleep 600')

    code, out, err = await slipway(door, tmp_path, "drop", str(folder))
    again, joined, remark = await slipway(door, tmp_path, "drop", str(folder))
    (folder / "job.json").write_text(json.dumps(shell("sleep 601")))
    beside, other, why = await slipway(door, tmp_path, "drop", str(folder))

    assert code == 0, err
    (job,) = re.findall(rf"^(j_[a-z2-7]{{24}})  {folder.name}: ", out, re.MULTILINE)
    assert (
        again,
        f"{job}  {folder.name}: " in joined,
        "runs this job file and script already" in remark,
    ) == (0, True, True)
    # The first job has code of its own, which an edit does not change: the second runs beside it.
    assert (beside, job in other) == (0, False), why
    ids = {one["id"] for one in await door.jobs(name=folder.name)}
    assert (len(ids), job in ids) == (2, True)
    for one in ids:
        assert (await door.call("POST", f"jobs/{one}/cancel"))[0] == 202
        assert (await door.ended(id=one))["state"] == "cancelled"


@pytest.mark.thorough
async def test_a_drop_names_the_envelope_that_an_earlier_one_left(door: Door, tmp_path: Path) -> None:
    folder = folder_of(tmp_path, "true")
    (folder / "data").symlink_to(tmp_path)
    (folder / "slipway.json").write_text('{"labels": {"from": "before"}}')
    first, _, without = await slipway(door, tmp_path, "drop", str(folder))
    await door.ended(name=folder.name)
    (folder / "slipway.json").unlink()
    (folder / "job.json").write_text(json.dumps(shell("exit 0")))

    second, _, err = await slipway(door, tmp_path, "drop", str(folder))

    assert (first, second, "lies in the drop container" in without) == (0, 0, False)
    assert without.count("data is a link to a folder") == err.count("data is a link to a folder") == 1
    assert f"{folder.name}/slipway.json lies in the drop container already, and belongs to the job" in err


@pytest.mark.thorough
async def test_a_drop_names_the_job_of_its_own_script_beside_another_at_work(
    door: Door, tmp_path: Path
) -> None:
    team = unique("team")
    for name, command in ("train1", "exit(0)"), ("train2", "import time; time.sleep(600)"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.py").write_text(command)
    job = {
        "properties": {
            "nodeCount": 1,
            "pyTorchSettings": {"pythonScriptFilePath": "<SLIPWAY_SCRIPT:train*.py>"},
        }
    }
    template = door.blobs.get_blob_client("scripts", f"{team}/job.json")
    await template.upload_blob(json.dumps(job))

    _, other, err = await slipway(door, tmp_path, "drop", "--to", f"{team}/d", str(tmp_path / "train2"))
    (at_work,) = re.findall(r"^j_[a-z2-7]{24}", other, re.MULTILINE)
    code, out, err = await slipway(door, tmp_path, "drop", "--to", f"{team}/d", str(tmp_path / "train1"))

    assert (code, at_work in out, "runs this job file and script already" in err) == (0, False, False), err
    (own,) = re.findall(r"^(j_[a-z2-7]{24})  train1: ", out, re.MULTILINE)
    assert (await door.ended(id=own))["state"] == "succeeded"
    await door.call("POST", f"jobs/{at_work}/cancel")
    assert (await door.ended(id=at_work))["state"] == "cancelled"


@pytest.mark.thorough
async def test_a_drop_of_a_corrected_envelope_names_the_job_that_was_rejected(
    door: Door, tmp_path: Path
) -> None:
    folder = folder_of(tmp_path, "true")
    (folder / "slipway.json").write_text('{"cluster": "unknown"}')
    first, _, err = await slipway(door, tmp_path, "drop", "--force", str(folder))
    assert (first, "was rejected, so it never ran" in err) == (0, True), err
    (folder / "slipway.json").write_text("{}")

    code, out, err = await slipway(door, tmp_path, "drop", str(folder))

    (own,) = re.findall(rf"^(j_[a-z2-7]{{24}})  {folder.name}: ", out, re.MULTILINE)
    assert (code, (await door.ended(id=own))["state"]) == (0, "succeeded"), err


async def test_a_folder_that_is_too_large_for_a_drop_is_not_uploaded(door: Door, tmp_path: Path) -> None:
    folder = folder_of(tmp_path, "true")
    for number in range(MOST_FILES + 1):
        (folder / f"part-{number}.csv").touch()

    code, _, err = await slipway(door, tmp_path, "drop", str(folder))

    assert code == 1
    assert re.search(r"nothing was uploaded.*SW117: the folder has 501 files with 0.0 MiB", err, re.DOTALL), (
        err
    )
    assert all(way in err for way in ("slipway run", "slipway data put", "mount the container of drops"))
    blobs = door.blobs.get_container_client("scripts").list_blobs(name_starts_with=f"{folder.name}/")
    assert [blob.name async for blob in blobs] == []


async def test_a_drop_that_is_rejected_says_so(door: Door, tmp_path: Path) -> None:
    folder = folder_of(tmp_path, "true")
    (folder / "job.json").write_text('{"properties": {"nodeCuont": 2}}')

    code, out, err = await slipway(door, tmp_path, "drop", "--force", str(folder))

    assert (code, f"  {folder.name}: rejected" in out) == (0, True), err
    assert re.search(
        r"was rejected, so it never ran: .*job\.json.*: SW\d+ .*; what is wrong: slipway show j_", err
    )


@pytest.mark.thorough
async def test_a_drop_without_an_api_says_how_to_find_its_job(door: Door, tmp_path: Path) -> None:
    folder = folder_of(tmp_path, "true")

    code, out, err = await slipway(door, tmp_path, "drop", "--url", "http://127.0.0.1:9", str(folder))

    assert (code, f"uploaded scripts/{folder.name}/job.json" in out) == (0, True), err
    assert "no answer from http://127.0.0.1:9" in err
    assert "find it: slipway jobs --source drop" in err
    assert (await door.ended(name=folder.name))["state"] == "succeeded"


async def test_a_drop_is_followed_with_the_id_of_its_job(door: Door, tmp_path: Path) -> None:
    folder = tmp_path / unique("followed")
    folder.mkdir()
    (folder / "main.py").write_text("import sys\nprint('here')\nsys.exit('no more data')\n")
    toolkit = {"pythonScriptFilePath": "<SLIPWAY_FOLDER>/main.py"}
    job = {"properties": {"nodeCount": 1, "pyTorchSettings": toolkit}}
    (folder / "job.json").write_text(json.dumps(job))
    before = door.blobs.get_blob_client("scripts", f"{folder.name}/slipway.json")
    await before.upload_blob(b'{"labels": {"from": "before"}}')

    code, out, err = await slipway(door, tmp_path, "drop", "--follow", str(folder))

    assert (code, out) == (1, "here\n"), err
    assert "slipway.json lies in the drop container already, and belongs to the job" in err
    assert await before.exists()
    assert re.search(r"the job is j_[a-z2-7]{24}$", err, re.MULTILINE)
    assert "no more data" in err
