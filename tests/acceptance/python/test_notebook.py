"""The notebook among the examples: every cell, by a kernel of its own, on the real stack."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import nbformat
import pytest
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient

from tests.acceptance.door import PATIENCE, Door

ROOT = Path(__file__).resolve().parents[3]
NOTEBOOK = "train.ipynb"
pytestmark = pytest.mark.asyncio(loop_scope="session")


async def run(door: Door, folder: Path, kernel: Path) -> list[str]:
    """What each cell of code printed or showed; a cell that raises fails the test.

    The kernel keeps its files, and the sockets that it talks by, below `kernel`.
    """
    notebook = nbformat.read(folder / NOTEBOOK, as_version=4)  # type: ignore[no-untyped-call]
    manager = AsyncKernelManager(transport="ipc", connection_file=str(kernel / "kernel.json"))
    place = {"metadata": {"path": str(folder)}}
    client = NotebookClient(notebook, km=manager, timeout=int(PATIENCE), resources=place)
    environment = {"PYTHONPATH": str(ROOT), "SLIPWAY_URL": door.stack.host_url, "SLIPWAY_KEY": door.key}
    environment["IPYTHONDIR"] = str(kernel)
    await client.async_execute(env={**os.environ, **door.stack.settings, **environment})
    return ["".join(map(_text, cell.outputs)) for cell in notebook.cells if cell.cell_type == "code"]


def _text(output: dict[str, Any]) -> str:
    return str(output["text"] if output["output_type"] == "stream" else output["data"]["text/plain"])


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
