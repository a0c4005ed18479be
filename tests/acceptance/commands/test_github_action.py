"""The GitHub Action's program, by the script of action.yml, against the local stack."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.acceptance.door import Door, unique

pytestmark = pytest.mark.asyncio(loop_scope="session")
ROOT = Path(__file__).resolve().parents[3]
(SCRIPT,) = re.findall(r"^ +run: (exec .*)$", (ROOT / "action.yml").read_text(encoding="utf-8"), re.M)

TRAIN = """import os, sys, pathlib
print("trained with", sys.argv[1:], flush=True)
pathlib.Path(os.environ["AZ_BATCHAI_OUTPUT_MODEL"], "weights.txt").write_text("0.5")
"""
#: Texts that a runner takes for commands.
COMMANDS = ("::error::forged", "::set-output name=state::forged", "::add-path::/tmp", "##[error]forged")


class Ended(NamedTuple):
    """What a step of the workflow leaves."""

    code: int | None
    log: str
    summary: str
    outputs: dict[str, str]


class Runner:
    """What GitHub's runner does for the step: it sets variables, and runs the script with bash."""

    def __init__(self, door: Door, folder: Path) -> None:
        self.door, self.folder = door, folder
        self.summary, self.outputs, self.to = folder / "summary", folder / "outputs", folder / "out"

    async def step(self, path: str, **inputs: str) -> asyncio.subprocess.Process:
        variables = {
            "HOME_OF_SLIPWAY": sys.prefix,
            "GITHUB_STEP_SUMMARY": str(self.summary),
            "GITHUB_OUTPUT": str(self.outputs),
            "INPUT_PATH": path,
            "INPUT_TO": str(self.to),
            "SLIPWAY_URL": self.door.stack.host_url,
            "SLIPWAY_KEY": self.door.key,
        }
        (self.folder / "step.sh").write_text(SCRIPT)
        return await asyncio.create_subprocess_exec(
            *("bash", "--noprofile", "--norc", "-eo", "pipefail", str(self.folder / "step.sh")),
            cwd=self.folder,
            env=os.environ | variables | inputs,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )

    async def ended(self, step: asyncio.subprocess.Process) -> Ended:
        out, _ = await step.communicate()
        outputs = dict(line.partition("=")[::2] for line in self.outputs.read_text().splitlines())
        ended = Ended(step.returncode, out.decode(), self.summary.read_text(), outputs)
        assert self.door.key not in f"{ended}", "the key is in no text"
        return ended

    async def run(self, path: str, **inputs: str) -> Ended:
        return await self.ended(await self.step(path, **inputs))


@pytest.fixture
def runner(door: Door, tmp_path: Path) -> Runner:
    return Runner(door, tmp_path)


async def test_a_job_runs_and_what_it_wrote_is_there_for_the_artifact(runner: Runner) -> None:
    name = unique("ci")
    (runner.folder / f"{name}.py").write_text(TRAIN)

    ended = await runner.run(
        f"{name}.py", INPUT_OPTIONS=f"--name={name}\n", INPUT_ARGUMENTS="--lr\n0.1; $(touch forged) `id`\n"
    )

    assert ended.code == 0, ended.log
    assert "trained with ['--lr', '0.1; $(touch forged) `id`']\n" in ended.log
    assert (runner.to / "MODEL" / "weights.txt").read_text() == "0.5"
    assert not (runner.folder / "forged").exists()
    (job,) = await runner.door.jobs(name=name)
    assert ended.outputs == {
        "job": job["id"],
        "state": "succeeded",
        "exit-code": "0",
        "directory": str(runner.to),
    }
    assert "Slipway: succeeded" in ended.summary
    assert job["id"] in ended.summary


async def test_a_job_that_fails_ends_the_step_with_its_exit_code(runner: Runner) -> None:
    name = unique("fails")
    text = f"{TRAIN}print('it is <b>the</b> data', file=sys.stderr)\nsys.exit(7)\n"
    (runner.folder / f"{name}.py").write_text(text)

    ended = await runner.run(f"{name}.py")

    assert ended.code == 7, ended.log
    assert (ended.outputs["state"], ended.outputs["exit-code"]) == ("failed", "7")
    assert "it is &lt;b&gt;the&lt;/b&gt; data" in ended.summary
    assert (runner.to / "MODEL" / "weights.txt").exists()


async def test_the_runner_reads_no_command_in_what_a_job_prints(runner: Runner) -> None:
    name = unique("forges")
    (runner.folder / f"{name}.py").write_text(f"for one in {COMMANDS}: print(one)\n")

    ended = await runner.run(f"{name}.py")

    lines = ended.log.splitlines()
    token = lines[0].removeprefix("::stop-commands::")
    assert (ended.code, lines[-1]) == (0, f"::{token}::"), ended.log
    assert re.fullmatch(r"[0-9a-f]{32}", token)
    assert {*COMMANDS} <= {*lines[1:-1]}
    assert ended.outputs["state"] == "succeeded"


@pytest.mark.parametrize(
    ("path", "inputs", "code"),
    [
        ("gone.py", {}, 7),
        ("train.py", {"INPUT_OPTIONS": "--no-such-option"}, 2),
        ("train.py", {"SLIPWAY_KEY": "wrong"}, 5),
        ("train.py", {"INPUT_OPTIONS": "--cluster=gone"}, None),
    ],
)
async def test_what_cannot_run_ends_the_step_with_the_reason(
    path: str, inputs: dict[str, str], code: int | None, runner: Runner
) -> None:
    (runner.folder / "train.py").write_text(TRAIN)

    ended = await runner.run(path, **inputs)

    assert ended.code, ended.log
    assert code in (None, ended.code), ended.log
    assert ended.outputs["state"] in ("", "rejected")
    assert "message" in ended.summary


async def test_a_module_of_the_folder_takes_the_place_of_none(runner: Runner) -> None:
    (runner.folder / "slipway.py").write_text("raise SystemExit('this is the wrong one')\n")
    (runner.folder / "html.py").write_text("raise SystemExit('this is the wrong one')\n")

    ended = await runner.run("gone.py")

    assert "wrong one" not in ended.log
    assert ended.code == 7, ended.log


@pytest.mark.parametrize(
    ("by", "code"), [(signal.SIGINT, 130), pytest.param(signal.SIGTERM, 143, marks=pytest.mark.thorough)]
)
async def test_a_workflow_that_is_cancelled_cancels_its_job(
    by: signal.Signals, code: int, runner: Runner
) -> None:
    name = unique("long")
    (runner.folder / f"{name}.py").write_text("import time\nprint('begun', flush=True)\ntime.sleep(600)\n")
    step = await runner.step(f"{name}.py", INPUT_OPTIONS=f"--name={name}")
    assert step.stdout is not None
    while await step.stdout.readline() not in (b"begun\n", b""):
        pass

    step.send_signal(by)
    step.send_signal(signal.SIGTERM)
    ended = await runner.ended(step)

    assert ended.code in (code, 143), ended.log
    assert "the workflow was cancelled, and its job with it" in ended.summary
    assert (await runner.door.ended(name=name))["state"] == "cancelled"
