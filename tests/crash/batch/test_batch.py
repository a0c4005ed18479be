"""The Batch engine in the harness: with faults of wire, nodes and our processes, nothing runs twice."""

from __future__ import annotations

import random
from itertools import product

import pytest

from tests.breadth import pairs, size
from tests.crash.batch.nodes import Cut
from tests.crash.batch.run import play
from tests.crash.batch.wire import Wire
from tests.crash.chaos import Fault
from tests.crash.harness import Run
from tests.crash.single_fault import case_name, check_cut, check_processes, check_wire
from tests.crash.stories import BROKEN, CANCELLED, HOOK, REQUEUED, STORIES, Story, message
from tests.unit.world import job_json


def _gang(run: Run) -> None:
    """A job on three nodes loses one of them."""
    run.preempts = True
    run.messages.append(message({"spec": job_json(nodeCount=3), "notify": [HOOK]}, "m1"))


GANG = Story("a job on several nodes that loses one", _gang)
#: The harness can make a job fail or requeue only with the engine in memory.
STORIES_ON_BATCH = (*(story for story in STORIES if story not in (BROKEN, REQUEUED)), GANG)
#: The rounds without a pool: before, during and after the first job's run.
ABSENCES = [range(at, at + 3) for at in (1, 2, 3, 4)]


@pytest.mark.parametrize("story", STORIES_ON_BATCH, ids=lambda story: story.name)
async def test_without_faults_the_story_ends_well(story: Story) -> None:
    run = await play(story)
    assert run.violations == []


@pytest.mark.parametrize("absence", ABSENCES, ids=str)
@pytest.mark.parametrize("story", [STORIES[0], GANG], ids=lambda story: story.name)
async def test_a_pool_that_is_deleted_and_comes_back_costs_no_attempt(story: Story, absence: range) -> None:
    run = await play(story, absence=absence)
    assert run.violations == []
    (job,) = run.jobs()
    assert job.attempt == 1


async def test_a_node_of_several_that_is_taken_away_costs_no_attempt() -> None:
    run = await play(GANG)
    (job,) = run.jobs()
    assert (job.attempt, run.wire.model.began) == (1, [job.target.name] * 2 if job.target else [])


@pytest.mark.parametrize(
    ("fault", "end"),
    pairs([None, *Wire], product(Cut, (0, 1, 40))),
    ids=case_name,
)
async def test_an_attempt_that_is_cut_off_and_lives_on_is_followed_by_one_or_answers_for_it(
    fault: Wire | None, end: tuple[Cut, int]
) -> None:
    cut, lives = end
    row = (0, 1, 40).index(lives) + 3 * list(Cut).index(cut)
    await check_cut(play, fault, 23, row, cut=cut, lives=lives)


@pytest.mark.parametrize(("story", "fault"), pairs(STORIES_ON_BATCH, Wire), ids=lambda one: one.name)
async def test_any_single_fault_of_the_wire_is_survived(story: Story, fault: Wire) -> None:
    await check_wire(play, story, fault, STORIES_ON_BATCH.index(story))


@pytest.mark.parametrize("fault", list(Fault), ids=lambda fault: fault.name)
async def test_any_single_fault_of_our_processes_around_the_engine_is_survived(fault: Fault) -> None:
    for row, story in enumerate((STORIES[0], STORIES[2], GANG, CANCELLED)):
        await check_processes(play, story, fault, row)


@pytest.mark.parametrize("block", range(0, size(60, 20), 20))
async def test_random_schedules_with_faults_on_all_sides_are_survived(block: int) -> None:
    for seed in range(block, block + size(20, 20, 8)):
        dice = random.Random(seed)
        wire = {n: dice.choice(list(Wire)) for n in dice.sample(range(1, 30), dice.randint(1, 5))}
        plan = {n: dice.choice(list(Fault)) for n in dice.sample(range(1, 60), dice.randint(0, 3))}
        story = dice.choice(STORIES_ON_BATCH)
        cut = dice.choice([None, None, *Cut]) if story.started == 1 else None
        model = {"cut": cut, "lives": dice.choice([0, 2, 40]), "absence": dice.choice([range(0), *ABSENCES])}
        run = await play(story, plan, wire, wake_after=dice.randint(1, 8), **model)
        assert run.violations == [], f"seed {seed}, {story.name}"
