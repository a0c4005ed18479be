"""Answers of Azure Batch in a form that cannot be read: no job ends by them, and no other is hidden."""

from __future__ import annotations

from typing import Any

import pytest

from shared.core.errors import Busy, Transient
from shared.core.job import JobState
from tests.unit.engines.batch.service import Service, engine, order
from tests.unit.engines.batch.test_attempts import NOON, TASKS


@pytest.mark.parametrize(
    "part",
    [
        {"executionInfo": "ended"},
        {"executionInfo": []},
        {"executionInfo": None},
        {"executionInfo": {"failureInfo": 3}},
        {"executionInfo": {"exitCode": "1", "result": "failure"}},
        {"executionInfo": {"exitCode": 1.0, "result": "failure"}},
        {"executionInfo": {"startTime": 5, "failureInfo": {"code": "x"}}},
        {"state": ["completed"]},
        {"multiInstanceSettings": "three"},
        {"multiInstanceSettings": {"numberOfInstances": "three"}},
        {"multiInstanceSettings": {"numberOfInstances": -3}},
    ],
    ids=str,
)
async def test_a_task_in_a_form_that_cannot_be_read_has_not_ended_and_hides_no_other(
    part: Any, caplog: pytest.LogCaptureFixture
) -> None:
    service, other = Service(), order("other-abc-1")
    async with engine(service, NOON, scales=False) as batch:
        await batch.submit(order())
        await batch.submit(other)
        service.end("digits-abc-1", exitCode=0)
        service.task("digits-abc-1").update(part)

        observations = await batch.status("gpu", [order().target, other.target])

        assert {name: one.state for name, one in observations.items()} == {"other-abc-1": JobState.QUEUED}
        assert "the task digits-abc-1 in a form that cannot be read" in caplog.text
        with pytest.raises(Busy, match="the task digits-abc-1 in a form that cannot be read"):
            await batch.see(order().target)
        await batch.cancel(order().target)
        await batch.forget("gpu", [order().target])


async def test_an_entry_of_a_list_that_is_no_object_fails_the_sweep() -> None:
    service = Service(fail={f"GET {TASKS}": (200, {"value": ["digits-abc-1"]})})
    async with engine(service, NOON, scales=False) as batch:
        with pytest.raises(Transient, match="a list that cannot be read"):
            await batch.status("gpu", [order().target])
