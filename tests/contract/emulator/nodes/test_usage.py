"""How busy the emulator's nodes are, beside what their jobs print."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from local.batchai.launch.layout import USAGE
from local.nodes.journal import Journal
from local.nodes.machine import Machine
from local.nodes.usage import FILE, sampled
from local.patience import Patience
from tests.contract.emulator.conftest import Lab, autoscale, custom


async def test_each_node_of_a_job_has_samples_of_its_own(lab: Lab) -> None:
    await lab.make_cluster(autoscale(2))
    asks = [{"name": "SLIPWAY_USAGE", "value": "1"}]
    await lab.submit("job", **custom("true"), nodeCount=2, environmentVariables=asks)
    await lab.ends("job")

    first, second = map(json.loads, (await lab.read("job", FILE, USAGE)).splitlines()[:2])

    assert (first["rank"], second["rank"]) == (0, 1)
    assert first["memory_mib"] == second["memory_mib"] > 0
    assert first["time"] == second["time"]


async def once(directory: Path, *machines: Machine) -> list[dict[str, Any]]:
    """The first samples of these machines."""
    patience = Patience(30)
    async with sampled(directory, machines):
        while not (directory / FILE).exists() or not (directory / FILE).read_text().endswith("\n"):
            assert not patience.is_over(0)
            await asyncio.sleep(0.01)
    return [json.loads(line) for line in (directory / FILE).read_text().splitlines()]


async def test_gpus_are_numbered_as_the_jobs_of_their_machine_number_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "nvidia-smi"
    program.write_text(
        '#!/bin/sh\necho "0, 1, 2"\necho "1, 35, 1024"\necho "2, [N/A], 5"\necho "Failed: x, y, z"\n'
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    (tmp_path / "out").mkdir()

    result = await once(tmp_path / "out", Machine("a", 1, (1, 2)), Machine("b", 2, (7,)))

    gpus = [{name: value for name, value in one.items() if name.startswith("gpu")} for one in result]
    assert gpus == [{"gpu0_percent": 35, "gpu0_memory_mib": 1024, "gpu1_memory_mib": 5}, {}]


async def test_samples_that_cannot_be_written_are_no_trouble(tmp_path: Path) -> None:
    elsewhere, linked = tmp_path / "elsewhere", tmp_path / "out"
    elsewhere.mkdir()
    linked.symlink_to(elsewhere)  # a job may have put it there
    for directory in (Path("/proc"), tmp_path / "gone", linked):
        async with sampled(directory, [Machine("a", 1)]):
            await asyncio.sleep(0.1)
    assert list(elsewhere.iterdir()) == []


@pytest.mark.parametrize("put", [os.mkfifo, os.mkdir, lambda at: at.symlink_to("other")])
async def test_what_a_job_put_in_the_place_of_a_file_is_neither_followed_nor_waited_for(
    tmp_path: Path, put: Callable[[Path], None]
) -> None:
    for name in (FILE, "execution.log"):
        put(tmp_path / name)

    async with sampled(tmp_path, [Machine("a", 1)]):
        await asyncio.sleep(0.1)
    with pytest.raises(OSError, match=r"execution\.log"):
        Journal("execution.log", lambda: datetime.now(UTC)).open(tmp_path)

    assert not (tmp_path / "other").exists()
