"""`slipway run`: from a script to its output on one's own disk, through the API and the emulator."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from slipway import AsyncClient
from tests.acceptance.commands.person import json_of, slipway, started
from tests.acceptance.door import Door, unique

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.asyncio(loop_scope="session")

TRAIN = """import os, sys, pathlib
print("trained with", sys.argv[1:], os.environ.get("LEVEL"), flush=True)
pathlib.Path(os.environ["AZ_BATCHAI_OUTPUT_MODEL"], "weights.txt").write_text("0.5")
"""


#: A folder whose parts a job finds as they are at home; `.env` stays there.
FOLDER = {
    "train.py": (
        "import features, os, subprocess\n"
        "out = subprocess.check_output(['./tool.sh'], text=True).strip()\n"
        "links = open('data/numbers.csv').read(), open('link.csv').read()\n"
        "have = [name for name in ('.config', 'empty') if os.path.exists(name)]\n"
        "print(*links, features.NAME, out, have, os.path.exists('.env'))\n"
    ),
    "features/__init__.py": "NAME = 'features'\n",
    "tool.sh": "#!/bin/sh\necho tool\n",
    "data/numbers.csv": "1,2",
    "prepare.py": "raise SystemExit('another script')\n",
    ".config": "x",
    ".env": "TOKEN=x",
}


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


async def test_a_folder_runs_in_a_copy_that_has_all_of_it(door: Door, tmp_path: Path) -> None:
    folder = tmp_path / "my project (2)"
    for name, text in FOLDER.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    (folder / "tool.sh").chmod(0o755)
    (folder / "empty").mkdir()
    (folder / "link.csv").symlink_to("data/numbers.csv")

    code, out, err = await slipway(door, tmp_path, "run", "--to", "out", str(folder))

    assert (code, out) == (0, "1,2 1,2 features tool ['.config', 'empty'] False\n"), err
    assert "runs train.py, by its name" in err
    assert "left out: .env (give secrets by --secret" in err
    assert [blob async for blob in door.blobs.get_container_client("scripts").list_blobs("my")] == []


async def test_a_job_runs_the_folder_as_it_was_when_it_was_sent(door: Door, tmp_path: Path) -> None:
    folder, name = tmp_path / "folder", unique("edited")
    folder.mkdir()
    script = folder / "main.py"
    script.write_text("import time\nprint('first')\ntime.sleep(2)\n")
    ids = []

    for text in ("print('second')\n", "print('third')\n"):
        code, out, err = await slipway(door, tmp_path, "run", "--detach", "--name", name, str(folder))
        assert code == 0, err
        ids.append(out.strip())
        script.write_text(text)

    assert [await printed(door, tmp_path, one) for one in ids] == ["first\n", "second\n"]
    code, out, err = await slipway(door, tmp_path, "rerun", "--json", ids[0])
    assert code == 0, err
    assert await printed(door, tmp_path, json.loads(out)["id"]) == "first\n"
    code, out, _ = await slipway(door, tmp_path, "code", ids[0], "--diff", str(folder))
    assert (code, "-print('first')" in out, "+print('third')" in out) == (1, True, True)
    code, out, err = await slipway(door, tmp_path, "code", ids[0], "--to", "was")
    assert code == 0, err
    assert "first" in (tmp_path / "was/main.py").read_text()


async def printed(door: Door, tmp_path: Path, job: str) -> str:
    code, out, err = await slipway(door, tmp_path, "log", "--follow", job)
    assert code == 0, err
    return out


@pytest.mark.thorough
async def test_a_folder_runs_again_by_its_own_job_json(door: Door, tmp_path: Path) -> None:
    folder = tmp_path / unique("folder")
    folder.mkdir()
    (folder / "main.py").write_text("import sys\nprint(open('data.csv').read(), sys.argv[1:])\n")
    (folder / "data.csv").write_text("1,2")
    code, out, err = await slipway(door, tmp_path, "run", "--save", "--to", "one", str(folder))
    assert (code, out) == (0, "1,2 []\n"), err
    assert (folder / "job.json").is_file()

    code, out, err = await slipway(door, tmp_path, "run", "--to", "two", str(folder), "--", "--lr", "1")

    assert (code, out) == (0, "1,2 ['--lr', '1']\n"), err
    assert "the deployment has this code already" in err


async def test_a_folder_in_the_way_of_batch_ai_finds_its_files(door: Door, tmp_path: Path) -> None:
    folder = tmp_path / unique("classic")
    folder.mkdir()
    (folder / "run.sh").write_text("cat $AZ_BATCHAI_JOB_MOUNT_ROOT/scripts/$1/data.csv\n")
    (folder / "data.csv").write_text("1,2\n")
    line = f"bash $AZ_BATCHAI_JOB_MOUNT_ROOT/scripts/{folder.name}/run.sh {folder.name}"
    job = {"properties": {"nodeCount": 1, "customToolkitSettings": {"commandLine": line}}}
    (folder / "job.json").write_text(json.dumps(job))

    code, out, err = await slipway(door, tmp_path, "run", str(folder))

    assert (code, out) == (0, "1,2\n"), err


async def test_a_sweep_of_ones_own_folder_runs_the_code_that_was_sent(door: Door, tmp_path: Path) -> None:
    name = unique("tune")
    folder = tmp_path / name
    folder.mkdir()
    (folder / "train.py").write_text("import sys, helper\nprint(helper.WORD, sys.argv[1:])\n")
    (folder / "helper.py").write_text("WORD = 'sent'\n")

    code, out, err = await slipway(
        door, tmp_path, "run", "--sweep", "lr=0.1,0.3", "--parallel", "1", str(folder), "--", "--lr", "{lr}"
    )
    (folder / "helper.py").write_text("WORD = 'edited'\n")

    assert code == 0, err
    sweep = out.split()[0]
    running = await AsyncClient(door.stack.host_url, door.key).sweep(sweep)
    await running.wait()
    logs = {await printed(door, tmp_path, job.id) for job in await running.jobs()}
    assert logs == {"sent ['--lr', '0.1']\n", "sent ['--lr', '0.3']\n"}


async def test_a_dry_run_shows_what_would_happen(door: Door, tmp_path: Path) -> None:
    name = unique("dry")
    (tmp_path / f"{name}.py").write_text("print(1)\n")

    code, out, err = await slipway(door, tmp_path, "run", "--dry-run", f"{name}.py")

    assert code == 0, err
    assert f"9 bytes  {name}.py" in out
    assert "runs: " in out
    assert await door.jobs(name=name) == []


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


async def test_what_a_job_left_that_failed_is_named_or_comes_home_where_asked_for(
    door: Door, tmp_path: Path
) -> None:
    name = unique("half")
    (tmp_path / f"{name}.py").write_text(f"{TRAIN}sys.exit(7)\n")

    for words in ([], ["--to", "out"]):
        code, _, err = await slipway(door, tmp_path, "run", *words, f"{name}.py")
        assert code == 7
        is_named = "(MODEL has weights.txt)" in err
        is_here = (tmp_path / "out/MODEL/weights.txt").exists()
        assert (is_named, is_here) == ((False, True) if words else (True, False)), err


async def test_a_job_that_leaves_no_model_hears_where_it_belongs(door: Door, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("import pathlib\npathlib.Path('model.txt').write_text('1')\n")

    code, _, err = await slipway(door, tmp_path, "run", "--to", "out", "train.py")

    assert (code, "left nothing in $AZ_BATCHAI_OUTPUT_MODEL" in err) == (0, True), err


async def test_a_job_that_cannot_run_is_not_sent(door: Door, tmp_path: Path) -> None:
    folder = tmp_path / unique("wrong")
    folder.mkdir()
    (folder / "job.json").write_text('{"properties": {"nodeCuont": 2}}')

    code, _, err = await slipway(door, tmp_path, "run", str(folder))

    assert code == 1
    assert "nothing was sent" in err
    assert 'did you mean "nodeCount"' in err
    assert await door.jobs(name=folder.name) == []


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

    code, out, err = await slipway(door, tmp_path, "run", "--detach", f"{name}.py")

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


async def test_a_job_whose_files_could_not_be_saved_is_not_sent(door: Door, tmp_path: Path) -> None:
    name = unique("homeless")
    (tmp_path / f"{name}.py").write_text("print(1)\n")
    (tmp_path / "file").touch()

    for place in ("file", "file/below"):
        code, _, err = await slipway(door, tmp_path, "run", "--to", place, f"{name}.py")
        reason = f"{tmp_path / 'file'} is not a directory; choose another with --to"
        assert (code, reason in err) == (1, True), err

    assert await door.jobs(name=name) == []


async def test_a_script_whose_name_has_a_space_runs(door: Door, tmp_path: Path) -> None:
    name = unique("spaced")
    (tmp_path / f"{name} it.py").write_text("print(1)\n")

    code, out, err = await slipway(door, tmp_path, "run", f"{name} it.py")

    assert (code, out) == (0, "1\n"), err


async def test_ctrl_c_before_there_is_a_job_says_what_becomes_of_it(door: Door, tmp_path: Path) -> None:
    name = unique("early")
    (tmp_path / f"{name}.py").write_text("print(1)\n")
    command = await started(door, tmp_path, "run", f"{name}.py")
    assert command.stderr is not None
    while b"packed" not in await command.stderr.readline():
        pass

    command.send_signal(signal.SIGINT)
    _, err = await command.communicate()

    assert command.returncode == 130
    begins = [job async for job in _all(door, name)]
    words = "goes on|may begin" if begins else "the job was not submitted, so none begins"
    assert re.search(words, err.decode())


async def _all(door: Door, name: str) -> AsyncIterator[object]:
    for job in await door.jobs(name=name):
        yield await door.ended(id=job["id"])
