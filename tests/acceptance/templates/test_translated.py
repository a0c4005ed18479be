"""`slipway init --from`: the file of each system is a job that runs as it did there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.acceptance.door import Door
from tests.acceptance.pages.page import play

pytestmark = pytest.mark.asyncio(loop_scope="session")

#: A file of each system, and what each of its nodes prints.
FILES: dict[str, tuple[str, str, list[str]]] = {
    "SkyPilot": (
        "sky.yaml",
        "num_nodes: 2\nenvs: {LR: 0.10}\nsetup: touch prepared\n"
        "run: |\n  ls prepared\n  echo node $SKYPILOT_NODE_RANK of $SKYPILOT_NUM_NODES, $LR\n"
        "  echo out > $AZ_BATCHAI_OUTPUT_MODEL/$SKYPILOT_NODE_RANK\n",
        ["node 0 of 2, 0.10", "node 1 of 2, 0.10"],
    ),
    "dstack": (
        ".dstack.yml",
        "type: task\nnodes: 2\nenv: [LR=0.10]\nmax_duration: 1h\ncommands:\n  - cd /\n"
        "  - echo node $DSTACK_NODE_RANK of $DSTACK_NODES_NUM, $LR\n"
        "  - echo out > $AZ_BATCHAI_OUTPUT_MODEL/$DSTACK_NODE_RANK\n",
        ["node 0 of 2, 0.10", "node 1 of 2, 0.10"],
    ),
    "Azure ML": (
        "job.yml",
        "type: command\ncommand: echo node $RANK of $WORLD_SIZE, ${{inputs.lr}}; "
        "echo out > ${{outputs.MODEL}}/$RANK\n"
        "inputs: {lr: 0.10}\noutputs: {MODEL: {}}\nresources: {instance_count: 2}\n"
        "distribution: {type: pytorch}\nlimits: {timeout: 600}\n",
        ["node 0 of 2, 0.10", "node 1 of 2, 0.10"],
    ),
    "sbatch": (
        "train.sbatch",
        "#!/bin/bash\n#SBATCH --time=10 -N1 --export=LR=0.10\n"
        "echo node 0 of 1, $LR\necho out > $AZ_BATCHAI_OUTPUT_MODEL/0\n",
        ["node 0 of 1, 0.10"],
    ),
}


@pytest.mark.parametrize("system", FILES)
async def test_the_job_of_another_system_runs(system: str, door: Door, tmp_path: Path) -> None:
    name, text, lines = FILES[system]
    folder = tmp_path / "code"
    folder.mkdir()
    (folder / name).write_text(text)

    shown = await play(door, tmp_path, f"slipway init --from code/{name}\nslipway run --to out code")

    assert [line for line in lines if line not in shown] == []
    assert "no counterpart" not in shown
    assert [(tmp_path / f"out/MODEL/{rank}").read_text() for rank in range(len(lines))] == ["out\n"] * len(
        lines
    )
    assert json.loads((folder / "job.json").read_text())["properties"]["nodeCount"] == len(lines)
