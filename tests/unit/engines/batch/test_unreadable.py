"""Answers of Azure Batch in a form that cannot be read: no job ends by them, and its cluster says so."""

from __future__ import annotations

from typing import Any

import pytest

from shared.core.errors import Transient
from tests.unit.engines.batch.service import Service, engine, order
from tests.unit.engines.batch.test_attempts import NOON, TASKS


@pytest.mark.parametrize(
    "part",
    [
        {"executionInfo": "ended"},
        {"executionInfo": []},
        {"executionInfo": {"failureInfo": 3}},
        {"multiInstanceSettings": "three"},
        {"multiInstanceSettings": {"numberOfInstances": "three"}},
    ],
    ids=str,
)
async def test_a_task_in_a_form_that_cannot_be_read_has_not_ended_and_its_cluster_says_so(part: Any) -> None:
    service = Service()
    async with engine(service, NOON, scales=False) as batch:
        await batch.submit(order())
        service.end("digits-abc-1", exitCode=0)
        service.task("digits-abc-1").update(part)
        for act in (batch.status("gpu", [order().target]), batch.see(order().target)):
            with pytest.raises(Transient, match="the task digits-abc-1 in a form that cannot be read"):
                await act


async def test_an_entry_of_a_list_that_is_no_object_fails_the_sweep() -> None:
    service = Service(fail={f"GET {TASKS}": (200, {"value": ["digits-abc-1"]})})
    async with engine(service, NOON, scales=False) as batch:
        with pytest.raises(Transient, match="a list that cannot be read"):
            await batch.status("gpu", [order().target])
