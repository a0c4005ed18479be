"""Where a task of Azure Batch is, on the emulator: coordinates alone, and why no command goes there."""

from __future__ import annotations

from pathlib import Path

import pytest

from shared.core.errors import NotFound
from shared.engines.batch.attempts import BY_HAND
from tests.contract.azurebatch.on_batch import account, engine_on
from tests.contract.azurebatch.test_gangs import ended, order, runs, until


async def test_each_node_of_a_task_is_named_while_it_runs(tmp_path: Path) -> None:
    go = tmp_path / "go"
    async with account(tmp_path / "batch") as running:
        batch = await engine_on(running, enter=True)
        command = f"until [ -e {go} ]; do sleep 0.1; done"
        job = order({"customToolkitSettings": {"commandLine": command}}, 2)
        await batch.submit(job)
        await until(batch, job.target, runs)

        places = [await batch.entrance(job.target, job.document, rank) for rank in range(2)]
        go.touch()
        await until(batch, job.target, ended)
        with pytest.raises(NotFound):
            await batch.entrance(job.target, job.document, 2)
        await batch.close()

    assert [place.tool for place in places] == ["task", "task"]
    assert {place.reason for place in places} == {BY_HAND}
    assert len({place.place["node"] for place in places}) == 2
    assert {place.place["task"] for place in places} == {job.target.name}
    assert {str(place.place["directory"]).rpartition("/")[2] for place in places} == {job.target.name}
