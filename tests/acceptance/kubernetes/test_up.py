"""`slipway up --cluster kubernetes`: the whole system, with its jobs as pods of a real Kubernetes."""

from __future__ import annotations

import signal
from pathlib import Path

from tests.acceptance.conftest import Slipway
from tests.acceptance.test_up import up


async def test_a_job_runs_as_a_pod_and_its_log_and_files_are_here(slipway: Slipway, tmp_path: Path) -> None:
    job = tmp_path / "job"
    job.mkdir()
    (job / "train.py").write_text(
        "import os, pathlib\n"
        "print('epoch 1 of', os.environ['HOSTNAME'])\n"
        "pathlib.Path(os.environ['AZ_BATCHAI_OUTPUT_MODEL'], 'model.json').write_text('{}')\n"
    )

    async with up(tmp_path / "up", "--cluster=kubernetes") as running:
        output = await slipway(
            "run",
            str(job),
            f"--url={running.url}",
            "--to",
            str(tmp_path / "files"),
        )
        assert await running.stop(signal.SIGINT) == 0

    assert "a Kubernetes cluster" in running.printed
    assert "export KUBECONFIG=" in running.printed
    assert "epoch 1 of" in output
    assert (tmp_path / "files" / "MODEL" / "model.json").read_text() == "{}"
