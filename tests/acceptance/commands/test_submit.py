"""`slipway submit` and `drop` of a folder: the same job, or a refusal before anything goes up."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.acceptance.commands.person import slipway
from tests.acceptance.door import Door, shell, unique

pytestmark = pytest.mark.asyncio(loop_scope="session")


def folder_with_a_script(tmp_path: Path, **properties: object) -> Path:
    folder = tmp_path / unique("beside")
    folder.mkdir()
    (folder / "main.py").write_text("print('here')\n")
    toolkit = {"pythonScriptFilePath": "<SLIPWAY_FOLDER>/main.py"}
    job = {"properties": {"nodeCount": 1, "pyTorchSettings": toolkit, **properties}}
    (folder / "job.json").write_text(json.dumps(job))
    return folder


async def uploaded(door: Door, folder: Path) -> list[str]:
    names = door.blobs.get_container_client("scripts").list_blob_names(name_starts_with=f"{folder.name}/")
    return [name async for name in names if "/." not in name]


async def test_a_job_json_beside_its_script_is_submitted_with_its_folder(door: Door, tmp_path: Path) -> None:
    folder = folder_with_a_script(tmp_path)

    code, out, err = await slipway(door, tmp_path, "submit", str(folder / "job.json"))

    assert code == 0, err
    (job,) = re.findall(rf"^(j_[a-z2-7]{{24}})  {folder.name}: ", out, re.MULTILINE)
    record = await door.ended(id=job)
    assert (record["state"], record["door"], record["name"]) == ("succeeded", "http", folder.name)
    async with door.http.get(f"/api/jobs/{job}/log") as answer:
        assert await answer.text() == "here\n"
    assert await uploaded(door, folder) == []


async def test_a_message_takes_a_folder_as_its_code(door: Door, tmp_path: Path) -> None:
    folder = folder_with_a_script(tmp_path)
    message = {"name": folder.name, "spec": shell("python3 main.py")}
    (tmp_path / "message.json").write_text(json.dumps(message))

    code, out, err = await slipway(door, tmp_path, "submit", "--code", str(folder), "message.json")

    assert code == 0, err
    job = await door.ended(id=out.split()[0])
    async with door.http.get(f"/api/jobs/{job['id']}/log") as answer:
        assert (job["state"], await answer.text()) == ("succeeded", "here\n")


@pytest.mark.thorough
async def test_a_job_that_is_submitted_from_its_folder_waits_for_another(door: Door, tmp_path: Path) -> None:
    _, before, _ = await door.call("POST", "jobs", shell("sleep 600"))
    folder = folder_with_a_script(tmp_path)

    code, _, err = await slipway(door, tmp_path, "submit", "--after", before["id"], str(folder / "job.json"))

    assert code == 0, err
    (job,) = await door.jobs(name=folder.name)
    assert [one["job"] for one in job["after"]] == [before["id"]]
    assert not (folder / "slipway.json").exists()
    await door.call("POST", f"jobs/{before['id']}/cancel")
    assert (await door.ended(id=job["id"]))["state"] == "cancelled"


async def test_a_folder_that_can_begin_no_job_is_not_uploaded(door: Door, tmp_path: Path) -> None:
    await no_script(door, tmp_path, "drop")
    for command, words in (("drop", "nothing was uploaded"), ("submit", "was not submitted")):
        await no_such_cluster(door, tmp_path, command, words)

    sweep = tmp_path / unique("sweep")
    sweep.mkdir()
    (sweep / "sweep.json").write_text(json.dumps({"spec": shell("true"), "sweep": {"lr": [1]}}))
    code, _, err = await slipway(door, tmp_path, "drop", str(sweep))
    assert (code, f"slipway submit {sweep}/sweep.json" in err) == (1, True), err
    assert "there is no job.json" in err
    assert await uploaded(door, sweep) == []

    alone = tmp_path / unique("alone")
    alone.mkdir()
    (alone / "train.py").touch()
    code, _, err = await slipway(door, tmp_path, "drop", str(alone))
    assert (code, "slipway drop --force" in err) == (1, True), err
    assert await uploaded(door, alone) == []
    code, _, err = await slipway(door, tmp_path, "drop", "--force", str(alone))
    assert (code, "nothing runs yet" in err) == (0, True), err


async def no_script(door: Door, tmp_path: Path, command: str) -> None:
    folder = folder_with_a_script(tmp_path)
    (folder / "main.py").rename(folder / "other.py")

    code, _, err = await slipway(door, tmp_path, command, str(folder))

    assert (code, "nothing was uploaded" in err, f"{folder.name}/main.py" in err) == (1, True, True), err
    assert await uploaded(door, folder) == []


async def no_such_cluster(door: Door, tmp_path: Path, command: str, words: str) -> None:
    folder = folder_with_a_script(tmp_path)
    (folder / "slipway.json").write_text('{"cluster": "nowhere"}')
    path = folder / "job.json" if command == "submit" else folder

    code, _, err = await slipway(door, tmp_path, command, str(path))

    assert (code, words in err, "nowhere" in err) == (1, True, True), err
    assert await uploaded(door, folder) == []


@pytest.mark.thorough
async def test_the_other_half_of_a_drop_may_lie_there_already(door: Door, tmp_path: Path) -> None:
    folder = folder_with_a_script(tmp_path)
    await door.drop(f"{folder.name}/main.py", (folder / "main.py").read_bytes())
    (folder / "main.py").unlink()

    code, _, err = await slipway(door, tmp_path, "drop", str(folder))

    assert code == 0, err
    assert (await door.ended(name=folder.name))["state"] == "succeeded"


@pytest.mark.thorough
async def test_a_template_goes_up_and_waits_for_scripts(door: Door, tmp_path: Path) -> None:
    folder = folder_with_a_script(tmp_path)
    (folder / "main.py").unlink()
    text = (folder / "job.json").read_text().replace("<SLIPWAY_FOLDER>/main.py", "<SLIPWAY_SCRIPT>")
    (folder / "job.json").write_text(text)

    code, _, err = await slipway(door, tmp_path, "drop", str(folder))

    assert (code, "never itself" in err) == (0, True), err
    assert await uploaded(door, folder) == [f"{folder.name}/job.json"]
