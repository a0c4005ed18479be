"""The list of states alone: an entry that cannot be read hides no other."""

from __future__ import annotations

from typing import Any, cast

import pytest

from shared.engines.slurm.cluster import SlurmCluster
from shared.engines.slurm.jobs import SlurmJobs
from shared.engines.slurm.wire.answer import Answer
from shared.engines.slurm.wire.client import SlurmClient

RUNNING = {"job_id": "7", "state": ["RUNNING"]}


class Client:
    """One answer to every call."""

    def __init__(self, body: Any) -> None:
        self._body = body

    async def call(self, method: str, path: str) -> Answer:
        return Answer(200, self._body)


@pytest.mark.parametrize(
    "entry",
    ["8", None, [], {}, {"job_id": None}, {"job_id": [8]}, {"job_id": "eight", "state": ["FAILED"]}],
    ids=str,
)
async def test_an_entry_that_cannot_be_read_hides_no_other(entry: Any) -> None:
    client = cast(SlurmClient, Client({"jobs": [entry, RUNNING]}))

    states = await SlurmJobs(cast(SlurmCluster, None), client).states()

    assert states == {7: frozenset({"RUNNING"})}


@pytest.mark.parametrize("jobs", [None, "x", 5, {"7": RUNNING}])
async def test_no_list_has_no_states(jobs: Any) -> None:
    client = cast(SlurmClient, Client({"jobs": jobs}))

    assert await SlurmJobs(cast(SlurmCluster, None), client).states() == {}
