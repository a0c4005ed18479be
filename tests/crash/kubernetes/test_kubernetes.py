"""The Kubernetes engine in the harness: with faults of wire, nodes and our processes, nothing runs twice."""

from __future__ import annotations

import random

import pytest

from tests.breadth import pairs, size
from tests.crash.chaos import Fault
from tests.crash.harness import Run
from tests.crash.kubernetes.run import play
from tests.crash.kubernetes.wire import Wire
from tests.crash.single_fault import case_name, check_cut, check_processes, check_wire
from tests.crash.stories import BROKEN, CANCELLED, HOOK, REQUEUED, STORIES, Story, message
from tests.unit.world import job_json


def _gang(run: Run) -> None:
    run.messages.append(message({"spec": job_json(nodeCount=3), "notify": [HOOK]}, "m1"))


GANG = Story("a job on several nodes", _gang)
#: The harness can make a job fail or requeue only with the engine in memory.
_STORIES = (*(story for story in STORIES if story not in (BROKEN, REQUEUED)), GANG)


@pytest.mark.parametrize("story", _STORIES, ids=lambda story: story.name)
async def test_without_faults_the_story_ends_well(story: Story) -> None:
    run = await play(story)
    assert run.violations == []


@pytest.mark.parametrize(("fault", "lives"), pairs([None, *Wire], (0, 1, 40)), ids=case_name)
async def test_an_attempt_whose_node_is_lost_is_followed_by_one_or_answers_for_it(
    fault: Wire | None, lives: int
) -> None:
    await check_cut(play, fault, 23, (0, 1, 40).index(lives), loses=True, lives=lives)


@pytest.mark.parametrize(("fault", "lives"), pairs(list(Wire), (0, 40)), ids=case_name)
async def test_the_ranks_beside_a_lost_node_end_before_the_next_attempt_begins(
    fault: Wire, lives: int
) -> None:
    await check_wire(play, GANG, fault, (0, 40).index(lives), loses=True, lives=lives)


@pytest.mark.parametrize(("story", "fault"), pairs(_STORIES, Wire), ids=lambda one: one.name)
async def test_any_single_fault_of_the_wire_is_survived(story: Story, fault: Wire) -> None:
    await check_wire(play, story, fault, _STORIES.index(story))


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
        story = dice.choice(_STORIES)
        loses = story.started == 1 and dice.random() < 0.5
        model = {"loses": loses, "lives": dice.choice([0, 2, 40])}
        run = await play(story, plan, wire, wake_after=dice.randint(1, 8), **model)
        assert run.violations == [], f"seed {seed}, {story.name}"
