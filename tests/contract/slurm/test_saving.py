"""A job on a real Slurm saves, however Slurm and the nodes tell it that it ends."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from local.patience import Patience
from local.slurm import Options, Partition, Slurm, slurm
from shared.core.engine import Order
from shared.core.job import JobState, Reason
from shared.engines.slurm.engine import SlurmEngine
from tests.contract.slurm.on_slurm import PATIENCE, ended, engine, order
from tests.saving import SAVE, WAYS

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def own(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Slurm]:
    partitions = (Partition(name="warm", nodes=2, elastic=False),)
    async with slurm(Options(data=tmp_path_factory.mktemp("slurm"), partitions=partitions)) as running:
        yield running


def saving(folder: Path, way: str = "below a shell", seconds: float = 4) -> str:
    (folder / "save.py").write_text(SAVE)
    return WAYS[way].format(save=f"{sys.executable} {folder}/save.py {folder} {seconds}")


def on_two_nodes(folder: Path) -> Order:
    """A job whose every rank saves."""
    ranks = [folder / name for name in "01"]
    for rank in ranks:
        rank.mkdir()
    script = folder / "train.sh"
    script.write_text(saving(folder).replace(f" {folder} ", f" {folder}/$AZ_BATCHAI_TASK_INDEX "))
    block = {"pythonScriptFilePath": str(script), "pythonInterpreterPath": "sh"}
    return order("", nodeCount=2, customToolkitSettings=None, caffe2Settings=block)


async def until_written(on_slurm: SlurmEngine, job_order: Order, *paths: Path) -> None:
    """Wait for files of a job, which passes release."""
    patience = Patience(PATIENCE)
    while absent := [path for path in paths if not path.exists()]:
        await on_slurm.status(job_order.target.cluster, [job_order.target])
        assert not patience.is_over(absent), absent
        await asyncio.sleep(0.1)


#: Slurm without cgroups, as here, finds children by their parents, and not one that has lost its own.
_VISIBLE = [way for way in WAYS if way != "forked twice"]


@pytest.mark.parametrize("way", _VISIBLE)
async def test_a_job_that_is_cancelled_saves_and_is_asked_once(own: Slurm, tmp_path: Path, way: str) -> None:
    async with engine(own) as on_slurm:
        job_order = order(saving(tmp_path, way))
        await on_slurm.submit(job_order)
        await until_written(on_slurm, job_order, tmp_path / "began")
        await on_slurm.cancel(job_order.target)
        observation = await ended(on_slurm, job_order.target)
        await until_written(on_slurm, job_order, tmp_path / "saved")

    assert (observation.state, observation.reason) == (JobState.CANCELLED, Reason.TERMINATED)
    assert (tmp_path / "asked").read_text() == "x"


@pytest.mark.parametrize("limit", ["", "PT10S"])
async def test_every_node_of_a_job_saves(own: Slurm, tmp_path: Path, limit: str) -> None:
    ranks = [tmp_path / name for name in "01"]
    async with engine(own) as on_slurm:
        job_order = on_two_nodes(tmp_path)
        if limit:
            job_order.document["properties"]["constraints"] = {"maxWallClockTime": limit}
        await on_slurm.submit(job_order)
        await until_written(on_slurm, job_order, *(rank / "began" for rank in ranks))
        if not limit:
            await on_slurm.cancel(job_order.target)
        observation = await ended(on_slurm, job_order.target)
        await until_written(on_slurm, job_order, *(rank / "saved" for rank in ranks))

    assert observation.reason is (Reason.TIMEOUT if limit else Reason.TERMINATED)
    assert [(rank / "asked").read_text() for rank in ranks] == ["x", "x"]
