"""The notebook among the examples: every cell, by a kernel of its own, on the real stack."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.door import PATIENCE, Door

ROOT = Path(__file__).resolve().parents[3]
NOTEBOOK = "train.ipynb"
pytestmark = pytest.mark.asyncio(loop_scope="session")


async def run(door: Door, folder: Path, kernel: Path) -> list[str]:
    """What each cell of code printed or showed; a cell that raises fails the test."""
    file = folder / NOTEBOOK
    environment = {"PYTHONPATH": str(ROOT), "SLIPWAY_URL": door.stack.host_url, "SLIPWAY_KEY": door.key}
    environment["IPYTHONDIR"] = str(kernel)
    process = await asyncio.create_subprocess_exec(
        *(
            sys.executable,
            "-m",
            "tests.acceptance.python.notebook",
            str(file),
            str(kernel),
            str(int(PATIENCE)),
        ),
        env={**os.environ, **door.stack.settings, **environment},
        stderr=asyncio.subprocess.PIPE,
    )
    _, errors = await process.communicate()
    assert process.returncode == 0, errors.decode()
    cells = json.loads(file.read_text())["cells"]
    return ["".join(map(_text, cell["outputs"])) for cell in cells if cell["cell_type"] == "code"]


def _text(output: dict[str, Any]) -> str:
    text = output["text"] if output["output_type"] == "stream" else output["data"]["text/plain"]
    return "".join(text)


@pytest.mark.thorough
async def test_every_cell_does_what_the_text_beside_it_says(
    door: Door, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path / "examples"
    shutil.copytree(ROOT / "examples", folder)

    begun, log, tail, result, curves, frame, files, model, failure = await run(
        door, folder, tmp_path_factory.mktemp("kernel")
    )

    assert "Job('j_" in begun
    assert "0 | rank 0 of 2" in log
    assert "1 | epoch 20/20" in log
    assert "epoch 11/20" not in log
    assert len([line for line in tail.splitlines() if line.startswith("epoch")]) == 2
    assert result.startswith("succeeded 0 0:00:")
    assert "MODEL/metrics.jsonl, by epoch 1 to 20" in curves
    assert "accuracy" in frame
    assert frame.splitlines()[-1].startswith("20 ")
    assert "model.npz" in files
    assert "'nodes': 2" in model
    assert (folder / "notebook-digits/MODEL/model.npz").is_file()
    assert "invalid int value: 'many'" in failure
