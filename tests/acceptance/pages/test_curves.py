"""docs/how-to/watch-curves.md: its scripts and commands, with stand-ins for what others wrote."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.acceptance.door import Door
from tests.acceptance.pages.boards import MLFLOW, TENSORBOARD, TORCH, paths, program
from tests.acceptance.pages.page import blocks, play

PAGE = "how-to/watch-curves.md"
pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_the_page_does_what_it_says(door: Door, tmp_path: Path) -> None:
    script, copies = blocks(PAGE, "python")
    (tmp_path / "train/torch/utils").mkdir(parents=True)
    (tmp_path / "train/train.py").write_text(script + 'print(\'{"slipway": {"epoch": 1, "loss": 0.5}}\')\n')
    (tmp_path / "train/torch/utils/tensorboard.py").write_text(TORCH)
    (tmp_path / "copy_metrics.py").write_text(copies)
    (tmp_path / "mlflow.py").write_text(MLFLOW)
    (tmp_path / "enough").write_text("30")
    program(tmp_path, "tensorboard", TENSORBOARD)
    program(tmp_path, "pipx", '#!/bin/sh\ntest "$*" = "install tensorboard"\n')
    keys = "export MLFLOW_TRACKING_TOKEN=of-mlflow WANDB_API_KEY=of-wandb"

    await play(door, tmp_path, "\n".join([keys, *blocks(PAGE, "sh")]))

    (points,) = json.loads((tmp_path / "lines.json").read_text()).values()
    assert points == [f"loss {1 / epoch} {epoch}" for epoch in range(1, 31)]
    (copy,) = paths(tmp_path / "curves", "events*")
    assert copy.parent.name == "MODEL"
    started = json.loads((tmp_path / "started.json").read_text())
    assert started["arguments"] == ["--logdir", str(tmp_path / "curves"), "--port", "0"]
    assert (tmp_path / "logged.txt").read_text() == "loss 0.5 1\n"
