"""Images with little in them: one command on one node needs a POSIX shell, all else Python and bash."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from local.patience import Patience
from shared.core.job import JobState, Reason
from tests.contract.kubernetes.on_kubernetes import Running, engine_on
from tests.contract.kubernetes.orders import is_over, order, until
from tests.doubles.archives import FOLDER, packed
from tests.doubles.code_storage import code_storage
from tests.slow.engines.kubernetes.in_shell import image


@pytest.mark.parametrize("code", [0, 3])
async def test_a_command_runs_in_an_image_without_python_and_bash(
    where: Running, tmp_path: Path, code: int
) -> None:
    engine = engine_on(where, path=str(image(tmp_path / "bin", "dash")))
    one = order(f'command -v python3 bash; echo "$WORD"; echo err >&2; exit {code}')
    one.document["properties"]["secrets"] = [{"name": "WORD", "value": "$canary"}]

    await engine.submit(one)
    end = await until(engine, one.target, is_over)
    texts = [
        (await engine.read(one.target, "stdouterr", name, 0, 100)).data
        for name in ("stdout.txt", "stderr.txt")
    ]
    await engine.close()

    assert (end.state, end.exit_code) == (JobState.FAILED if code else JobState.SUCCEEDED, code)
    assert texts == [b"$canary\n", b"err\n"]


async def test_the_code_of_a_job_reaches_an_image_without_python_and_bash(
    where: Running, tmp_path: Path
) -> None:
    engine = engine_on(where, path=str(image(tmp_path / "bin", "dash")))
    with code_storage() as storage:
        one = replace(order("./run.sh; cat .hidden latest.csv"), code=storage.source(packed(*FOLDER)))
        await engine.submit(one)
        end = await until(engine, one.target, is_over)
    printed = await engine.read(one.target, "stdouterr", "stdout.txt", 0, 100)
    await engine.close()

    assert (end.state, printed.data) == (JobState.SUCCEEDED, b"ran\ndot\n1,2\n"), end
    assert not any("canary" in str(pod) for pod in where.server.store.all("pods"))
    assert where.server.store.all("secrets") == [], "that with the address goes with the others"


@pytest.mark.parametrize("nodes", [1, 2])
async def test_a_job_that_needs_python_says_so_where_there_is_none(
    where: Running, tmp_path: Path, nodes: int
) -> None:
    engine = engine_on(where, path=str(image(tmp_path / "bin", "dash")))
    toolkit: dict[str, Any] = {"customToolkitSettings": None, "customMpiSettings": {"commandLine": "true"}}
    one = order("true", nodes=nodes, **(toolkit if nodes == 1 else {}))

    await engine.submit(one)
    end = await until(engine, one.target, is_over)
    await engine.close()

    assert (end.state, end.reason) == (JobState.FAILED, Reason.UNSUPPORTED)
    assert "There is no python3 in the image: jobs on several nodes, and toolkits, need" in end.message


async def test_what_attempts_left_is_removed_without_python(where: Running, tmp_path: Path) -> None:
    engine = engine_on(where, path=str(image(tmp_path / "bin", "dash")))
    one = order("true")
    await engine.submit(one)
    await until(engine, one.target, is_over)
    attempts = where.shared / "attempts"
    assert list(attempts.rglob("claim.json"))

    patience = Patience(60)
    while await engine.forget(one.target.cluster, [one.target]):
        assert not patience.is_over(None)
        await asyncio.sleep(0.05)
    await engine.close()

    assert not list(attempts.rglob("claim.json"))
