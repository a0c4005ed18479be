"""Many documents under one key: each costs the same, duplicates of each join it, and one of them runs."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from shared.core.job import Job, JobState
from shared.core.refusals import KeyTaken
from shared.intake.accept import Accepted
from shared.intake.candidate import Candidate, Place, key_of
from shared.intake.desk.draft import draft_of
from shared.intake.drops.drop import look_at_folder
from shared.intake.first_record import first_record
from shared.intake.generations import key_holder, last_of
from shared.intake.message import Request, read_request
from shared.intake.request_door import request_arrived, request_explained, sweep_requested
from tests.breadth import size
from tests.doubles.memory import MemoryLedger
from tests.unit.lifecycle.test_requests import Counted
from tests.unit.world import World, job_json

KEY = key_of("http:", "k")


@pytest.fixture
async def table(world: World) -> Counted:
    counted = Counted(world)
    world.ledger = MemoryLedger(world.clock, table=counted)
    world.use(ledger=world.ledger)
    await world.ledger.active(0)
    return counted


def request_of(world: World, **properties: Any) -> Request:
    return read_request(json.dumps(job_json(**properties)).encode(), world.ports.policy.limits)


async def post(world: World, **properties: Any) -> Accepted:
    request = request_of(world, **properties)
    return await request_arrived(world.ports, request, door="http", source="http:", key="k")


async def bad(world: World, number: int) -> Job:
    """A document that cannot run, unlike that of any other number."""
    return (await post(world, nodeCount=-number)).job


async def explained(world: World, **properties: Any) -> dict[str, Any]:
    request = request_of(world, **properties)
    return await request_explained(world.ports, request, source="http:", key="k")


async def test_the_last_of_many_rejected_documents_costs_as_much_as_the_third(
    world: World, table: Counted
) -> None:
    costs = []
    for number in range(1, size(300, 40)):
        table.requests.clear()
        assert (await bad(world, number)).state is JobState.REJECTED
        costs.append(table.requests.total())
    table.requests.clear()
    assert (await post(world)).created
    costs.append(table.requests.total())

    assert max(costs[2:]) == costs[2] <= 20, costs


async def test_duplicates_of_every_document_join_it_before_and_after_one_of_them_runs(world: World) -> None:
    first = [await bad(world, number) for number in (1, 2, 3)]
    assert len({job.id for job in first}) == 3
    assert [(await bad(world, number)).id for number in (1, 2, 3)] == [job.id for job in first]

    job = (await post(world)).job

    assert (job.state, job.key, job.generation) == (JobState.QUEUED, KEY, 2)
    assert not (await post(world)).created
    assert [(await bad(world, number)).id for number in (1, 2, 3)] == [job.id for job in first]
    with pytest.raises(KeyTaken, match=job.id):
        await bad(world, 4)
    with pytest.raises(KeyTaken, match=job.id):
        await post(world, nodeCount=2)
    assert len(world.engine.started) == 1
    assert len(world.ledger.jobs) == 4


async def test_a_rejected_document_stays_rejected_when_it_comes_again_after_it_became_possible(
    world: World,
) -> None:
    numbers = (200, 201)
    rejected = [(await post(world, nodeCount=number)).job for number in numbers]
    limits = world.ports.policy.limits
    world.policy(limits=type(limits)(max_nodes=1000))

    again = [(await post(world, nodeCount=number)).job for number in numbers]

    assert [job.id for job in again] == [job.id for job in rejected]
    assert {job.state for job in again} == {JobState.REJECTED}
    assert world.engine.started == []


async def test_a_document_that_ran_is_joined_when_it_comes_again_after_it_became_impossible(
    world: World,
) -> None:
    await bad(world, 1)
    job = (await post(world, nodeCount=50)).job
    world.policy(limits=type(world.ports.policy.limits)(max_nodes=10))

    assert (await post(world, nodeCount=50)).job.id == job.id
    assert len(world.ledger.jobs) == 2


async def test_what_is_explained_is_what_happens_at_every_step(world: World) -> None:
    for number in (1, 2, 2, 3):
        foreseen = await explained(world, nodeCount=-number)
        assert foreseen["job"]["id"] == (await bad(world, number)).id
    for verdict in ("runs", "duplicate"):
        foreseen = await explained(world)
        assert (foreseen["verdict"], foreseen["job"]["id"]) == (verdict, (await post(world)).job.id)
    assert (await explained(world, nodeCount=2))["verdict"] == "refused"
    assert (await explained(world, nodeCount=-2))["verdict"] == "duplicate"


async def test_a_sweep_takes_a_key_whose_documents_were_all_rejected(world: World, table: Counted) -> None:
    for number in range(1, 20):
        await bad(world, number)
    message = {"spec": job_json(), "sweep": {"lr": [0.1]}}
    request = read_request(json.dumps(message).encode(), world.ports.policy.limits)
    table.requests.clear()

    sweep = await sweep_requested(world.ports, request, door="http", source="http:", key="k")

    assert sweep.created
    assert table.requests.total() <= 20
    with pytest.raises(KeyTaken, match="sweep"):
        await post(world)


async def rejection(world: World, generation: int) -> Job:
    """As an earlier version kept it, one generation after the other."""
    request = request_of(world, nodeCount=-generation)
    candidate = Candidate("http", "http:", "k", request)
    return first_record(world.ports, await draft_of(world.ports, candidate), Place(KEY, generation))


@pytest.mark.parametrize("count", [0, 1, 2, 3, 4, 7, 8, 9, 33])
async def test_the_last_generation_of_a_key_is_found_in_few_steps(
    world: World, table: Counted, count: int
) -> None:
    for generation in range(1, count + 1):
        await world.ledger.create(await rejection(world, generation), None, None)
    table.requests.clear()

    last = await last_of(world.ports.ledger, Place(KEY, 1))

    assert (last.stored is not None, last.place.generation) == (count > 0, count)
    assert table.requests.total() <= 4 * (2 + count.bit_length())
    assert (await key_holder(world.ports, KEY)).place == Place(KEY, count + 1)
    accepted = await post(world)
    assert (accepted.created, accepted.job.generation) == (True, count + 1)


async def test_a_drop_that_ran_often_is_found_in_few_steps_without_its_note(
    world: World, table: Counted
) -> None:
    costs = []
    for _ in range(size(40, 12)):
        world.drops.upload("digits/job.json", json.dumps(job_json()).encode())
        world.pass_time(60)
        for path in await world.ledger.drop_memos():
            await world.ledger.forget(path)
        table.requests.clear()
        (accepted,) = (await look_at_folder(world.ports, "digits/")).accepted
        costs.append(table.requests.total())
        world.engine.set_state(world.engine.started[-1], JobState.SUCCEEDED)
        await world.make_pass()

    assert accepted.job.generation == len(costs) == len(world.engine.started)
    assert all(cost <= 8 * (2 + math.log2(number)) for number, cost in enumerate(costs, 1)), costs
