"""Jobs of many nodes: their reports fill many pieces of one file, and a pass reads a bounded part of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

import pytest

from shared.core.facts import ClusterFacts
from shared.core.job import Job, JobState
from shared.lifecycle.idle.reap import MOST_LOOKS
from shared.lifecycle.idle.spans import idle_spans
from shared.lifecycle.idle.use import use_of
from tests.unit.lifecycle.idle.idle_world import IdleWorld
from tests.unit.world import CLUSTER, Engines, job_json

HOUR = 3600
#: Eight GPUs fill a line of about 300 bytes, and so many nodes a piece of the file in about 18 minutes.
NODES, GPUS = 24, 8


def reports(seconds: range, works: dict[int, int]) -> Iterator[bytes]:
    """The lines of all nodes; `works`: until which second a node works."""
    for second in seconds:
        for rank in range(NODES):
            percent = 90 if second < works.get(rank, 0) else 0
            gpus = {
                name: one
                for gpu in range(GPUS)
                for name, one in ((f"gpu{gpu}_percent", percent), (f"gpu{gpu}_memory_mib", 1024))
            }
            yield json.dumps({"rank": rank, "time": second, **gpus}).encode() + b"\n"


async def large(world: IdleWorld, works: dict[int, int], *, hours: int = 2) -> Job:
    """A job of many nodes after some hours; `works`: for how many seconds a node worked."""
    cluster = replace(CLUSTER, facts=ClusterFacts(gpus=GPUS))
    world.use(engines=Engines(world.engine, {"dev": cluster}))
    job = await world.running(spec=job_json(nodeCount=NODES))
    begin = int(world.now.timestamp())
    world.pass_time(hours * HOUR)
    since = {rank: begin + seconds for rank, seconds in works.items()}
    lines = list(reports(range(begin, int(world.now.timestamp()) + 1, 15), since))
    world.engine.output["usage.jsonl"] = b"".join(lines)
    world.engine.modified["usage.jsonl"] = world.now
    return job


@pytest.mark.long
async def test_many_nodes_are_judged_by_reads_that_grow_with_them() -> None:
    world = IdleWorld()
    job = await large(world, {7: 1800})
    world.engine.queries.clear()

    span = (await idle_spans(world.ports, job))["gpus"]

    assert span.until == world.now
    assert span.seconds >= 5400  # as long as matters: the limit, and the time after the warning
    assert world.engine.times("files") == 1
    assert 4 < world.engine.times("read") <= 8


@pytest.mark.long
async def test_pieces_that_cut_lines_say_the_same_as_the_whole_file() -> None:
    world = IdleWorld()
    job = await large(world, {7: 4000, 23: 5000})

    span = (await idle_spans(world.ports, job))["gpus"]

    assert span == use_of(world.engine.output["usage.jsonl"]).idle_gpus(NODES, NODES * GPUS)
    assert span.seconds == pytest.approx(2 * HOUR - 5000, abs=15)


@pytest.mark.long
async def test_a_longer_limit_reads_further_back() -> None:
    world = IdleWorld()
    job = await large(world, {})
    world.policy(idle_gpus=2 * HOUR - 60.0)

    span = (await idle_spans(world.ports, job))["gpus"]

    assert span.seconds >= 2 * HOUR - 60


async def test_a_job_that_works_costs_one_read() -> None:
    world = IdleWorld()
    job = await large(world, dict.fromkeys(range(NODES), 2 * HOUR))
    world.engine.queries.clear()

    assert (await idle_spans(world.ports, job))["gpus"].seconds <= 15

    assert world.engine.times("read") == 1


async def test_what_a_job_writes_instead_of_reports_is_read_to_a_bound() -> None:
    world = IdleWorld()
    job = await large(world, {}, hours=1)
    world.engine.output["usage.jsonl"] = b"{" * (4 << 20)
    world.engine.queries.clear()

    assert await idle_spans(world.ports, job) == {}

    assert 4 < world.engine.times("read") <= 8


@pytest.mark.long
async def test_a_pass_costs_a_list_and_a_read_for_each_of_a_bounded_number_of_jobs() -> None:
    world = IdleWorld()
    for number in range(MOST_LOOKS + 6):
        await world.message({"spec": job_json()}, f"m{number}")
    for name in list(world.engine.jobs):
        world.engine.set_state(name, JobState.RUNNING)
    await world.make_pass(1)
    world.policy(idle_gpus=600.0)
    for second in range(15, 601, 15):
        world.report(world.now + timedelta(seconds=second))
    world.pass_time(601)
    world.engine.queries.clear()

    await world.make_pass(0)
    assert (world.engine.times("files"), world.engine.times("read")) == (MOST_LOOKS, MOST_LOOKS)
    await world.make_pass(0)
    assert (world.engine.times("files"), world.engine.times("read")) == (MOST_LOOKS + 6, MOST_LOOKS + 6)
    await world.make_pass(0)
    assert (world.engine.times("files"), world.engine.times("read")) == (MOST_LOOKS + 6, MOST_LOOKS + 6)
