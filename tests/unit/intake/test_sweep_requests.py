"""Requests for a job sweep at the API: the same key, keys of jobs, and templates that cannot run."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from shared.core.errors import Misuse
from shared.core.job import JobState
from shared.intake import accept as intake
from shared.intake.accept import Accepted
from shared.intake.job_sweep import AcceptedSweep
from shared.intake.message import Request, read_request
from shared.intake.request_door import request_arrived, sweep_requested
from tests.unit.lifecycle.job_sweeps.swept import sweep_message
from tests.unit.world import World, job_json


def _request(world: World, document: dict[str, Any]) -> Request:
    return read_request(json.dumps(document).encode(), world.ports.policy.limits)


async def _post(world: World, key: str = "k", **members: Any) -> AcceptedSweep:
    request = _request(world, sweep_message(**members))
    return await sweep_requested(world.ports, request, door="http", source="http:ann", key=key)


async def _post_job(world: World, key: str = "k") -> Accepted:
    request = _request(world, {"spec": job_json()})
    return await request_arrived(world.ports, request, door="http", source="http:ann", key=key)


async def test_the_same_key_joins_and_another_payload_is_422(world: World) -> None:
    first = await _post(world)
    again = await _post(world)

    assert (first.created, again.created) == (True, False)
    assert again.accepted.id == first.accepted.id
    for changed in ({"parallel": 1}, {"name": "other"}, {"sweep": {"lr": [0.1], "seed": [0]}}):
        with pytest.raises(Misuse) as refused:
            await _post(world, **changed)
        assert refused.value.status == 422
        assert first.accepted.id in str(refused.value)
    assert len(world.ledger.jobs) == 4


async def test_the_key_of_a_job_is_no_key_of_a_sweep(world: World) -> None:
    job = (await _post_job(world)).job

    with pytest.raises(Misuse, match=job.id) as refused:
        await _post(world)

    assert refused.value.status == 422
    assert len(world.ledger.jobs) == 1


async def test_the_key_of_a_sweep_is_no_key_of_a_job(world: World) -> None:
    sweep = (await _post(world)).accepted

    with pytest.raises(Misuse, match=sweep.id) as refused:
        await _post_job(world)

    assert refused.value.status == 422
    assert len(world.ledger.jobs) == 4


async def test_the_key_of_a_rejected_job_is_free_and_of_its_successor_is_not(world: World) -> None:
    bad = job_json(nodeCount=-1)
    rejected = await _post(world, spec=bad)
    assert rejected.rejected is not None
    with pytest.raises(ValueError, match="rejected"):
        _ = rejected.accepted

    assert (await _post(world)).created
    assert (await _post(world, key="other", spec=bad)).rejected is not None
    await _post_job(world, key="other")
    with pytest.raises(Misuse) as refused:
        await _post(world, key="other")
    assert refused.value.status == 422


async def test_a_command_that_is_too_long_with_a_value_in_the_middle_rejects_all(world: World) -> None:
    spec = job_json(customToolkitSettings={"commandLine": "{a}" * 400})

    result = await _post(world, spec=spec, sweep={"a": ["x", "y" * 100, "z"]})

    assert result.rejected is not None
    assert Counter(job.state for job in world.ledger.jobs) == {JobState.REJECTED: 1}


async def test_a_template_that_is_found_wrong_is_not_judged_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is known of the cluster may change meanwhile, and the job of one combination would run."""

    def judge(*_: Any) -> None:
        raise AssertionError("a second judgement")

    monkeypatch.setattr(intake, "draft_of", judge)

    result = await _post(world, spec=job_json(nodeCount=-1))

    assert result.rejected is not None
    assert result.rejected.job.state is JobState.REJECTED


async def test_a_thousand_jobs_are_recorded_once_each(world: World) -> None:
    result = await _post(world, sweep={"lr": {"range": [0, 1000]}, "seed": [1]}, parallel=3)
    again = await _post(world, sweep={"lr": {"range": [0, 1000]}, "seed": [1]}, parallel=3)

    assert result.accepted.recorded_jobs == again.accepted.recorded_jobs == 1000
    names = Counter(job.name for job in world.ledger.jobs)
    assert len(names) == 1000
    assert {"tune-000", "tune-999"} <= names.keys()
