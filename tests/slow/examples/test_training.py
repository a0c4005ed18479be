"""The example training script: the same model on one process and on two, and honest metrics."""

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "digits"
EPOCHS = 10


async def train(folder: Path, processes: int) -> str:
    """Run train.py as the launcher of a job would, one process per node; the first one's standard output."""
    shared, model = folder / "shared", folder / "model"
    shared.mkdir(parents=True)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("AZ_BATCH")}
    running = [
        await asyncio.create_subprocess_exec(
            sys.executable,
            str(EXAMPLE / "train.py"),
            f"--epochs={EPOCHS}",
            env=environment
            | {
                "AZ_BATCHAI_TASK_INDEX": str(rank),
                "AZ_BATCH_HOST_LIST": ",".join(["127.0.0.1"] * processes),
                "AZ_BATCHAI_SHARED_JOB_TEMP": str(shared),
                "AZ_BATCHAI_OUTPUT_MODEL": str(model),
            },
            cwd=folder,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        for rank in range(processes)
    ]
    ended = await asyncio.gather(*(process.communicate() for process in running))
    assert [process.returncode for process in running] == [0] * processes, ended
    assert list(shared.iterdir()) == []
    return ended[0][0].decode()


def metrics(folder: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((folder / "model" / "metrics.json").read_text())
    return loaded


@pytest.mark.thorough
async def test_one_process_and_two_reach_the_same_model_with_its_metrics(tmp_path: Path) -> None:
    alone, together = tmp_path / "alone", tmp_path / "together"

    said_alone = await train(alone, processes=1)
    said_together = await train(together, processes=2)

    one, two = np.load(alone / "model" / "model.npz"), np.load(together / "model" / "model.npz")
    for name in ("w1", "b1", "w2", "b2"):
        np.testing.assert_allclose(one[name], two[name], atol=1e-9)
    assert metrics(alone)["accuracy"] == metrics(together)["accuracy"] > 0.93
    assert (metrics(alone)["nodes"], metrics(together)["nodes"]) == (1, 2)
    assert said_alone.splitlines()[0] == "rank 0 of 1: 12942 of 12942 training images"
    assert said_together.splitlines()[0] == "rank 0 of 2: 6471 of 12942 training images"
    assert_metrics_of_what_was_written(alone, said_alone)


def assert_metrics_of_what_was_written(folder: Path, output: str) -> None:
    answer = metrics(folder)
    assert answer["epochs"] == EPOCHS
    assert answer["processes"] == 1
    assert answer["seconds"] > 0
    assert f"test accuracy {answer['accuracy']:.4f} on 359 images" in output
    progress = [line for line in output.splitlines() if line.startswith("epoch ")]
    assert [line.split()[1] for line in progress] == [f"{n}/{EPOCHS}" for n in range(1, EPOCHS + 1)]
