"""The page on going on from a checkpoint: its script, on a node that is taken away, and in another job."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.acceptance.commands.person import slipway
from tests.acceptance.door import Door, eventually, unique

#: The script of the page: tests/unit/project/test_checkpoint_page.py compares them.
SCRIPT = """\
# count.py
import os
import pathlib
import time

saved = pathlib.Path(os.environ["SLIPWAY_SAVED"])
checkpoint = saved / "step"
step = int(checkpoint.read_text()) if checkpoint.exists() else 0
print(f"begins at step {step}", flush=True)
while step < 600:
    time.sleep(0.1)  # train
    step += 1
    if step % 10 == 0:
        (saved / "step.new").write_text(str(step))
        (saved / "step.new").replace(checkpoint)
        print(f"saved step {step}", flush=True)
"""
#: Its steps, and those of what runs here.
STEPS, FEW = 600, 150
pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_a_job_goes_on_where_it_was_when_its_node_is_taken_away_and_so_does_a_rerun(
    door: Door, tmp_path: Path
) -> None:
    name = unique("count")
    (tmp_path / f"{name}.py").write_text(SCRIPT.replace(str(STEPS), str(FEW)))
    code, _, errors = await slipway(door, tmp_path, "run", "--detach", f"{name}.py")
    assert code == 0, errors
    (job,) = await door.jobs(name=name)

    async def log(job_id: str, text: str) -> str | None:
        _, whole, _ = await slipway(door, tmp_path, "log", job_id)
        return whole if text in whole else None

    await eventually(lambda: log(job["id"], "saved step 20"), "the job to save")
    (job,) = await door.jobs(name=name)
    node = await eventually(lambda: _node_of(door, job["engine"]["name"]), "the node of the job")
    async with door.http.post(f"{_emulator(door)}/emulator/nodes/{node}/preempt") as answer:
        assert answer.status < 300, await answer.text()
    end = await door.ended(id=job["id"])
    whole = await log(job["id"], f"saved step {FEW}") or ""

    assert (end["state"], end["attempt"]) == ("succeeded", 1)
    first, second = (int(step) for step in re.findall(r"begins at step (\d+)", whole))
    assert (first, second % 10) == (0, 0)
    assert 20 <= second < FEW

    code, out, errors = await slipway(door, tmp_path, "rerun", job["id"], "--resume", "--json")
    assert code == 0, errors
    again = await door.ended(id=json.loads(out)["id"])
    assert (again["state"], again["resumes"]) == ("succeeded", job["id"])
    assert await log(again["id"], "") == f"begins at step {FEW}\n"


def _emulator(door: Door) -> str:
    return door.stack.settings["SLIPWAY_BATCHAI_URL"].rstrip("/")


async def _node_of(door: Door, job_name: str) -> str | None:
    async with door.http.get(f"{_emulator(door)}/emulator/nodes") as answer:
        nodes = (await answer.json())["value"]
    return next((node["id"] for node in nodes if (node["job"] or "").endswith(f"/{job_name}")), None)
