"""Requests for a job sweep at the API: the same key, keys of jobs, and templates that cannot run."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from shared.core.errors import Misuse
from shared.core.facts import ClusterFacts
from shared.core.identity import job_id
from shared.core.job import Budget, JobState
from shared.core.job_sweeps.record import sweep_id
from shared.intake import accept as intake
from shared.intake.accept import Accepted
from shared.intake.candidate import key_of
from shared.intake.job_sweep import AcceptedSweep
from shared.intake.message import Request, read_request
from shared.intake.request_door import request_arrived, request_explained, sweep_requested
from shared.jobspec import JsonObject
from tests.breadth import size
from tests.unit.archived_code import archived
from tests.unit.lifecycle.job_sweeps.swept import sweep_message
from tests.unit.world import CLUSTER, World, job_json


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


async def test_a_repeated_request_joins_before_anything_is_looked_up_for_it(world: World) -> None:
    code = archived(world)
    await _post(world, code=code)
    before = [*world.snapshots.requests]

    again = await _post(world, code=code)

    assert not again.created
    assert world.snapshots.requests == before


async def test_the_key_of_a_sweep_is_taken_also_where_the_next_request_is_wrong(world: World) -> None:
    first = await _post(world)

    with pytest.raises(Misuse, match=first.accepted.id) as refused:
        await _post(world, spec=job_json(nodeCount=-1))

    assert refused.value.status == 422
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


@pytest.mark.parametrize("first", [_post, _post_job], ids=["sweep first", "job first"])
async def test_of_a_job_and_a_sweep_with_one_key_at_once_the_loser_gets_409(world: World, first: Any) -> None:
    second = _post_job if first is _post else _post

    answers = await asyncio.gather(first(world), second(world), return_exceptions=True)

    (error,) = [answer for answer in answers if isinstance(answer, BaseException)]
    assert isinstance(error, Misuse)
    assert error.status == 409
    assert "new key" in error.remedy
    jobs = {job.sweep is None for job in world.ledger.jobs}
    assert len(jobs) == 1, "jobs of the sweep and a job of its own"
    winner = _post_job if jobs == {True} else _post
    assert not (await winner(world)).created


async def test_a_sweep_that_was_not_recorded_after_its_claim_is_recorded_by_its_next_message(
    world: World,
) -> None:
    key = key_of("http:ann", "k")
    await world.ports.job_sweeps.claim(sweep_id(key), job_id(key, 1))

    with pytest.raises(Misuse, match=sweep_id(key)) as refused:
        await _post_job(world)
    foreseen = await explained(world, {"spec": job_json()})
    rejected = await _post(world, spec=job_json(nodeCount=-1))
    accepted = await _post(world)

    assert refused.value.status == 409
    assert foreseen["verdict"] == "refused"
    assert rejected.rejected is not None
    assert rejected.rejected.created
    assert (accepted.accepted.id, accepted.accepted.total) == (sweep_id(key), 4)


async def test_explain_says_that_the_key_belongs_to_the_other_kind(world: World) -> None:
    job, sweep = (await _post_job(world, key="job")).job, (await _post(world, key="sweep")).accepted

    of_sweep = await explained(world, sweep_message(), key="job")
    of_job = await explained(world, {"spec": job_json()}, key="sweep")

    assert (of_sweep["verdict"], of_job["verdict"]) == ("refused", "refused")
    assert job.id in of_sweep["summary"]
    assert sweep.id in of_job["summary"]


async def explained(world: World, document: dict[str, Any], key: str = "k") -> JsonObject:
    return await request_explained(world.ports, _request(world, document), source="http:ann", key=key)


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

    async def judge(*_: Any) -> None:
        raise AssertionError("a second judgement")

    monkeypatch.setattr(intake, "draft_of", judge)

    result = await _post(world, spec=job_json(nodeCount=-1))

    assert result.rejected is not None
    assert result.rejected.job.state is JobState.REJECTED


async def test_a_template_is_judged_by_what_its_cluster_says_now(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A directory is known that the cluster mounts beside those that an operator has named."""
    configured = replace(CLUSTER, facts=ClusterFacts(mounts=frozenset({"logs"})))
    monkeypatch.setattr(world.ports.engines, "clusters", {"dev": configured})
    spec = job_json(inputDirectories=[{"id": "A", "path": "$AZ_BATCHAI_MOUNT_ROOT/data/x"}])
    spec["properties"]["customToolkitSettings"]["commandLine"] = "echo {a}"

    before = await _post(world, "before", spec=spec, sweep={"a": [1, 2]})
    world.engine.own_facts = ClusterFacts(mounts=frozenset({"data"}))
    after = await _post(world, "after", spec=spec, sweep={"a": [1, 2]})

    assert before.rejected is not None
    assert [one["code"] for one in before.rejected.job.problems] == ["SW033"]
    assert after.accepted.total == 2


async def test_the_jobs_have_what_the_message_of_their_sweep_says(world: World) -> None:
    members: dict[str, Any] = {
        "experiment": "tuning",
        "labels": {"team": "a"},
        "retry": {"infrastructure": 1, "user": 2},
    }

    sweep = (await _post(world, **members)).accepted

    assert (sweep.experiment, sweep.labels, sweep.cluster) == ("tuning", {"team": "a"}, "dev")
    assert len(world.ledger.jobs) == 4
    for job in world.ledger.jobs:
        assert (job.experiment, job.labels, job.cluster) == (sweep.experiment, sweep.labels, sweep.cluster)
        assert job.retry == sweep.retry == Budget(infrastructure=1, user=2)


@pytest.mark.long
async def test_the_jobs_of_a_large_sweep_are_recorded_once_each(world: World) -> None:
    number = size(1_000, 250)
    result = await _post(world, sweep={"lr": {"range": [0, number]}, "seed": [1]}, parallel=3)
    again = await _post(world, sweep={"lr": {"range": [0, number]}, "seed": [1]}, parallel=3)

    assert result.accepted.recorded_jobs == again.accepted.recorded_jobs == number
    names = Counter(job.name for job in world.ledger.jobs)
    assert len(names) == number
    assert {"tune-000", f"tune-{number - 1}"} <= names.keys()
