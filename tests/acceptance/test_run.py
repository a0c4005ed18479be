"""`slipway run`: from a script to its output on one's own disk, through drops and the emulator."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from pathlib import Path

import pytest

from tests.acceptance.commands.person import json_of, slipway, started
from tests.acceptance.door import Door, unique

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.asyncio(loop_scope="session")

TRAIN = """import os, sys, pathlib
print("trained with", sys.argv[1:], os.environ.get("LEVEL"), flush=True)
pathlib.Path(os.environ["AZ_BATCHAI_OUTPUT_MODEL"], "weights.txt").write_text("0.5")
"""


async def test_a_script_alone_runs_and_its_model_comes_home(door: Door, tmp_path: Path) -> None:
    name = unique("train")
    (tmp_path / f"{name}.py").write_text(TRAIN)

    code, out, err = await slipway(
        door, tmp_path, "run", "--env", "LEVEL=3", "--to", "out", f"{name}.py", "--", "--lr", "0.1 x; $HOME"
    )

    assert code == 0, err
    assert out == "trained with ['--lr', '0.1 x; $HOME'] 3\n"
    assert (tmp_path / "out/MODEL/weights.txt").read_text() == "0.5"
    assert (tmp_path / "out/stdouterr/stdout-0.txt").read_text() == out
    assert '"nodeCount": 1' in err
    assert "succeeded" in err
    assert not (tmp_path / "job.json").exists()


@pytest.mark.thorough
async def test_a_folder_runs_again_by_its_own_job_json(door: Door, tmp_path: Path) -> None:
    folder = tmp_path / unique("folder")
    folder.mkdir()
    (folder / "main.py").write_text("print('once more')\n")
    (folder / "old.csv").touch()
    code, out, err = await slipway(door, tmp_path, "run", "--save", "--to", "one", str(folder))
    assert (code, out) == (0, "once more\n"), err
    assert "an earlier upload" not in err
    assert (folder / "job.json").is_file()
    (folder / "old.csv").unlink()

    scripts = door.blobs.get_container_client("scripts")
    before = {blob.name: blob.etag async for blob in scripts.list_blobs(f"{folder.name}/")}

    code, out, err = await slipway(door, tmp_path, "run", "--to", "two", str(folder))
    assert (code, out) == (0, "once more\n"), err

    assert "uploaded 1 of 2 files" in err
    assert "that an earlier upload or a job left there, and the job sees them: old.csv; delete" in err
    after = {blob.name: blob.etag async for blob in scripts.list_blobs(f"{folder.name}/")}
    assert [name for name in after if after[name] != before[name]] == [f"{folder.name}/job.json"]


@pytest.mark.thorough
async def test_a_run_without_options_takes_none_of_the_run_before(door: Door, tmp_path: Path) -> None:
    first, name = unique("first"), unique("next")
    for script in (first, name):
        (tmp_path / f"{script}.py").write_text("print('done')\n")
    code, _, err = await slipway(door, tmp_path, "run", f"{first}.py")
    assert code == 0, err
    code, _, err = await slipway(door, tmp_path, "run", "--after", first, f"{name}.py")
    assert code == 0, err

    code, out, err = await slipway(door, tmp_path, "run", "--to", "again", f"{name}.py")

    assert (code, out) == (0, "done\n"), err
    assert f"deleted scripts/{name}/slipway.json of an earlier upload" in err
    waited, alone = (job.get("after", []) for job in reversed(await door.jobs(name=name)))
    assert (len(waited), alone) == (1, [])


async def test_the_exit_code_is_the_jobs_and_its_last_lines_are_shown(door: Door, tmp_path: Path) -> None:
    name = unique("fails")
    (tmp_path / f"{name}.py").write_text(
        "import sys\nprint('it is the data', file=sys.stderr)\nsys.exit(7)\n"
    )

    code, _, err = await slipway(door, tmp_path, "run", f"{name}.py")

    assert code == 7
    assert "it is the data" in err
    (end,) = [line for line in err.splitlines() if "failed" in line or "exit code" in line]
    assert "more: slipway show j_" in end
    assert not [name for name in os.listdir(tmp_path) if name.startswith("j_")]  # noqa: PTH208


async def test_what_a_first_job_often_misses_is_explained(door: Door, tmp_path: Path) -> None:
    folder = tmp_path / unique("first")
    folder.mkdir()
    (folder / "data.csv").write_text("1,2\n")
    script = folder / "train.py"

    script.write_text("open('data.csv')\n")
    code, _, err = await slipway(door, tmp_path, "run", str(folder))
    assert (code, 'pathlib.Path(__file__).parent / "data.csv"' in err) == (1, True), err

    script.write_text("import pathlib\npathlib.Path('model.txt').write_text('1')\n")
    code, _, err = await slipway(door, tmp_path, "run", "--to", "out", str(folder))
    assert (code, "left nothing in $AZ_BATCHAI_OUTPUT_MODEL" in err) == (0, True), err


async def test_a_job_that_cannot_run_is_not_uploaded(door: Door, tmp_path: Path) -> None:
    folder = tmp_path / unique("wrong")
    folder.mkdir()
    (folder / "job.json").write_text('{"properties": {"nodeCuont": 2}}')

    code, _, err = await slipway(door, tmp_path, "run", str(folder))

    assert code == 1
    assert "nothing was uploaded" in err
    assert 'did you mean "nodeCount"' in err
    names = door.blobs.get_container_client("scripts").list_blob_names(name_starts_with=folder.name)
    assert [blob async for blob in names] == []


async def test_a_job_reads_what_was_put_and_its_result_comes_home(door: Door, tmp_path: Path) -> None:
    name = unique("sums")
    (tmp_path / "data").mkdir()
    (tmp_path / "data/numbers.txt").write_text("1\n2\n39\n")
    (tmp_path / f"{name}.py").write_text(
        "import os, pathlib, sys\n"
        "total = sum(map(int, pathlib.Path(sys.argv[1]).read_text().split()))\n"
        "pathlib.Path(os.environ['AZ_BATCHAI_OUTPUT_MODEL'], 'total').write_text(str(total))\n"
    )

    result = await json_of(door, tmp_path, "data", "put", "--json", str(tmp_path / "data"), "--to", name)
    place = f"$AZ_BATCHAI_MOUNT_ROOT/datalake/{name}/data/numbers.txt"
    code, _, err = await slipway(door, tmp_path, "run", "--to", "out", f"{name}.py", "--", place)

    assert result["mounted"] == f"$AZ_BATCHAI_MOUNT_ROOT/datalake/{name}/"
    assert code == 0, err
    assert (tmp_path / "out/MODEL/total").read_text() == "42"


async def test_a_detached_run_prints_its_id(door: Door, tmp_path: Path) -> None:
    name = unique("later")
    (tmp_path / f"{name}.py").write_text("print(1)\n")

    # The settings of a stack name its app, too.
    code, out, err = await slipway(door, tmp_path, "run", "--detach", f"{name}.py", by_settings=True)

    assert code == 0, err
    assert out.startswith("j_")
    assert (await waited(door, out.strip())) == (0, f"{out.strip()}  {name}: succeeded\n")
    assert (await door.ended(id=out.strip()))["state"] == "succeeded"


async def waited(door: Door, job: str) -> tuple[int | None, str]:
    command = await asyncio.create_subprocess_exec(
        *(*door.slipway, "wait", job, "--url", door.stack.host_url, "--key", door.key),
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
    )
    out, _ = await command.communicate()
    return command.returncode, out.decode()


@pytest.mark.parametrize(
    ("by", "code"), [(signal.SIGINT, 130), pytest.param(signal.SIGTERM, 143, marks=pytest.mark.thorough)]
)
async def test_after_ctrl_c_the_job_goes_on(
    by: signal.Signals, code: int, door: Door, tmp_path: Path
) -> None:
    name = unique("long")
    (tmp_path / f"{name}.py").write_text("import time\nprint('begun', flush=True)\ntime.sleep(600)\n")
    command = await started(door, tmp_path, "run", f"{name}.py")
    assert command.stdout is not None
    assert await command.stdout.readline() == b"begun\n"

    command.send_signal(by)
    _, err = await command.communicate()

    assert command.returncode == code
    assert "goes on; slipway log --follow j_" in err.decode()
    (job,) = await door.jobs(name=name)
    assert job["state"] == "running"
    await door.call("POST", f"jobs/{job['id']}/cancel")


@pytest.mark.thorough
async def test_a_program_reads_that_the_command_was_interrupted(door: Door, tmp_path: Path) -> None:
    name = unique("events")
    (tmp_path / f"{name}.py").write_text("import time\nprint('begun', flush=True)\ntime.sleep(600)\n")
    command = await started(door, tmp_path, "run", "--json", f"{name}.py")
    assert command.stdout is not None
    while b"begun" not in await command.stdout.readline():
        pass

    command.send_signal(signal.SIGINT)
    out, _ = await command.communicate()

    (job,) = await door.jobs(name=name)
    assert command.returncode == 130
    last = json.loads(out.splitlines()[-1])
    assert last == {"event": "interrupted", "id": job["id"], "cancelled": False}
    await door.call("POST", f"jobs/{job['id']}/cancel")


@pytest.mark.thorough
async def test_a_folder_whose_job_is_active_is_left_alone(door: Door, tmp_path: Path) -> None:
    name = unique("busy")
    (tmp_path / f"{name}.py").write_text("import time\ntime.sleep(600)\n")
    code, out, err = await slipway(door, tmp_path, "run", "--detach", f"{name}.py")
    assert code == 0, err
    blob = door.blobs.get_blob_client("scripts", f"{name}/{name}.py")
    before = (await blob.get_blob_properties()).etag
    (tmp_path / f"{name}.py").write_text("print('changed')\n")

    code, _, err = await slipway(door, tmp_path, "run", f"{name}.py")

    assert code == 1
    assert f"{out.strip()} runs from the folder {name}" in err
    assert "--name" in err
    assert (await blob.get_blob_properties()).etag == before
    await door.call("POST", f"jobs/{out.strip()}/cancel")


async def test_a_job_whose_files_could_not_be_saved_is_not_uploaded(door: Door, tmp_path: Path) -> None:
    name = unique("homeless")
    (tmp_path / f"{name}.py").write_text("print(1)\n")
    (tmp_path / "file").touch()

    for place in ("file", "file/below"):
        code, _, err = await slipway(door, tmp_path, "run", "--to", place, f"{name}.py")
        reason = f"{tmp_path / 'file'} is not a directory; choose another with --to"
        assert (code, reason in err) == (1, True), err

    names = door.blobs.get_container_client("scripts").list_blob_names(name_starts_with=name)
    assert [blob async for blob in names] == []


async def test_a_script_whose_name_has_a_space_runs(door: Door, tmp_path: Path) -> None:
    name = unique("spaced")
    (tmp_path / f"{name} it.py").write_text("print(1)\n")

    code, out, err = await slipway(door, tmp_path, "run", f"{name} it.py")

    assert (code, out) == (0, "1\n"), err


async def test_ctrl_c_before_there_is_a_job_says_how_to_find_it(door: Door, tmp_path: Path) -> None:
    name = unique("early")
    (tmp_path / f"{name}.py").write_text("print(1)\n")
    command = await started(door, tmp_path, "run", f"{name}.py")
    assert command.stderr is not None
    while b"uploaded" not in await command.stderr.readline():
        pass

    command.send_signal(signal.SIGINT)
    _, err = await command.communicate()

    assert command.returncode == 130
    assert f"all files are in scripts/{name}/" in err.decode()
    assert "slipway jobs --source drop" in err.decode()
    assert (await door.ended(name=name))["state"] == "succeeded"


@pytest.mark.thorough
async def test_ctrl_c_before_there_is_a_job_asks_a_person_at_a_terminal(door: Door, tmp_path: Path) -> None:
    name = unique("asked")
    (tmp_path / f"{name}.py").write_text("import time\ntime.sleep(600)\n")
    keyboard, terminal = os.openpty()
    command = await started(door, tmp_path, "run", f"{name}.py", stdin=terminal)
    assert command.stderr is not None
    while b"uploaded" not in await command.stderr.readline():
        pass

    command.send_signal(signal.SIGINT)
    os.write(keyboard, b"zz\nc\n")
    _, err = await command.communicate()
    os.close(keyboard)
    os.close(terminal)

    assert command.returncode == 130
    assert err.decode().count("[c]ancel it?") == 2
    assert (await door.ended(name=name))["state"] == "cancelled"
