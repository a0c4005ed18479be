"""`slipway run` from the command to its answer, at a deployment in memory."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest

from slipway.client.request.compose import Choices
from slipway.client.request.request import Options
from slipway.commands.run import run as running
from slipway.failure import Failure
from slipway.library.aio import AsyncClient
from tests.unit.slipway.client.snapshot.deployment import Deployment

OPTIONS = Options(Choices())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "train.py").write_text("print(1)\n")
    return tmp_path


async def run(deployment: Deployment, folder: Path, options: Options, **how: Any) -> int:
    async with deployment.serving() as url:
        return await asyncio.to_thread(running.run, folder, options, url, "", **how)


async def test_a_dry_run_shows_files_document_and_verdict_and_sends_nothing(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    deployment = Deployment()
    token = "hf_" + "cAnArY7c41x" * 3

    code = await run(deployment, folder, Options(Choices(secrets={"HF_TOKEN": token})), dry=True)
    shown = capsys.readouterr()

    assert code == 0
    assert deployment.calls == ["GET /api/settings", "POST /api/explain"]
    assert "9 bytes  train.py" in shown.out
    assert '"pythonScriptFilePath": "train.py"' in shown.out
    assert token not in shown.out + shown.err

    assert await run(deployment, folder, Options(Choices()), dry=True, as_json=True) == 0
    plan = json.loads(capsys.readouterr().out)
    assert plan["files"] == [{"name": "train.py", "bytes": 9}]


async def test_a_dry_run_of_a_job_that_cannot_run_fails(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    deployment = Deployment()
    deployment.verdict = "rejected"

    assert await run(deployment, folder, Options(Choices()), dry=True) == 1


async def test_large_code_is_not_sent_for_a_job_that_cannot_run(folder: Path) -> None:
    deployment = Deployment()
    deployment.verdict = "rejected"
    (folder / "weights.bin").write_bytes(os.urandom(9 << 20))

    with pytest.raises(Failure, match=r"nothing was sent, because the job cannot run\n.*SW010"):
        await run(deployment, folder, OPTIONS, detach=True)

    assert deployment.blobs == {}


async def test_a_detached_job_takes_four_requests(folder: Path) -> None:
    deployment = Deployment()

    await run(deployment, folder, OPTIONS, detach=True)

    methods = ["GET /api/settings", "POST /api/snapshots", "PUT ", "POST /api/jobs"]
    assert deployment.calls == methods


async def test_the_deployment_says_how_large_code_may_be(folder: Path) -> None:
    deployment = Deployment()
    deployment.settings["SLIPWAY_CODE_MIB"] = "1"
    (folder / "weights.bin").write_bytes(os.urandom(2 << 20))

    with pytest.raises(Failure, match=r"packs to more than 1 MiB.*weights\.bin \(2\.0 MiB\)"):
        await run(deployment, folder, OPTIONS, detach=True)


async def test_a_chosen_key_makes_one_job_of_two_runs(folder: Path) -> None:
    deployment = Deployment()

    async with deployment.serving() as url:
        for _ in range(2):
            await AsyncClient(url).run(folder, idempotency_key="mine")
    await run(deployment, folder, Options(Choices(arguments=["{lr}"]), sweep={"lr": [1]}, once="other"))

    assert [*deployment.messages] == ["mine", "other"]


async def test_a_dry_run_saves_nothing(folder: Path) -> None:
    with pytest.raises(Failure, match="--save writes files, and --dry-run does not; leave out one of them"):
        await run(Deployment(), folder, Options(Choices(), keep=True), dry=True)

    assert not await asyncio.to_thread((folder / "job.json").exists)


async def test_a_sweep_is_sent_as_one_and_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    deployment = Deployment()
    options = Options(Choices(arguments=("--lr", "{lr}")), sweep={"lr": [0.1, 0.3]}, parallel=2)

    assert await run(deployment, folder, options) == 0

    assert deployment.calls[-1] == "POST /api/sweeps"
    assert deployment.message["sweep"] == {"lr": [0.1, 0.3]}
    assert "s_" in capsys.readouterr().out
